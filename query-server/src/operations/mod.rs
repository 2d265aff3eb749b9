//! Operations on a release, one per file, each with a typed request and a typed answer.
//!
//! Input: requests whose fields are already validated. Output: an [`Answer`] with an entity tag, whose JSON is a type
//! of [`schema`](crate::schema); or values of `data-model` for the gateway; or an [`OperationError`]. Routes and other
//! crates call the operations, which do not depend on HTTP.

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
