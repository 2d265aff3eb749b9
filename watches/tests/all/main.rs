//! Tests of watches through their public API: routes, evaluation, and real receivers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod deliveries;
mod judged;
mod mails;
mod making;
mod support;
