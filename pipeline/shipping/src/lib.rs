//! Reads the shipping terms of stores and commits them to the lake.
//!
//! Input: registered brands, a [`storefront::Storefront`] and the lake. Output: the terms of each store, committed
//! separately from crawls, and a report. A store is queried for its policy by GraphQL. If threshold, days or cash on
//! delivery are still unknown, its front page, the pages linked from there and a product page are read, as far as
//! `robots.txt` allows. Reading one store takes at most six requests, within the store's rate limit. Each fact has the
//! URL of the page that states it.
//!
//! A language model ([`TermsModel`]), if configured, may propose facts when the rules find no threshold, fee, days or
//! cash on delivery. `pipeline-policies` keeps the proposals that the quoted sentence confirms. An unchanged text is
//! not parsed again.
//!
//! A store's response is landed, so that its terms can be reread when the rules change ([`reread_shipping`]).
//!
//! If a store cannot be queried, its known terms stay unchanged. Each store is recorded as queried separately, so that
//! an interrupted run continues with the other stores.

mod ask;
mod landing;
mod links;
mod model;
mod propose;
mod refresh;
mod reread;
mod state;
mod terms;

pub use model::{ShippingConfig, TermsModel};
pub use refresh::{BrandShipping, ShippingOptions, ShippingReport, refresh_shipping};
pub use reread::{RereadBrand, RereadShipping, RereadTotals, reread_shipping};
