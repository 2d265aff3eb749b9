use std::borrow::Cow;

use data_model::{ProductId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductProvenance, ShippingTierSummary};

/// Parameters of `GET /v1/shipping`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShippingParameters {
    /// Product to ship: `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub product: String,
    /// Indian pincode of the destination.
    #[param(pattern = "^[1-9][0-9]{5}$", example = "560001")]
    pub pincode: String,
}

/// Shipping of a product to a pincode. Unknown facts are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Shipping<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub product_id: ProductId,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Pincode in the request.
    pub pincode: Cow<'a, str>,
    /// Currency of the amounts (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Minimum order value for free shipping, in minor units.
    #[schema(required = true)]
    pub free_shipping_threshold_minor: Option<i64>,
    /// True if cash on delivery is available.
    #[schema(required = true)]
    pub cod_available: Option<bool>,
    /// Shipping rates in the store's order; empty if unknown.
    pub tiers: Vec<ShippingTierSummary<'a>>,
    /// Rate of an order of only this product; null if unknown or if several rates apply.
    #[schema(required = true)]
    pub tier: Option<ShippingTierSummary<'a>>,
    /// Minimum order values for free shipping, including those limited to a region or a payment method.
    pub free_shipping: Vec<FreeShipping<'a>>,
    /// Cash on delivery for an order of only this product.
    pub cod: CashOnDelivery,
    /// URL of the first text of the shipping terms. Sentences in `evidence` have separate URLs.
    #[schema(required = true, format = "uri")]
    pub source_url: Option<Cow<'a, str>>,
    /// Time at which the shipping terms were read (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub observed_at: Option<Timestamp>,
    /// Sentences from which the facts were read.
    pub evidence: Vec<ShippingEvidence<'a>>,
    /// Facts that the text does not state, with the reasons.
    pub unknown: Vec<ShippingUnknown<'a>>,
    /// Delivery to the pincode.
    pub delivery: Delivery<'a>,
    /// Source of each fact.
    pub sources: ShippingSources<'a>,
}

/// Shipping of any product of a brand to a pincode. Unknown facts and facts that depend on the product are null.
#[derive(Debug, Clone, PartialEq)]
pub struct BrandShipping<'a> {
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Currency of the free-shipping threshold (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Minimum order value for free shipping, in minor units.
    pub free_shipping_threshold_minor: Option<i64>,
    /// Delivery to the pincode.
    pub delivery: Delivery<'a>,
}

/// Sources of the facts; null for unknown facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSources<'a> {
    /// Source of `delivery.serviceable`.
    #[schema(required = true)]
    pub serviceable: Option<ShippingSource<'a>>,
    /// Source of `delivery.days_min` and `delivery.days_max`.
    #[schema(required = true)]
    pub days: Option<ShippingSource<'a>>,
    /// Source of `delivery.cost_minor`.
    #[schema(required = true)]
    pub cost: Option<ShippingSource<'a>>,
    /// Source of `free_shipping_threshold_minor`.
    #[schema(required = true)]
    pub free_shipping_threshold: Option<ShippingSource<'a>>,
    /// Source of `cod_available`.
    #[schema(required = true)]
    pub cod: Option<ShippingSource<'a>>,
}

/// Source of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSource<'a> {
    /// Basis: `pincode`, `zone`, `policy`, or `model` for the store's text as interpreted by a language model.
    pub basis: Cow<'a, str>,
    /// `high`: the store answered for this pincode, or gave the same answer for other pincodes of the area. `low`:
    /// derived from similar areas, or only from a text. `least`: extracted from the text by a language model.
    pub confidence: Cow<'a, str>,
    /// Time at which the store was asked or its text was read (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub at: Option<Timestamp>,
}

/// Known facts about the delivery of a product to the requested pincode. If the store does not deliver there, all other
/// facts are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardDelivery {
    /// Minimum number of days until delivery.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery.
    #[schema(required = true)]
    pub days_max: Option<u16>,
    /// True if the store delivers to the pincode.
    #[schema(required = true)]
    pub serviceable: Option<bool>,
    /// True if cash on delivery is available.
    #[schema(required = true)]
    pub cod: Option<bool>,
    /// True if an order of only this product ships free; null if unknown or if it depends on the variant.
    #[schema(required = true)]
    pub free_shipping: Option<bool>,
}

