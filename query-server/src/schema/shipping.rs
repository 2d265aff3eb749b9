use std::borrow::Cow;

use data_model::{ProductId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductProvenance, ShippingTierSummary};

/// Parameters of `GET /v1/shipping`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShippingParameters {
    /// The product: `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub product: String,
    /// Indian postal index number.
    #[param(pattern = "^[1-9][0-9]{5}$", example = "560001")]
    pub pincode: String,
}

/// Shipping of a product to a pincode. Unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Shipping<'a> {
    /// UUID.
    #[schema(value_type = String, format = "uuid")]
    pub product_id: ProductId,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// The pincode that was asked for.
    pub pincode: Cow<'a, str>,
    /// ISO 4217: the currency of the amounts.
    pub currency: Cow<'a, str>,
    /// Order value from which shipping is free.
    #[schema(required = true)]
    pub free_shipping_threshold_minor: Option<i64>,
    /// Cash on delivery.
    #[schema(required = true)]
    pub cod_available: Option<bool>,
    /// Rates, in the store's order; empty where none is known.
    pub tiers: Vec<ShippingTierSummary<'a>>,
    /// The rate of an order of this product alone; null where none is known, or more than one holds.
    #[schema(required = true)]
    pub tier: Option<ShippingTierSummary<'a>>,
    /// The order values from which shipping is free, also where it is so in some region or for some payment alone.
    pub free_shipping: Vec<FreeShipping<'a>>,
    /// Cash on delivery, for an order of this product alone.
    pub cod: CashOnDelivery,
    /// The address of the first text of the terms; each sentence of `evidence` tells its own.
    #[schema(required = true, format = "uri")]
    pub source_url: Option<Cow<'a, str>>,
    /// When it was read, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub observed_at: Option<Timestamp>,
    /// The sentences that the facts were read from.
    pub evidence: Vec<ShippingEvidence<'a>>,
    /// The facts that the text does not tell, and the reasons.
    pub unknown: Vec<ShippingUnknown<'a>>,
    /// Delivery to the pincode.
    pub delivery: Delivery<'a>,
    /// The source of each of the facts.
    pub sources: ShippingSources<'a>,
}

/// The shipping of whatever a brand sells to a pincode. Unknown is null, and so is what depends on the product.
#[derive(Debug, Clone, PartialEq)]
pub struct BrandShipping<'a> {
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// ISO 4217: the currency of the threshold.
    pub currency: Cow<'a, str>,
    /// Order value from which shipping is free.
    pub free_shipping_threshold_minor: Option<i64>,
    /// Delivery to the pincode.
    pub delivery: Delivery<'a>,
}

/// The sources of the facts; null for facts that are not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSources<'a> {
    /// Of `delivery.serviceable`.
    #[schema(required = true)]
    pub serviceable: Option<ShippingSource<'a>>,
    /// Of `delivery.days_min` and `delivery.days_max`.
    #[schema(required = true)]
    pub days: Option<ShippingSource<'a>>,
    /// Of `delivery.cost_minor`.
    #[schema(required = true)]
    pub cost: Option<ShippingSource<'a>>,
    /// Of `free_shipping_threshold_minor`.
    #[schema(required = true)]
    pub free_shipping_threshold: Option<ShippingSource<'a>>,
    /// Of `cod_available`.
    #[schema(required = true)]
    pub cod: Option<ShippingSource<'a>>,
}

/// The source of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSource<'a> {
    /// `pincode`, `zone`, `policy`, or `model`: the store's text as a language model reads it.
    pub basis: Cow<'a, str>,
    /// `high`: the store answered for this pincode, or alike for others of its area; `low`: it follows from areas like it, or
    /// from a text alone; `least`: a language model read it in the text.
    pub confidence: Cow<'a, str>,
    /// When the store was asked, or its text read, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub at: Option<Timestamp>,
}

/// Delivery of a product to the pincode that was asked for, as far as it is known. Where the store does not deliver there, the
/// rest is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardDelivery {
    /// Fewest days.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Most days.
    #[schema(required = true)]
    pub days_max: Option<u16>,
    /// True where the store delivers there.
    #[schema(required = true)]
    pub serviceable: Option<bool>,
    /// Cash on delivery.
    #[schema(required = true)]
    pub cod: Option<bool>,
    /// True where an order of this product alone is sent free of charge; null too where that depends on the variant.
    #[schema(required = true)]
    pub free_shipping: Option<bool>,
}

