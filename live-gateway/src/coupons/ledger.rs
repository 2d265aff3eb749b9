use std::fmt;

use async_trait::async_trait;
use data_model::{StoreHost, TestedCode};

/// Stores the test results of codes that anyone could guess, so that products can show them.
#[async_trait]
pub trait TestLedger: Send + Sync + fmt::Debug {
    /// Stores the results of tests at one store. Results that cannot be stored are dropped, counted and logged.
    /// Implementations must return quickly.
    async fn keep(&self, store: &StoreHost, tests: Vec<TestedCode>);
}
