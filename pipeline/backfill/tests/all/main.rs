//! Tests whole backfills through the public API, from the landed crawls of in-memory stores to the lake.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod backfills;
mod killed;
mod support;
