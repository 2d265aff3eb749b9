use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, Pincode, Timestamp, VariantId};

crate::named! {
    /// Confidence in a statement about delivery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Confidence {
        /// A language model read the statement in the store's text.
        Least = "least",
        /// The store gave the same answer for other places, among them some of the nearest.
        Low = "low",
        /// The store gave the answer for exactly this place.
        High = "high",
    }
}

impl FromStr for Confidence {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::named(text).ok_or(())
    }
}

/// A delivery method and its price, from the store's terms or as quoted by its cart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeliveryRate {
    /// The store's name for the delivery method.
    pub name: String,
    /// Cost of delivery, in minor units of the enclosing record's currency.
    pub amount_minor: i64,
    /// Smallest order value for which the rate was stated or observed. `None` for any order value.
    pub min_order_minor: Option<i64>,
    /// Largest order value for which the rate was stated or observed.
    pub max_order_minor: Option<i64>,
    /// Minimum number of days to delivery, if the store's text states it.
    pub days_min: Option<u16>,
    /// Maximum number of days to delivery, if the store's text states it.
    pub days_max: Option<u16>,
}

/// One query to a store about the cost of delivering a cart to a pincode, with the store's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryProbe {
    /// Destination of the delivery.
    pub pincode: Pincode,
    /// Variant in the cart.
    pub variant: VariantId,
    /// Quantity of the variant.
    pub quantity: u32,
    /// Cost of the goods, in minor units of `currency`.
    pub goods_minor: i64,
    /// Weight of the goods in grams, if the store states it.
    pub grams: Option<i64>,
    /// Currency of the cart.
    pub currency: CurrencyCode,
    /// Delivery methods that the store offered. Empty if the store does not deliver to the pincode or gives no answer.
    pub options: Vec<DeliveryRate>,
    /// Time of the query.
    pub asked_at: Timestamp,
}

/// Areas for which a store's responses show the same delivery terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryZone {
    /// Name of the zone, numbered per store. `z1` is the zone with the most pincodes.
    pub zone: String,
    /// Confidence in the zone for these areas. A zone has one row for each level of confidence.
    pub confidence: Confidence,
    /// Areas of the zone, by their names in the pincode directory, such as `KARNATAKA/MYSURU/rest`.
    pub areas: Vec<String>,
    /// `true` if the store delivers to the zone, as certain as `confidence`. `None` if the store's responses do not
    /// show it.
    pub serviceable: Option<bool>,
    /// Minimum number of days to delivery by the cheapest rate.
    pub days_min: Option<u16>,
    /// Maximum number of days to delivery by the cheapest rate.
    pub days_max: Option<u16>,
    /// Currency of the rates.
    pub currency: CurrencyCode,
    /// Delivery rates by destination and order value. Empty if unknown.
    pub rates: Vec<DeliveryRate>,
    /// Number of store responses from which the zone was derived.
    pub probes: u32,
    /// Time of the oldest response from which the zone was derived.
    pub sampled_at: Timestamp,
}

/// A store's answer about delivery to a pincode and its duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverySample {
    /// Pincode that was queried.
    pub pincode: Pincode,
    /// `true` if the store delivers to the pincode. `None` if the store did not answer that.
    pub serviceable: Option<bool>,
    /// Delivery zone, if the store named one.
    pub zone: Option<String>,
    /// Minimum number of days to delivery.
    pub days_min: Option<u16>,
    /// Maximum number of days to delivery.
    pub days_max: Option<u16>,
    /// Time of the query.
    pub sampled_at: Timestamp,
}

/// All known facts about a store's delivery.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KnownDelivery {
    /// Answers for single pincodes.
    pub samples: Vec<DeliverySample>,
    /// Delivery zones derived for areas.
    pub zones: Vec<DeliveryZone>,
    /// Store responses from which the samples and zones are derived, oldest first.
    pub probes: Vec<DeliveryProbe>,
}
