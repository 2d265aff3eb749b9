//! Creates and opens lakes.

mod create;
pub(crate) mod facts;
pub(crate) mod layout;
mod open;
