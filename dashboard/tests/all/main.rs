//! Tests of the dashboard through its HTTP routes, and in Chromium if that is installed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it skips, and is told by the environment where it runs"
)]

mod browser;
mod config;
mod databases;
mod faults;
mod guests;
mod keys;
mod link;
mod mail;
mod page;
#[cfg(feature = "oidc")]
mod provider;
#[cfg(feature = "oidc")]
mod real_provider;
mod sessions;
#[cfg(feature = "oidc")]
mod sign_in;
#[cfg(feature = "mail")]
mod smtp;
#[cfg(feature = "mail")]
mod starttls;
mod support;
mod usage;
