use std::collections::BTreeMap;

use data_model::{BrandSlug, ShippingCoverage, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::figures::{BrandFigures, Field, PriceMoves, SIZES};
use crate::finding::Finding;

/// Quality of the lake's data compared with an earlier state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QualityReport {
    /// Time at which the report was made.
    pub made_at: Timestamp,
    /// Version of each lake table in the report.
    pub versions: BTreeMap<String, u64>,
    /// Description of the earlier state. `None` if there is none.
    pub against: Option<String>,
    /// Version of each table in the earlier state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions_before: BTreeMap<String, u64>,
    /// `true` if the current release was built from this state. It can no longer be held back.
    #[serde(default)]
    pub is_released: bool,
    /// Figures that exceed a threshold.
    pub findings: Vec<Finding>,
    /// Sums over all brands.
    pub totals: Totals,
    /// Numbers of brands with known shipping terms. `None` if they cannot be read.
    #[serde(default)]
    pub shipping_known: Option<ShippingCoverage>,
    /// Search words without results in the last week, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfound: Vec<UnfoundWords>,
    /// Quality of each brand, sorted by store.
    pub brands: Vec<BrandQuality>,
    /// Earlier reports, oldest first, followed by this report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trend: Vec<Point>,
}

/// Search words for which shoppers got no results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfoundWords {
    /// Words of the search.
    pub words: String,
    /// Number of searches for the words.
    pub searches: u64,
    /// Number of searches for the words without results.
    pub without_hits: u64,
    /// Date of the last search for the words.
    pub last_day: String,
}

/// Quality of one brand, now and before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandQuality {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Store of the brand.
    pub store: StoreHost,
    /// Hash of the brand's data in the lake.
    pub catalogue_hash: String,
    /// Current figures. `None` if a file with the brand's rows is missing or damaged.
    pub now: Option<BrandFigures>,
    /// Earlier figures. `None` if they are unknown or the brand is new.
    pub before: Option<BrandFigures>,
    /// Price changes. `None` if the earlier rows no longer exist or the brand is new.
    pub moves: Option<PriceMoves>,
    /// Number of the brand's records that could not be parsed.
    pub quarantined: u64,
    /// Number of such records in the earlier state.
    pub quarantined_before: Option<u64>,
    /// Time of the brand's last good crawl.
    pub good_at: Timestamp,
    /// `true` if the last good crawl is too old.
    pub is_stale: bool,
}

/// Sums over brands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of brands.
    pub brands: u64,
    /// Number of brands whose rows cannot be read. All other figures exclude these brands.
    pub brands_unread: u64,
    /// Number of stale brands.
    pub brands_stale: u64,
    /// Current figures of all products, combined.
    pub now: BrandFigures,
    /// Earlier figures of the brands that existed, combined. `None` if there is no earlier state.
    pub before: Option<BrandFigures>,
    /// Price changes of all brands, without examples.
    pub moves: Option<PriceMoves>,
    /// Number of records that could not be parsed.
    pub quarantined: u64,
}

/// One report as a point of the trend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Time of the report.
    pub made_at: Timestamp,
    /// Number of products.
    pub products: u64,
    /// Number of products without a category.
    pub uncategorised: u64,
    /// Number of missing titles, descriptions, media and prices. A product that lacks two counts twice.
    pub missing: u64,
    /// Number of figures that exceed a threshold.
    pub findings: u64,
}

impl BrandFigures {
    fn add(&mut self, other: &Self) {
        self.products += other.products;
        for (field, missing) in &other.missing {
            *self.missing.entry(*field).or_default() += missing;
        }
        self.duplicates.ids += other.duplicates.ids;
        self.duplicates.handles += other.duplicates.handles;
        self.duplicates.titles += other.duplicates.titles;
        for (currency, products) in &other.currencies {
            *self.currencies.entry(currency.clone()).or_default() += products;
        }
    }
}

impl Totals {
    /// Returns the sums over these brands. `compared` is true if there is an earlier state.
    #[must_use]
    pub fn of(brands: &[BrandQuality], compared: bool) -> Self {
        let mut totals = Self {
            before: compared.then(BrandFigures::default),
            moves: compared.then(PriceMoves::default),
            ..Self::default()
        };
        for brand in brands {
            totals.brands += 1;
            totals.brands_unread += u64::from(brand.now.is_none());
            totals.brands_stale += u64::from(brand.is_stale);
            totals.quarantined += brand.quarantined;
            if let Some(now) = &brand.now {
                totals.now.add(now);
            }
            if let (Some(sum), Some(before)) = (&mut totals.before, &brand.before) {
                sum.add(before);
            }
            if let (Some(sum), Some(moves)) = (&mut totals.moves, &brand.moves) {
                sum.compared += moves.compared;
                sum.currency_changed += moves.currency_changed;
                sum.jumped += moves.jumped;
                for size in 0..SIZES.len() {
                    sum.by_size[size] += moves.by_size[size];
                }
            }
        }
        totals
    }
}

impl QualityReport {
    /// Returns this report as a point of the trend.
    #[must_use]
    pub fn point(&self) -> Point {
        let now = &self.totals.now;
        let needed = Field::ALL.into_iter().filter(|field| field.is_needed());
        Point {
            made_at: self.made_at,
            products: now.products,
            uncategorised: now.without(Field::Category),
            missing: needed.map(|field| now.without(field)).sum(),
            findings: self.findings.len() as u64,
        }
    }
}
