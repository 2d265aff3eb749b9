//! Tests with emulated review apps: the lake compared with the true reviews, the cost in requests, and failures.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod again;
mod apps;
mod exact;
mod hostile;
mod odd;
mod ratings;
mod support;
