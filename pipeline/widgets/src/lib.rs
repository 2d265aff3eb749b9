//! Answers of review apps to their own widgets.
//!
//! In: the HTML of a store's page, and bytes that a review app answered. Out: which app the store uses and under which
//! public key, what to ask next, and reviews and ratings with plain texts; what cannot be understood comes with a reason.
//! It never does I/O, never reads a clock, never uses a key that is not public, and never guesses: a rating that is no
//! number of stars is refused, what an app does not say is `None`.
//!
//! All four apps publish the reviews of a whole shop as one list, newest first ([`WidgetKey::feed`]), which is how
//! reviews are read; and what they say of all ratings of one product ([`WidgetKey::product`]).

mod answer;
mod ask;
mod detect;
mod judgeme;
mod okendo;
mod stamped;
mod value;
mod yotpo;

pub use answer::{AnswerError, FeedPage, FeedReview, Next, Overview, ProductRef, RejectedRecord, Summary};
pub use detect::{WidgetKey, detect};
