//! Operations on a release: one a file, a typed request in, a typed answer out.
//!
//! In: requests whose fields cannot hold a wrong value; who makes one has checked it. Out: an [`Answer`] that is one of
//! [`schema`](crate::schema) as JSON and knows its entity tag, values of `data-model` for the gateway, or an
//! [`OperationError`]. Routes call these, and so does whatever else answers from a release. Nothing here knows of HTTP.

mod answer;
mod brand;
mod brand_names;
mod brand_products;
mod brands;
mod browse;
mod categories;
mod changes;
mod delivery;
mod lookup;
mod offers;
mod page;
mod price_history;
mod product;
mod recommend;
mod resolve;
mod reviews;
mod search;
mod shipping;
mod shop;
mod stats;
mod stored_brand;
mod suggest;

pub use ::search::{
    Day, DeliveryTo, FacetFilter, Filters, Fold, Limit, Mode, Order, ParsedName, PriceBounds, SearchLimit,
    SearchRequest, Text,
};

pub use self::answer::Answer;
pub(crate) use self::answer::{Conditional, Form, IfNoneMatch};
pub use self::brand::BrandRequest;
pub use self::brand_names::BrandName;
pub use self::brand_products::BrandProductsRequest;
pub use self::brands::BrandsRequest;
pub use self::browse::{BrowseOf, BrowseRequest};
pub(crate) use self::categories::categories;
pub use self::changes::ChangesRequest;
pub use self::lookup::LookupRequest;
pub use self::offers::OffersRequest;
pub(crate) use self::page::Page;
pub use self::price_history::PriceHistoryRequest;
pub use self::product::ProductRequest;
pub use self::recommend::RecommendRequest;
pub use self::resolve::IDENTS_MAX;
pub use self::reviews::ReviewsRequest;
pub use self::shipping::ShippingRequest;
pub use self::stored_brand::BrandKey;
pub use self::suggest::SuggestRequest;
pub use crate::error::OperationError;
pub use crate::render::product::Include;
