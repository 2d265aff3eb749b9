//! Counts the words that shoppers search for, by day: `searches/{day}/{uuid}.json`, one object per server and day.
//!
//! Input: searches by words only with their results, passed to a [`SearchLog`]. Output: counts of words by day over all
//! servers ([`load`]), and the top words of several days ([`top`]).
//!
//! The crate does not know callers or addresses. Words that a server saw fewer than three times in a day stay in memory
//! and are never stored. Counting never waits and never fails its caller. The numbers of words and days are limited.

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
