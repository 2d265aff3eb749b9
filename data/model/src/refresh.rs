use serde::{Deserialize, Serialize};

use crate::{Brand, CurrencyCode, DeliveryRate, Product, RunId, ShippingTerms, StoreHost, Timestamp};

/// The whole catalogue of one brand from one crawl. The lake stores it as one unit. `P` is the representation of the
/// products.
#[derive(Debug, Clone, PartialEq)]
pub struct BrandRefresh<P = Vec<Product>> {
    /// Brand as its store currently presents itself.
    pub brand: Brand,
    /// Crawler run that found the catalogue.
    pub run: RunId,
    /// Start of the crawl of this store. Live responses after this time may be newer than the crawled data.
    pub read_since: Timestamp,
    /// End of the crawl of this store.
    pub observed_at: Timestamp,
    /// Products sorted by platform id, without duplicate ids.
    pub products: P,
    /// Shipping terms, if this crawl found any. `None` leaves the known terms unchanged.
    pub shipping: Option<ShippingPolicy>,
    /// Records that could not be parsed.
    pub quarantined: Vec<Quarantined>,
}

impl<P> BrandRefresh<P> {
    /// Replaces the products and returns the previous ones.
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

/// A record that could not be parsed, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// Store that returned the record.
    pub store: StoreHost,
    /// Identification of the record: the platform's id if it could be read, or a position such as `page 3, product 17`.
    pub subject: String,
    /// Reason for the operator, such as `price_not_decimal: "12,99"`.
    pub reason: String,
    /// Content of the record as received, truncated to 4 KiB.
    pub excerpt: String,
}

/// Shipping terms of a store, as stated in its text or rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingPolicy {
    /// Currency of the amounts.
    pub currency: CurrencyCode,
    /// Order value above which shipping is free, if stated, in minor units.
    pub free_shipping_threshold_minor: Option<i64>,
    /// `true` if the store offers cash on delivery. `None` if the store does not state that.
    pub cod_available: Option<bool>,
    /// Delivery rates, in the order stated.
    pub tiers: Vec<DeliveryRate>,
    /// Facts from the store's shipping text. `None` without a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Box<ShippingTerms>>,
}
