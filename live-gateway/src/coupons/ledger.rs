use std::fmt;

use async_trait::async_trait;
use data_model::{StoreHost, TestedCode};

/// Keeps what stores said of codes that anybody may come upon, so that products tell of them.
#[async_trait]
pub trait TestLedger: Send + Sync + fmt::Debug {
    /// Keeps tests at one store. What cannot be kept is lost, counted and logged; it is never waited for longer than a moment.
    async fn keep(&self, store: &StoreHost, tests: Vec<TestedCode>);
}
