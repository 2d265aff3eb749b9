use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, Pincode, Timestamp, VariantId};

/// The trust that statements about delivery deserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A language model read it in the store's text.
    Least,
    /// The store answered for places that agree, and for some as near as can be.
    Low,
    /// The store answered for this very place.
    High,
}

impl Confidence {
    /// The name that tables and answers write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Confidence {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Least, Self::Low, Self::High]
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or(())
    }
}

/// A way of delivery and what a store asks for it: as its terms state it, or as its cart quoted it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeliveryRate {
    /// The store's name of it.
    pub name: String,
    /// Its cost, in minor units of the currency that stands beside it.
    pub amount_minor: i64,
    /// Smallest order that it is stated or was seen for; `None` where orders of any size are not told apart.
    pub min_order_minor: Option<i64>,
    /// Largest order that it is stated or was seen for.
    pub max_order_minor: Option<i64>,
    /// Fewest days to delivery, where its words state them.
    pub days_min: Option<u16>,
    /// Most days to delivery, where its words state them.
    pub days_max: Option<u16>,
}

/// One question to a store, what delivery of a cart to a pincode costs, with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryProbe {
    /// The destination.
    pub pincode: Pincode,
    /// The variant in the cart.
    pub variant: VariantId,
    /// The quantity of it.
    pub quantity: u32,
    /// The cost of the goods, in minor units of `currency`.
    pub goods_minor: i64,
    /// Their weight, where the store states it.
    pub grams: Option<i64>,
    /// The currency of the cart.
    pub currency: CurrencyCode,
    /// The ways of delivery that the store offered; none where it does not deliver, or does not say.
    pub options: Vec<DeliveryRate>,
    /// When it was asked.
    pub asked_at: Timestamp,
}

/// Areas to which a store delivers alike, as far as its answers show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryZone {
    /// The zone's name, the store's own numbering: `z1` is the zone of most pincodes.
    pub zone: String,
    /// The trust that it deserves for these areas. A zone has a row for either.
    pub confidence: Confidence,
    /// The areas, by the names that the directory of pincodes gives them: `KARNATAKA/MYSURU/rest`.
    pub areas: Vec<String>,
    /// `true` where it delivers there, as sure as `confidence` says; `None` where its answers do not show it.
    pub serviceable: Option<bool>,
    /// Fewest days to delivery by the cheapest rate.
    pub days_min: Option<u16>,
    /// Most days to delivery by the cheapest rate.
    pub days_max: Option<u16>,
    /// The currency of the rates.
    pub currency: CurrencyCode,
    /// The rates, where they follow from where an order goes and what it is worth; empty where they are not known.
    pub rates: Vec<DeliveryRate>,
    /// The number of answers that it was made of.
    pub probes: u32,
    /// The time of the oldest of them.
    pub sampled_at: Timestamp,
}

/// A store's answer to the question whether, and how fast, it delivers to a pincode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverySample {
    /// The pincode.
    pub pincode: Pincode,
    /// `true` where it delivers there; `None` when it did not say.
    pub serviceable: Option<bool>,
    /// The delivery zone, where it named one.
    pub zone: Option<String>,
    /// Fewest days to delivery.
    pub days_min: Option<u16>,
    /// Most days to delivery.
    pub days_max: Option<u16>,
    /// When it was asked.
    pub sampled_at: Timestamp,
}

/// All that is known of a store's delivery.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KnownDelivery {
    /// The answers for single pincodes.
    pub samples: Vec<DeliverySample>,
    /// The zones that follow for areas.
    pub zones: Vec<DeliveryZone>,
    /// The answers that both follow from, oldest first.
    pub probes: Vec<DeliveryProbe>,
}
