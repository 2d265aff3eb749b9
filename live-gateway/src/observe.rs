use std::fmt;

use data_model::Observation;

/// Takes what stores said, on its way to the lake. It never waits: an answer to a buyer must not.
pub trait Observe: Send + Sync + fmt::Debug {
    /// Takes one product as its store answered it.
    fn observe(&self, observation: Observation);
}

/// Lets what stores said be forgotten.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotObserved;

impl Observe for NotObserved {
    fn observe(&self, _observation: Observation) {}
}
