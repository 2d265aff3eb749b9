//! Tests of `POST /v1/discover` through its route, with a small catalogue and fake language model endpoints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod constraints;
#[path = "../../../../tests/kit/limit.rs"]
mod limit;
mod models;
mod requests;
mod support;
