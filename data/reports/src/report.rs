use std::collections::BTreeMap;

use data_model::{BrandSlug, ShippingCoverage, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::figures::{BrandFigures, Field, PriceMoves, SIZES};
use crate::finding::Finding;

/// The quality of the lake's data, beside the quality before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QualityReport {
    /// When it was made.
    pub made_at: Timestamp,
    /// The state of the lake that it is of: the version of each table.
    pub versions: BTreeMap<String, u64>,
    /// The state that it is compared with, in words; `None` where there is nothing to compare with.
    pub against: Option<String>,
    /// The version of each table of that state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions_before: BTreeMap<String, u64>,
    /// `true` where the current release was made of this state: nothing is held back any more.
    #[serde(default)]
    pub is_released: bool,
    /// The figures beyond a threshold.
    pub findings: Vec<Finding>,
    /// Sums over all brands.
    pub totals: Totals,
    /// The brands that tell what shoppers ask of shipping; `None` where that cannot be read.
    #[serde(default)]
    pub shipping_known: Option<ShippingCoverage>,
    /// Words that shoppers looked for in vain in the last week, those first that were looked for most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfound: Vec<UnfoundWords>,
    /// Each brand, by its store.
    pub brands: Vec<BrandQuality>,
    /// Earlier reports, oldest first, this one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trend: Vec<Point>,
}

/// Words that shoppers looked for in vain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfoundWords {
    /// The words.
    pub words: String,
    /// Searches for them.
    pub searches: u64,
    /// Of these, searches that found nothing.
    pub without_hits: u64,
    /// The last day on which they were searched for.
    pub last_day: String,
}

/// One brand, now and before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandQuality {
    /// The brand.
    pub slug: BrandSlug,
    /// Its store.
    pub store: StoreHost,
    /// Hash of all that the lake holds of it.
    pub catalogue_hash: String,
    /// Its figures; `None` where a file with its rows is missing or damaged.
    pub now: Option<BrandFigures>,
    /// Its figures before; `None` where they are not known, or it is new.
    pub before: Option<BrandFigures>,
    /// The moves of its prices; `None` where the rows before are not there any more, or it is new.
    pub moves: Option<PriceMoves>,
    /// Its records that could not be understood.
    pub quarantined: u64,
    /// The same before.
    pub quarantined_before: Option<u64>,
    /// When a crawl of it was last good.
    pub good_at: Timestamp,
    /// `true` where that is too long ago.
    pub is_stale: bool,
}

/// Sums over brands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Brands.
    pub brands: u64,
    /// Of these, brands whose rows cannot be read; they are in no other figure.
    pub brands_unread: u64,
    /// Of these, stale ones.
    pub brands_stale: u64,
    /// All products as one brand's.
    pub now: BrandFigures,
    /// The same before, of brands that were there; `None` where there is nothing to compare with.
    pub before: Option<BrandFigures>,
    /// The moves of all prices; without examples.
    pub moves: Option<PriceMoves>,
    /// Records that could not be understood.
    pub quarantined: u64,
}

/// One report, as a point of the trend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// When.
    pub made_at: Timestamp,
    /// Products.
    pub products: u64,
    /// Products without a category.
    pub uncategorised: u64,
    /// Products that lack a title, a description, a picture or a price; one that lacks two counts twice.
    pub missing: u64,
    /// Figures beyond a threshold.
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
    /// The sums of these brands; `compared` where there is a state to compare with.
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
    /// This report as a point of a trend.
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
