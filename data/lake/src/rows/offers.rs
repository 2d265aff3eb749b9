//! Latest known offers of one store's variants, from the crawl that filled `variants` or from a later live query.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrow::record_batch::RecordBatch;
use data_model::{CurrencyCode, PricePoint, Timestamp};

use super::columns::Columns;
use super::id_from_column;
use super::record::{ReadRecord, read_record};
use crate::{LakeError, TableName};

/// Shopify ids of a product and of its variant.
pub(crate) type VariantKey = (u64, u64);

/// Price history of a store by Shopify product id. Points of a product are ordered newest first by commit batch, and
/// within a batch by variant id. A point that repeats the variant's previous point is left out: such points follow a
/// row that a restore, or a reread older crawl, took back. A second point for the same reading, which is added after
/// such an event, is left out too.
pub type StoreHistory = HashMap<u64, Vec<PricePoint>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub(crate) currency: CurrencyCode,
    pub(crate) price_minor: i64,
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) available: bool,
}

read_record! {
    Offer { currency: CurrencyCode, price_minor: i64, compare_at_minor: Option<i64>, available: bool, }
}

impl Offer {
    /// Returns `None` if the variant is gone.
    pub(crate) fn of(point: &PricePoint) -> Option<Self> {
        Some(Self {
            currency: point.currency,
            price_minor: point.price_minor?,
            compare_at_minor: point.compare_at_minor,
            available: point.available?,
        })
    }
}

/// A variant's offer that is newer than its row in `variants`: a row of `live_prices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveOffer {
    /// Time of the last observation.
    pub(crate) at: Timestamp,
    /// Observed offer. `None` if the variant is gone.
    pub(crate) offer: Option<Offer>,
    /// Currency of the amounts. For a variant that is gone, its last currency.
    pub(crate) currency: CurrencyCode,
    /// Time of the variant's last price history row since the crawl that filled `variants`.
    pub(crate) changed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveVariant {
    pub(crate) key: VariantKey,
    pub(crate) live: LiveOffer,
}

#[derive(Debug, Default)]
pub(crate) struct StoreOffers {
    pub(crate) brand_slug: String,
    /// Latest known offer of each variant.
    pub(crate) offers: HashMap<VariantKey, Offer>,
    /// Products in `variants`.
    pub(crate) products: HashSet<u64>,
    /// Variants whose latest known offer does not come from `variants`.
    pub(crate) live: HashMap<VariantKey, LiveOffer>,
    /// Offers that `variants` has for the variants in `live`.
    pub(crate) crawled: HashMap<VariantKey, Offer>,
    /// Latest plausible time of a live observation. Later times come from a wrong clock, and any reading made now is
    /// newer.
    believed_until: Timestamp,
}

impl StoreOffers {
    pub(crate) fn is_empty(&self) -> bool {
        self.offers.is_empty() && self.live.is_empty()
    }

    /// Builds the offers from the last point of each variant, without variants that are gone.
    pub(crate) fn of_history(brand_slug: &str, history: &StoreHistory) -> Self {
        let mut offered = Self {
            brand_slug: brand_slug.to_owned(),
            ..Self::default()
        };
        for (product, points) in history {
            let mut seen = HashSet::new();
            // The points are ordered newest first.
            for point in points.iter().filter(|point| seen.insert(point.variant)) {
                if let Some(offer) = Offer::of(point) {
                    offered.offers.insert((*product, point.variant.0), offer);
                    offered.products.insert(*product);
                }
            }
        }
        offered
    }

    /// Adds the given rows of a record batch of `variants` for the requested products. The rows must belong to this
    /// store.
    pub(crate) fn add(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Result<(), LakeError> {
        const TABLE: TableName = TableName::Variants;
        let columns = Columns::new(TABLE, batch);
        let (product, variant) = (columns.int("platform_product_id")?, columns.int("variant_id")?);
        if self.brand_slug.is_empty() {
            columns
                .text("brand_slug")?
                .value(rows.start)
                .clone_into(&mut self.brand_slug);
        }
        let offers = Offer::read_rows(TABLE, batch, rows.clone())?;
        for (row, offer) in rows.zip(offers) {
            let key = (id_from_column(product.value(row)), id_from_column(variant.value(row)));
            if is_wanted(key.0) {
                self.offers.entry(key).or_insert(offer);
                self.products.insert(key.0);
            }
        }
        Ok(())
    }

    /// The rows of `variants` must have been added before.
    pub(crate) fn overlay(&mut self, live: HashMap<VariantKey, LiveOffer>, now: Timestamp) {
        self.believed_until = now.latest_believed(0);
        for (key, known) in live {
            self.note(key, known);
        }
    }

    pub(crate) fn note(&mut self, key: VariantKey, known: LiveOffer) {
        let before = match known.offer {
            Some(offer) => self.offers.insert(key, offer),
            None => self.offers.remove(&key),
        };
        if self.live.insert(key, known).is_none()
            && let Some(crawled) = before
        {
            self.crawled.insert(key, crawled);
        }
    }

    pub(crate) fn is_newer(&self, key: VariantKey, than: Timestamp) -> bool {
        let live = self.live.get(&key);
        live.is_some_and(|live| than < live.at && live.at <= self.believed_until)
    }

    pub(crate) fn newest_live(&self) -> Option<Timestamp> {
        let moments = self.live.values().map(|live| live.at);
        moments.filter(|at| *at <= self.believed_until).max()
    }

    /// Returns the live offers that are newer than a crawl that began at `read_since`, in table order.
    pub(crate) fn live_after(&self, read_since: Option<Timestamp>) -> Vec<LiveVariant> {
        let is_newer = |key| read_since.is_none_or(|read_since| self.is_newer(key, read_since));
        let live = self.live.iter().filter(|(key, _)| is_newer(**key));
        let mut live: Vec<_> = live.map(|(key, live)| LiveVariant { key: *key, live: *live }).collect();
        live.sort_unstable_by_key(|variant| variant.key);
        live
    }
}
