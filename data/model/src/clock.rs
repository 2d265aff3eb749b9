use crate::Timestamp;

/// The only source of time in these crates. Programs pass the system clock, and tests pass a clock that they set.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}
