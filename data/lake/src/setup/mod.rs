//! A lake is made, and opened.

mod create;
pub(crate) mod facts;
pub(crate) mod layout;
mod open;
