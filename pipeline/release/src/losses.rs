//! Lets a build continue although files of the lake are missing or damaged. Brands with rows in these files stay as in
//! the previous release, like brands that are held back. All other brands are updated.

use std::collections::{BTreeMap, BTreeSet};

use data_index::{HeldBrand, Manifest};
use data_lake::{BrandRow, LakeSnapshot, LostFile, TableName};
use data_model::{BrandSlug, StoreHost};
use data_release::LakeStore;
use serde::Serialize;

use crate::error::ReleaseBuildError;

/// Brand that cannot be read from the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableBrand {
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// True if the release has the brand as in the previous release. False if the brand is left out, because no release
    /// had it or its parts have another layout.
    pub kept: bool,
    /// Missing or damaged lake files with rows of the brand. Empty if a repair gave the files up. The brand's next
    /// crawl then restores its rows.
    pub files: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Losses {
    files: Vec<LostFile>,
    stores: BTreeMap<StoreHost, BrandSlug>,
    buckets: BTreeMap<StoreHost, u32>,
    /// Brands that are held back although their files are not lost.
    held: BTreeSet<StoreHost>,
}

/// Tables about brands, without their products. Every build reads these tables completely.
const OF_BRANDS: [TableName; 7] = [
    TableName::Brands,
    TableName::ShippingPolicies,
    TableName::DeliveryMatrix,
    TableName::DeliveryZones,
    TableName::LivePrices,
    TableName::WidgetReviews,
    TableName::WidgetRatings,
];

const OF_PRODUCTS: [TableName; 3] = [TableName::Products, TableName::Variants, TableName::Reviews];

impl Losses {
    /// The given brands stay as in the previous release.
    pub(crate) fn holding(held: &[HeldBrand]) -> Self {
        Self {
            held: held.iter().map(|brand| brand.store.clone()).collect(),
            ..Self::default()
        }
    }

