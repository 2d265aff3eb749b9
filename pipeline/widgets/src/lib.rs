//! Parses the responses that review apps send to their own widgets.
//!
//! Input: the HTML of a store's page, and the bytes of a review app's responses. Output: the store's app with its
//! public key, the next request, and reviews and ratings with plain texts. Data that cannot be parsed is returned with
//! a reason. This crate does no I/O, reads no clock, uses only public keys and does not guess: an impossible rating is
//! refused, and a value that an app does not state is `None`.
//!
//! All four apps publish the reviews of a whole shop as one list, newest first ([`WidgetKey::feed`]). Reviews are read
//! from this list. Each app also publishes a rating summary per product ([`WidgetKey::product`]).

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
