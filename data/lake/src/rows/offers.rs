//! The offers of one store by the newest word on each variant, whoever has it: the crawl that `variants` is of, or a
//! store that was asked live since.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrow::array::Array;
use arrow::record_batch::RecordBatch;
use data_model::{CurrencyCode, PricePoint, Timestamp};

use super::columns::{Columns, some_int};
use super::id_from_column;
use crate::{LakeError, TableName};

/// Product and variant, by the platform's ids.
pub(crate) type VariantKey = (u64, u64);

/// The observed prices of a store, by the platform's product id; of each product the newest first, which is the order
/// of the lake's ticks, and of one tick in order of the variants' ids. A point that repeats what the one before it said
/// of the variant is left out: it follows a row that was taken back (by a restore, or by an older crawl that was read
/// again). So is one that tells a reading a second time, which comes in anew after that.
pub type StoreHistory = HashMap<u64, Vec<PricePoint>>;

/// The part of a variant that `price_history` follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub(crate) currency: CurrencyCode,
    pub(crate) price_minor: i64,
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) available: bool,
}

impl Offer {
    /// The offer that a point states of a variant; `None` when it is gone.
    pub(crate) fn of(point: &PricePoint) -> Option<Self> {
        Some(Self {
            currency: point.currency,
            price_minor: point.price_minor?,
            compare_at_minor: point.compare_at_minor,
            available: point.available?,
        })
    }
}

/// The knowledge of a variant beyond the crawl of `variants`: a row of `live_prices`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveOffer {
    /// When it was last observed.
    pub(crate) at: Timestamp,
    /// The offer; `None` when it is gone.
    pub(crate) offer: Option<Offer>,
    /// The currency of the amounts; of one that is gone, of the last.
    pub(crate) currency: CurrencyCode,
    /// When the price history last got a row of it, since that crawl.
    pub(crate) changed_at: Option<Timestamp>,
}

/// A variant of which something is known beyond the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveVariant {
    pub(crate) key: VariantKey,
    pub(crate) live: LiveOffer,
}

/// The offers of one store before a tick.
#[derive(Debug, Default)]
pub(crate) struct StoreOffers {
    pub(crate) brand_slug: String,
    /// By the newest word on each.
    pub(crate) offers: HashMap<VariantKey, Offer>,
    /// The products of `variants`.
    pub(crate) products: HashSet<u64>,
    /// Variants on which the newest word is not that of `variants`.
    pub(crate) live: HashMap<VariantKey, LiveOffer>,
    /// The offers in `variants` of these.
    pub(crate) crawled: HashMap<VariantKey, Offer>,
    /// The latest moment of them that is believed: whatever is read now is newer than what a clock dated that was wrong.
    believed_until: Timestamp,
}

impl StoreOffers {
    /// `true` where nothing is known of any variant.
    pub(crate) fn is_empty(&self) -> bool {
        self.offers.is_empty() && self.live.is_empty()
    }

    /// The offers by the last known points that are not gone.
    pub(crate) fn of_history(brand_slug: &str, history: &StoreHistory) -> Self {
        let mut offered = Self {
            brand_slug: brand_slug.to_owned(),
            ..Self::default()
        };
        for (product, points) in history {
            let mut seen = HashSet::new();
            // The newest come first.
            for point in points.iter().filter(|point| seen.insert(point.variant)) {
                if let Some(offer) = Offer::of(point) {
                    offered.offers.insert((*product, point.variant.0), offer);
                    offered.products.insert(*product);
                }
            }
        }
        offered
    }

    /// Adds of the rows `rows` of a batch of `variants`, which are this store's, those of products that are wanted.
    pub(crate) fn add(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Result<(), LakeError> {
        let columns = Columns::new(TableName::Variants, batch);
        let (product, variant) = (columns.int("platform_product_id")?, columns.int("variant_id")?);
        let (price, compare_at) = (columns.int("price_minor")?, columns.int("compare_at_minor")?);
        let (available, currency) = (columns.flag("available")?, columns.text("currency")?);
        let slug = columns.text("brand_slug")?;
        for row in rows {
            if self.brand_slug.is_empty() {
                slug.value(row).clone_into(&mut self.brand_slug);
            }
            let key = (id_from_column(product.value(row)), id_from_column(variant.value(row)));
            if !is_wanted(key.0) {
                continue;
            }
            let offer = Offer {
                currency: columns.parse("currency", currency.value(row))?,
                price_minor: price.value(row),
                compare_at_minor: some_int(compare_at, row),
                available: available.is_valid(row) && available.value(row),
            };
            self.offers.entry(key).or_insert(offer);
            self.products.insert(key.0);
        }
        Ok(())
    }

    /// Takes in what is known now beyond `variants`, whose rows were added before.
    pub(crate) fn overlay(&mut self, live: HashMap<VariantKey, LiveOffer>, now: Timestamp) {
        self.believed_until = now.latest_believed(0);
        for (key, known) in live {
            self.note(key, known);
        }
    }

    /// Takes in the newest word on a variant.
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

    /// `true` where the newest word on a variant beyond `variants` is newer than this moment.
    pub(crate) fn is_newer(&self, key: VariantKey, than: Timestamp) -> bool {
        let live = self.live.get(&key);
        live.is_some_and(|live| than < live.at && live.at <= self.believed_until)
    }

    /// When a variant was last observed live.
    pub(crate) fn newest_live(&self) -> Option<Timestamp> {
        let moments = self.live.values().map(|live| live.at);
        moments.filter(|at| *at <= self.believed_until).max()
    }

    /// The observations that are newer than a crawl that began to read at this moment, in the order of the table.
    pub(crate) fn live_after(&self, read_since: Option<Timestamp>) -> Vec<LiveVariant> {
        let is_newer = |key| read_since.is_none_or(|read_since| self.is_newer(key, read_since));
        let live = self.live.iter().filter(|(key, _)| is_newer(**key));
        let mut live: Vec<_> = live.map(|(key, live)| LiveVariant { key: *key, live: *live }).collect();
        live.sort_unstable_by_key(|variant| variant.key);
        live
    }
}
