//! Watches through their public door: routes, judging, and receivers that are there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod deliveries;
mod judged;
mod mails;
mod making;
mod support;
