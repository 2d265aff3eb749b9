//! Reads what stores say of shipping, and brings it into the lake.
//!
//! In: registered brands, a [`storefront::Storefront`] and the lake. Out: the terms of each store, committed apart from
//! crawls, and a report. A store is asked for its policy by GraphQL. Where that leaves threshold, days or cash on delivery open,
//! its front page is read, the pages that this one leads to, and the page of a product, as far as its `robots.txt` allows:
//! six requests at most, each in the store's pace. Each fact bears the address where its sentence stands.
//!
//! A language model may propose facts of a policy or a page where the rules leave threshold, fee, days or cash on delivery open, if one is
//! configured ([`TermsModel`]): `pipeline-policies` keeps those that their sentence bears out. A text that stayed the same is not
//! read again.
//!
//! A store's answer is landed, so that its terms can be read again when the rules change ([`reread_shipping`]).
//!
//! It never takes silence for an answer: where a store cannot be asked, what is known of it stays. What was asked is noted
//! store by store, so that a run that is cut short goes on with the others.

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
