use crate::Timestamp;

/// Tells the time; the only way in which the crates learn it.
///
/// Programs pass the system's clock, tests one that they set.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
}
