//! Reviews of emulated apps: what the lake holds beside what is true, what it costs, and what goes wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod again;
mod apps;
mod exact;
mod hostile;
mod odd;
mod ratings;
mod support;
