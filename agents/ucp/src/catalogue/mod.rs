//! Search, lookup and product details in the protocol's format.

mod detail;
mod filter;
mod lookup;
mod product;
mod search;

pub(crate) use self::detail::get_product;
pub(crate) use self::lookup::lookup;
pub(crate) use self::search::search;
