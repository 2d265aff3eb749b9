//! Whole backfills, from stores that are values over what a crawl landed of them to the lake, through the public door.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod backfills;
mod killed;
mod support;
