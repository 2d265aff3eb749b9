use std::fmt;

use data_model::Observation;

/// Receiver of stores' responses for the lake. Implementations must not block, because a buyer waits for the response.
pub trait Observe: Send + Sync + fmt::Debug {
    /// Receives one product as its store returned it.
    fn observe(&self, observation: Observation);
}

/// Discards all observations.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotObserved;

impl Observe for NotObserved {
    fn observe(&self, _observation: Observation) {}
}
