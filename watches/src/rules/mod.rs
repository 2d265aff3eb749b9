//! Rules of watches. The module is pure: no state, clock, network or task.

pub(crate) mod conditions;
pub(crate) mod reading;
pub(crate) mod retries;
pub(crate) mod signature;
