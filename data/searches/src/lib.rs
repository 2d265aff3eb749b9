//! Counts the words that shoppers search for, by day: `searches/{day}/{uuid}.json`, one object per server and day.
//!
//! Input: searches by words alone with their results, and clicks on results, passed to a [`SearchLog`]. Output: counts
//! of words by day and server ([`load`]), and the top words of several days ([`top`]). The lake's committer moves the
//! counts of days that are over into the lake: it lists and reads the objects, and removes them after the commit.
//!
//! The crate gets no callers or addresses. Words that a server saw fewer than three times in a day stay in memory and
//! are never stored. Counting never waits and never fails its caller. The numbers of words and days are limited.

mod config;
mod counts;
mod log;
mod store;
mod top;

pub use config::{KEPT_DAYS, SearchesConfig};
pub use counts::{CountedDays, SEEN_MIN, SearchNote, WordCount, first_day, first_open_day};
pub use log::SearchLog;
pub use store::{CountsFile, SearchesError, ServerCounts, list, load, read, remove};
pub use top::{TopOrder, TopWords, top};