    /// Searches everything that a build reads for lost files. Returns `false` if no new ones were found.
    pub(crate) async fn find(
        &mut self,
        snapshot: &LakeSnapshot,
        indexing: &BTreeSet<StoreHost>,
    ) -> Result<bool, ReleaseBuildError> {
        let mut found = snapshot
            .unreadable(&OF_BRANDS, None)
            .await
            .map_err(ReleaseBuildError::Brands)?;
        let products = snapshot.unreadable(&OF_PRODUCTS, Some(indexing)).await;
        found.extend(products.map_err(ReleaseBuildError::Products)?);
        let known = self.files.len();
        for file in found {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        Ok(self.files.len() > known)
    }

    /// Returns true if a file of the table `brands` is lost.
    pub(crate) fn has_brands(&self) -> bool {
        self.files.iter().any(|file| file.table == TableName::Brands)
    }

    fn is_lost(&self, bucket: u32) -> bool {
        self.files.iter().any(|file| file.bucket == Some(bucket))
    }

    /// Returns true if the brand is not held back and, as far as known, all of its rows can be read.
    pub(crate) fn spares(&self, snapshot: &LakeSnapshot, row: &BrandRow) -> bool {
        let is_held = self.held.contains(&row.brand.store);
        !is_held && !row.catalogue_hash.is_empty() && !self.is_lost(snapshot.bucket_of(&row.brand.store))
    }

    /// Returns the unreadable brands in their state from the previous release: brands with known rows, and brands in
    /// buckets whose rows of `brands` are lost. A brand that no release contained is returned unchanged, and the plan
    /// leaves it out.
    pub(crate) fn kept(
        &mut self,
        snapshot: &LakeSnapshot,
        unreadable: Vec<BrandRow>,
        previous: Option<&Manifest>,
    ) -> Vec<LakeStore> {
        let is_brands = |file: &&LostFile| file.table == TableName::Brands;
        let nameless: BTreeSet<u32> = self
            .files
            .iter()
            .filter(is_brands)
            .filter_map(|file| file.bucket)
            .collect();
        let mut rows: BTreeMap<StoreHost, BrandRow> = unreadable
            .into_iter()
            .map(|row| (row.brand.store.clone(), row))
            .collect();
        let mut kept = Vec::new();
        for entry in previous.into_iter().flat_map(|manifest| &manifest.brands) {
            let store = &entry.facts.brand.store;
            if rows.remove(store).is_some() || nameless.contains(&snapshot.bucket_of(store)) {
                kept.push(LakeStore {
                    facts: entry.facts.clone(),
                    product_count: entry.product_count,
                });
            }
        }
        for row in rows.into_values() {
            kept.push(LakeStore {
                // The count may be wrong, and the brand must not appear to be empty.
                product_count: row.product_count.max(1),
                facts: data_index::BrandFacts {
                    brand: row.brand,
                    catalogue_hash: row.catalogue_hash,
                    refreshed_at: row.refreshed_at,
                    shipping: None,
                    delivery: None,
                    reviews: None,
                },
            });
        }
        for LakeStore { facts, .. } in &kept {
            let store = facts.brand.store.clone();
            self.buckets.insert(store.clone(), snapshot.bucket_of(&store));
            self.stores.insert(store, facts.brand.slug.clone());
        }
        kept
    }

    pub(crate) fn stores(&self) -> BTreeSet<StoreHost> {
        self.stores.keys().cloned().collect()
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Reduces a manifest to the data of stores that are unreadable or held back.
    pub(crate) fn only(&self, snapshot: &LakeSnapshot, mut manifest: Manifest) -> Manifest {
        let is_kept = |store: &StoreHost| self.stores.contains_key(store) || self.held.contains(store);
        let is_needed = |store: &StoreHost| is_kept(store) || self.is_lost(snapshot.bucket_of(store));
        for run in manifest.parts.iter_mut().flat_map(|part| &mut part.stores) {
            run.live &= is_needed(&run.store);
        }
        manifest.brands.retain(|entry| is_needed(&entry.facts.brand.store));
        // Otherwise other data would count as unchanged and be reused.
        manifest.lake.clear();
        manifest
    }

    pub(crate) fn told(&self, left_out: &BTreeSet<StoreHost>) -> Vec<UnreadableBrand> {
        let of = |(store, slug): (&StoreHost, &BrandSlug)| {
            let bucket = self.buckets.get(store).copied();
            let files = self
                .files
                .iter()
                .filter(|file| file.bucket.is_some() && file.bucket == bucket);
            UnreadableBrand {
                brand: slug.clone(),
                kept: !left_out.contains(store),
                files: files.map(|file| file.path.clone()).collect(),
            }
        };
        let lost = self.stores.iter().filter(|(store, _)| !self.held.contains(*store));
        lost.map(of).collect()
    }
}

/// Number of brands that the last build could not read.
const UNREADABLE: &str = "release_unreadable_brands";
/// Number of brands that the last build held back.
const HELD: &str = "release_held_brands";
/// 1 if a file of the price history was missing in the last build.
const HISTORY_LOST: &str = "release_price_history_lost";

const NAMED_MAX: usize = 20;

fn way_back(files: &[String]) -> &'static str {
    let of_no_crawl = TableName::DELIVERY.iter().chain(&TableName::WIDGETS);
    let is_of_no_crawl = |file: &String| of_no_crawl.clone().any(|table| file.starts_with(&format!("{table}/")));
    if files.iter().any(is_of_no_crawl) {
        "no crawl writes such a file: run `haat lake repair`, which gives up its content and says how to get it back"
    } else {
        "the brand's next crawl restores them"
    }
}

/// An operator who reads the job's log sees unreadable brands.
pub(crate) fn warn_of(unreadable: &[UnreadableBrand], history_lost: Option<&str>) {
    metrics::describe_gauge!(
        UNREADABLE,
        "Number of brands that the last build left unchanged because files of the lake are missing or damaged"
    );
    metrics::describe_gauge!(
        HISTORY_LOST,
        "1 if a file of the price history was missing in the last build, otherwise 0"
    );
    metrics::gauge!(UNREADABLE).set(unreadable.len() as f64);
    metrics::gauge!(HISTORY_LOST).set(f64::from(u8::from(history_lost.is_some())));
    for brand in unreadable.iter().take(NAMED_MAX) {
        let file = brand.files.first().map_or("given up by a repair", String::as_str);
        let what = if brand.kept {
            "stays as in the previous release"
        } else {
            "is left out of the release"
        };
        let way = way_back(&brand.files);
        tracing::warn!(brand.slug = %brand.brand, file, "{} {what}: some of its rows are missing or damaged; {way}", brand.brand);
    }
    if unreadable.len() > NAMED_MAX {
        tracing::warn!(brands = unreadable.len(), "rows of more brands are missing or damaged");
    }
    if let Some(file) = history_lost {
        tracing::warn!(
            file,
            "{file} is missing or damaged: rebuilt parts lack its price history. Restore it from a copy, or run \
             `haat lake repair` to give it up"
        );
    }
}

pub(crate) fn warn_of_held(held: &[HeldBrand]) {
    metrics::describe_gauge!(
        HELD,
        "Number of brands that the last build left unchanged because the lake's data about them is doubtful"
    );
    metrics::gauge!(HELD).set(held.len() as f64);
    for brand in held.iter().take(NAMED_MAX) {
        let reasons = brand.reasons.join("; ");
        tracing::warn!(brand.slug = %brand.slug, since = %brand.since, "{} stays unchanged: {reasons}", brand.slug);
    }
    if held.len() > NAMED_MAX {
        tracing::warn!(brands = held.len(), "more brands are held back");
    }
}