/// Minimum order value for free shipping, with the region and payment method to which it applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FreeShipping<'a> {
    /// Minimum order value; 0 means that every order ships free.
    #[schema(required = true)]
    pub threshold_minor: Option<i64>,
    /// Region: `metro`, `rest`, `remote`, `abroad` or `place`; null for the whole country.
    #[schema(required = true)]
    pub region: Option<Cow<'a, str>>,
    /// Payment method: `prepaid` or `cod`; null for any.
    #[schema(required = true)]
    pub payment: Option<Cow<'a, str>>,
}

/// Cash on delivery according to the store's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CashOnDelivery {
    /// True if an order of only this product can be paid on delivery.
    #[schema(required = true)]
    pub available: Option<bool>,
    /// Fee for cash on delivery, in addition to shipping.
    #[schema(required = true)]
    pub fee_minor: Option<i64>,
    /// Minimum order value for cash on delivery.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Maximum order value for cash on delivery.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// Advance payment in percent of the order value.
    #[schema(required = true)]
    pub advance_percent: Option<u16>,
    /// Amount of the advance payment.
    #[schema(required = true)]
    pub advance_minor: Option<i64>,
}

/// Sentence of a store's text that states a shipping fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingEvidence<'a> {
    /// Name of the fact: `free_shipping`, `fee`, `cod`, `cod_fee`, `cod_advance`, `dispatch`, `delivery`, `cut_off` or
    /// `working_days`.
    pub fact: Cow<'a, str>,
    /// Sentence in the store's own words.
    pub sentence: Cow<'a, str>,
    /// URL of the page with the sentence: the shipping terms or another page of the store.
    #[schema(required = true, format = "uri")]
    pub source_url: Option<Cow<'a, str>>,
    /// Reader of the fact: `rules`, or a language `model` if the sentence contains its figures.
    pub basis: Cow<'a, str>,
}

/// Shipping fact that a store's text does not state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingUnknown<'a> {
    /// Name of the fact, as in `fact` of the evidence.
    pub fact: Cow<'a, str>,
    /// Reason: `not_stated`, `template`, `contradiction`, `told_elsewhere` or `other_currency`.
    pub reason: Cow<'a, str>,
}

/// Known facts about delivery to a pincode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delivery<'a> {
    /// True if the store delivers to the pincode.
    #[schema(required = true)]
    pub serviceable: Option<bool>,
    /// Minimum number of calendar days from today until delivery. Working days in the store's text are counted by its
    /// calendar; days of a rate at the store are taken as it states them.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery, counted like `days_min`.
    #[schema(required = true)]
    pub days_max: Option<u16>,
    /// Delivery price of an order of only this product; null if unknown or if it depends on the variant.
    #[schema(required = true)]
    pub cost_minor: Option<i64>,
    /// Earliest delivery date, such as `2026-11-24`: today in the market's time zone plus `days_min`.
    #[schema(required = true, format = Date)]
    pub earliest_date: Option<Cow<'a, str>>,
    /// Latest delivery date: today in the market's time zone plus `days_max`.
    #[schema(required = true, format = Date)]
    pub latest_date: Option<Cow<'a, str>>,
    /// IANA name of the market's time zone, in which the dates are.
    pub time_zone: Cow<'a, str>,
    /// Time zone in which the store is assumed to handle orders: its country's if the country has only one, otherwise
    /// the market's.
    pub store_time_zone: Cow<'a, str>,
    /// Delivery zone of the pincode.
    #[schema(required = true)]
    pub zone: Option<Cow<'a, str>>,
    /// Time at which the store was asked (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub sampled_at: Option<Timestamp>,
    /// Basis of the days: `pincode`, `zone`, `policy`, `model` or `unknown`.
    pub basis: Cow<'a, str>,
    /// `high`: the store answered for this pincode, or gave the same answer for other pincodes of the area. `low`: the
    /// store answered for similar areas. Null if the store was not queried.
    #[schema(required = true)]
    pub confidence: Option<Cow<'a, str>>,
    /// Delivery rates of the store for this pincode, in the brand's currency; empty if unknown.
    pub rates: Vec<DeliveryRateSummary<'a>>,
}

/// Delivery rate of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryRateSummary<'a> {
    /// Name of the rate at the store.
    pub name: Cow<'a, str>,
    /// Delivery price, in minor units.
    pub amount_minor: i64,
    /// Smallest order value for which the rate was seen.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Largest order value for which the rate was seen.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// Minimum number of days until delivery, as the store counts them.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery, as the store counts them.
    #[schema(required = true)]
    pub days_max: Option<u16>,
}

/// Answer with the shipping of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingAnswer<'a> {
    /// Shipping terms and delivery.
    pub data: Shipping<'a>,
    /// Sources of the estimate.
    pub provenance: ProductProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
