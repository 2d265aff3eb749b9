//! Shared domain types: identifiers, money, brands, products and the closed list of error codes.
//!
//! Input: text and numbers as stores state them. Output: values that are valid by construction. For example, a
//! [`Money`] always has a known currency, and a [`ProductId`] is derived only from its key. The crate does no I/O, does
//! not read the clock or the environment, and does not guess. Data that a store does not state is `None`.

mod brand;
mod clock;
mod coupon;
mod delivery;
mod delivery_days;
mod error;
mod gtin;
mod history;
mod ids;
mod kind;
mod money;
mod named;
mod observation;
mod product;
mod rates;
mod refresh;
mod release_id;
mod secret;
mod shipping;
mod shipping_coverage;
mod size;
mod store_json;
mod stored;
mod time_zone;
mod timestamp;
mod widget;

pub use brand::{Brand, BrandSlug, slugify};
pub use clock::Clock;
pub use coupon::{CouponEffect, CouponKind, CouponSource, CouponVerdict, TestedCode};
pub use delivery::{Confidence, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, KnownDelivery};
pub use delivery_days::delivery_days;
pub use error::{Classify, ErrorCode, Fault, Retry};
pub use gtin::{Gtin, StatedBarcode};
pub use history::{PriceEvent, PricePoint, PriceSource};
pub use ids::{
    CategoryId, IdError, Pincode, ProductId, ProductIdent, ProductKey, ProductUid, RunId, StoreHost, VariantId,
};
pub use kind::{Kind, Kinds};
pub use money::{CurrencyCode, Money, MoneyError};
pub use observation::{Observation, ObservedVariant};
pub use product::{
    Attribute, Media, MediaKind, OptionValue, PriceSummary, Product, ProductOption, Rating, Review, Variant,
};
pub use rates::{BAD_RATES_MAX, BadRate, Day, ExchangeRate, NotADay, RATES_MAX, read_rates};
pub use refresh::{BrandRefresh, Quarantined, ShippingPolicy};
pub use release_id::ReleaseId;
pub use secret::Secret;
pub use shipping::{
    DaySpan, FactBasis, PaymentKind, ShippingFact, ShippingFactKind, ShippingRegion, ShippingTerms, UnknownName,
    UnknownReason, UnknownTerm,
};
pub use shipping_coverage::{KnownShipping, ShippingCoverage};
pub use size::{NotASize, Size, SizeSystem};
pub use store_json::{mended, read_store_json};
pub use stored::{CodePlace, ResolvedProducts, StatedCode, StoredBrand, StoredProduct, StoredShop, StoredVariant};
pub use time_zone::{TimeZone, TimeZoneError};
pub use timestamp::{CLOCK_SKEW_MS, Timestamp, TimestampError};
pub use widget::{ReviewWidget, UnknownWidget, WidgetRating, WidgetReview};
