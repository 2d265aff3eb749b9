//! What a request asks for, read from its parameters; every fault becomes part of one 422.

pub(crate) mod brands;
pub(crate) mod browse;
mod cursor;
mod facets;
pub(crate) mod price_history;
pub(crate) mod product;
pub(crate) mod recommend;
pub(crate) mod reviews;
pub(crate) mod search;
pub(crate) mod shipping;
pub(crate) mod suggest;