/// The order value from which shipping is free, and the places where it is so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FreeShipping<'a> {
    /// Order value; 0 for every order.
    #[schema(required = true)]
    pub threshold_minor: Option<i64>,
    /// `metro`, `rest`, `remote`, `abroad` or `place`; null for all of the country.
    #[schema(required = true)]
    pub region: Option<Cow<'a, str>>,
    /// `prepaid` or `cod`; null for any payment.
    #[schema(required = true)]
    pub payment: Option<Cow<'a, str>>,
}

/// Cash on delivery, as far as a store's text tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CashOnDelivery {
    /// True where an order of this product alone can be paid so.
    #[schema(required = true)]
    pub available: Option<bool>,
    /// Its fee, beside shipping.
    #[schema(required = true)]
    pub fee_minor: Option<i64>,
    /// Order value from which it is offered.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Order value up to which it is offered.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// The part that is paid in advance, in percent of the order's value.
    #[schema(required = true)]
    pub advance_percent: Option<u16>,
    /// The amount that is paid in advance.
    #[schema(required = true)]
    pub advance_minor: Option<i64>,
}

/// A sentence of a store's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingEvidence<'a> {
    /// The name of the fact: `free_shipping`, `fee`, `cod`, `cod_fee`, `cod_advance`, `dispatch`, `delivery`, `cut_off`
    /// or `working_days`.
    pub fact: Cow<'a, str>,
    /// The sentence, in the store's words.
    pub sentence: Cow<'a, str>,
    /// The address of the sentence: that of the terms, or of another page of the store.
    #[schema(required = true, format = "uri")]
    pub source_url: Option<Cow<'a, str>>,
    /// The reader of the fact: `rules`, or a language `model` whose figures the sentence has.
    pub basis: Cow<'a, str>,
}

/// Something that a store's text does not tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingUnknown<'a> {
    /// The name of the fact.
    pub fact: Cow<'a, str>,
    /// `not_stated`, `template`, `contradiction`, `told_elsewhere` or `other_currency`.
    pub reason: Cow<'a, str>,
}

/// Delivery to a pincode, as far as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delivery<'a> {
    /// True where the store delivers there.
    #[schema(required = true)]
    pub serviceable: Option<bool>,
    /// Fewest days.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Most days.
    #[schema(required = true)]
    pub days_max: Option<u16>,
    /// The price of delivering an order of this product alone; null too where that depends on the variant.
    #[schema(required = true)]
    pub cost_minor: Option<i64>,
    /// Today in the market's time zone and the fewest days, `2026-11-24`.
    #[schema(required = true, format = Date)]
    pub earliest_date: Option<Cow<'a, str>>,
    /// Today in the market's time zone and the most days.
    #[schema(required = true, format = Date)]
    pub latest_date: Option<Cow<'a, str>>,
    /// The IANA name of the market's time zone, whose calendar the dates are of.
    pub time_zone: Cow<'a, str>,
    /// The zone by whose clock the store is taken to handle orders: its country's, where that has one time; else the market's.
    pub store_time_zone: Cow<'a, str>,
    /// Delivery zone.
    #[schema(required = true)]
    pub zone: Option<Cow<'a, str>>,
    /// When the store was asked, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub sampled_at: Option<Timestamp>,
    /// The basis of the days: `pincode`, `zone`, `policy`, `model` or `unknown`.
    pub basis: Cow<'a, str>,
    /// `high`: the store answered for this pincode, or alike for others of its area; `low`: it answered for areas like
    /// it; null where it was not asked.
    #[schema(required = true)]
    pub confidence: Option<Cow<'a, str>>,
    /// The store's rates for delivery there, in the brand's currency; empty where they are not known.
    pub rates: Vec<DeliveryRateSummary<'a>>,
}

/// A store's rate for delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryRateSummary<'a> {
    /// The store's name for it.
    pub name: Cow<'a, str>,
    /// The price of the delivery.
    pub amount_minor: i64,
    /// Smallest order that it was seen for.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Largest order that it was seen for.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// Fewest days to delivery.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Most days to delivery.
    #[schema(required = true)]
    pub days_max: Option<u16>,
}

/// Shipping of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingAnswer<'a> {
    /// Terms and delivery.
    pub data: Shipping<'a>,
    /// The sources of the estimate.
    pub provenance: ProductProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
