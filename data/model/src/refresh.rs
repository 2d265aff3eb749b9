use serde::{Deserialize, Serialize};

use crate::{Brand, CurrencyCode, DeliveryRate, Product, RunId, ShippingTerms, StoreHost, Timestamp};

/// One brand's whole catalogue as one crawl found it: what the lake takes in one piece. `P` is the form that its
/// products are in.
#[derive(Debug, Clone, PartialEq)]
pub struct BrandRefresh<P = Vec<Product>> {
    /// The brand, as its store presents itself now.
    pub brand: Brand,
    /// The run that found this.
    pub run: RunId,
    /// When the crawl of this store began to read: what the store said live since then may be newer than what it found.
    pub read_since: Timestamp,
    /// When the crawl of this store ended.
    pub observed_at: Timestamp,
    /// Products sorted by platform id, each id once.
    pub products: P,
    /// Shipping terms, where this crawl found some; `None` leaves those that are known as they are.
    pub shipping: Option<ShippingPolicy>,
    /// Records that could not be understood.
    pub quarantined: Vec<Quarantined>,
}

impl<P> BrandRefresh<P> {
    /// The same with other products; gives back those it had.
    pub fn with_products<Q>(self, products: Q) -> (BrandRefresh<Q>, P) {
        let Self {
            brand,
            run,
            read_since,
            observed_at,
            products: before,
            shipping,
            quarantined,
        } = self;
        let refresh = BrandRefresh {
            brand,
            run,
            read_since,
            observed_at,
            products,
            shipping,
            quarantined,
        };
        (refresh, before)
    }
}

/// A record that could not be understood, kept with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// The store that answered it.
    pub store: StoreHost,
    /// The record: the platform's id where it could be read, else its place (`page 3, product 17`).
    pub subject: String,
    /// The reason, for an operator: `price_not_decimal: "12,99"`.
    pub reason: String,
    /// The record as answered, cut to 4 KiB.
    pub excerpt: String,
}

/// A store's shipping terms, as far as its published text or rates state them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingPolicy {
    /// The currency of the amounts.
    pub currency: CurrencyCode,
    /// Order value from which shipping is free, where stated.
    pub free_shipping_threshold_minor: Option<i64>,
    /// Cash on delivery; `None` when nothing is said.
    pub cod_available: Option<bool>,
    /// Rates, in the order stated.
    pub tiers: Vec<DeliveryRate>,
    /// The facts of the store's text; `None` where none was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Box<ShippingTerms>>,
}
