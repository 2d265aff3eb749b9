//! Protocol of messages, revisions and methods, without I/O and clock.

pub(crate) mod accept;
pub(crate) mod batch;
pub(crate) mod fault;
pub(crate) mod gate;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod version;

#[cfg(test)]
mod tests;
