use crate::Timestamp;

/// The source of time; the crates have no other.
///
/// Programs pass the system's clock, tests one that they set.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
}
