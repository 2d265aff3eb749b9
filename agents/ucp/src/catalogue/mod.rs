//! Search, lookup and a product's detail, in the protocol's words.

mod detail;
mod filter;
mod lookup;
mod product;
mod search;

pub(crate) use self::detail::get_product;
pub(crate) use self::lookup::lookup;
pub(crate) use self::search::search;
