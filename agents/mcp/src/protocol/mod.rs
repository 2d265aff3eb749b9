//! The protocol itself: what a message is, which revision it speaks, what it asks for. No I/O, no clock.

pub(crate) mod accept;
pub(crate) mod batch;
pub(crate) mod fault;
pub(crate) mod gate;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod version;

#[cfg(test)]
mod tests;
