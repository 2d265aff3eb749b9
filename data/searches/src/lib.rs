//! Words that shoppers search for, counted by day: `searches/{day}/{uuid}.json`, one object a server and day.
//!
//! In: searches by words alone, handed to a [`SearchLog`], and what they found. Out: counts of words by day
//! ([`load`]), those of all servers together, and the words of several days ([`top`]).
//!
//! It knows no caller and no address, and never keeps words that a server saw fewer than three times in a day: until then
//! they are in its memory alone. Noting never waits and never fails its caller; words and days are bounded.

mod config;
mod counts;
mod log;
mod store;
mod top;

pub use config::SearchesConfig;
pub use counts::{SEEN_MIN, SearchNote, WordCount};
pub use log::SearchLog;
pub use store::{SearchesError, load};
pub use top::{TopOrder, TopWords, top};
