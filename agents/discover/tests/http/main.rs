//! `POST /v1/discover` through its route, over a catalogue of a few products and endpoints that play language models.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod constraints;
#[path = "../../../../tests/kit/limit.rs"]
mod limit;
mod models;
mod requests;
mod support;
