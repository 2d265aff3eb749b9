//! Crawls in-memory stores through the crate's public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod codes;
mod crawl;
mod doubtful;
mod identity;
mod moving;
mod presented;
mod probe;
mod resumed;
mod room;
mod support;
