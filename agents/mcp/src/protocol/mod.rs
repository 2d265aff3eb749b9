//! The protocol: message formats, revisions and methods. No I/O and no clock.

pub(crate) mod accept;
pub(crate) mod batch;
pub(crate) mod fault;
pub(crate) mod gate;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod version;

#[cfg(test)]
mod tests;
