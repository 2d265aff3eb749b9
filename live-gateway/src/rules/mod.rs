//! Interprets stores' responses. The module is pure: no I/O, no clock, no environment.

pub(crate) mod carts;
pub(crate) mod identity;
pub(crate) mod js;
pub(crate) mod judge;
pub(crate) mod money;
pub(crate) mod nodes;
pub(crate) mod reason;
pub(crate) mod store_cart;
mod told;

pub(crate) use self::told::{ProductReply, Source, VariantReply};
