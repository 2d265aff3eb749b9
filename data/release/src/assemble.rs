use std::collections::{BTreeMap, BTreeSet};

use data_index::{BrandEntry, BrandTotals, Counts, CurrencyCount, Manifest, PartEntry, PartId, SCHEMA_VERSION};
use data_model::{CategoryId, CurrencyCode, StoreHost, Timestamp};

use crate::part::{PartFiles, StoreSummary, fingerprint};
use crate::plan::{BuildPlan, LakeStore};

/// Inputs from which a manifest is assembled.
#[derive(Debug)]
pub struct Assembly<'a> {
    /// Release on which the plan is based.
    pub previous: Option<&'a Manifest>,
    /// Plan of the build whose parts are assembled.
    pub plan: BuildPlan,
    /// Parts that the plan requires, in any order.
    pub built: Vec<PartFiles>,
    /// Stores for which the plan was made.
    pub stores: &'a [LakeStore],
    /// Lake tables and their versions that were read.
    pub lake: BTreeMap<String, u64>,
    /// Time at which the release was built.
    pub built_at: Timestamp,
}

/// Reason why parts cannot be assembled into a release.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The number of the store's products in the parts differs from that in the lake.
    #[error("store {store} has {expected} products in the lake, but {found} were indexed")]
    StoreIncomplete {
        /// Host of the store.
        store: StoreHost,
        /// Number of the store's products in the lake.
        expected: u64,
        /// Number of the store's products in the parts.
        found: u64,
    },
    /// The plan does not contain a built store, or plans another state of it.
    #[error("store {store} was built although the plan does not contain it")]
    StoreNotPlanned {
        /// Host of the store.
        store: StoreHost,
    },
    /// An unchanged store is not in the previous release.
    #[error("store {store} is to be kept, but the previous release does not contain it")]
    StoreNotKept {
        /// Host of the store.
        store: StoreHost,
    },
    /// Two brands of the lake have the same slug.
    #[error("two brands have the slug {slug}")]
    SlugTwice {
        /// The duplicate slug.
        slug: String,
    },
    /// The manifest cannot be serialized as JSON.
    #[error("cannot write the manifest")]
    Json(#[source] serde_json::Error),
}

/// Assembles the manifest of the next release: kept parts, new parts, brands, totals, id.
///
/// # Errors
/// The parts do not match the plan.
pub fn assemble(assembly: Assembly<'_>) -> Result<Manifest, AssembleError> {
    let Assembly {
        previous,
        plan,
        mut built,
        stores,
        lake,
        built_at,
    } = assembly;
    let planned = plan.stores_to_index();
    let mut summaries: BTreeMap<StoreHost, StoreSummary> = BTreeMap::new();
    // The order in which threads finished must not affect the manifest.
    built.sort_by(|a, b| order(&a.entry).cmp(&order(&b.entry)));
    for summary in built.iter().flat_map(|part| &part.summaries) {
        let store = summary.facts.brand.store.clone();
        if !planned.contains(&store) {
            return Err(AssembleError::StoreNotPlanned { store });
        }
        summaries
            .entry(store)
            .and_modify(|known| known.merge(summary))
            .or_insert_with(|| summary.clone());
    }
    let brands = brands(previous, &plan, stores, summaries)?;
    let embedding = plan.embedding;
    let mut parts = plan.keep;
    parts.extend(built.into_iter().map(|part| part.entry));
    let mut manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        id: data_model::ReleaseId::from_digest([0; 8]),
        built_at,
        lake,
        embedding,
        counts: counts(&brands),
        brands,
        parts,
        matches: None,
        gone: None,
        held: Vec::new(),
    };
    manifest.id = manifest.content_id().map_err(AssembleError::Json)?;
    Ok(manifest)
}

fn order(entry: &PartEntry) -> (Option<&StoreHost>, PartId) {
    (entry.stores.first().map(|held| &held.store), entry.id)
}

fn brands(
    previous: Option<&Manifest>,
    plan: &BuildPlan,
    stores: &[LakeStore],
    mut summaries: BTreeMap<StoreHost, StoreSummary>,
) -> Result<Vec<BrandEntry>, AssembleError> {
    let before: BTreeMap<&StoreHost, &BrandEntry> = previous
        .iter()
        .flat_map(|manifest| &manifest.brands)
        .map(|brand| (&brand.facts.brand.store, brand))
        .collect();
    let kept: BTreeSet<&StoreHost> = plan
        .keep
        .iter()
        .flat_map(|part| &part.stores)
        .filter(|held| held.live)
        .map(|held| &held.store)
        .collect();
    let mut brands = BTreeMap::new();
    let mut slugs = BTreeSet::new();
    for LakeStore { facts, product_count } in stores {
        let store = &facts.brand.store;
        if !slugs.insert(&facts.brand.slug) {
            return Err(AssembleError::SlugTwice {
                slug: facts.brand.slug.to_string(),
            });
        }
        let mut pages = None;
        let mut entry = if let Some(mut summary) = summaries.remove(store) {
            if fingerprint(&summary.facts, None) != fingerprint(facts, None) || kept.contains(store) {
                return Err(AssembleError::StoreNotPlanned { store: store.clone() });
            }
            if summary.product_count != *product_count {
                let (store, expected, found) = (store.clone(), *product_count, summary.product_count);
                return Err(AssembleError::StoreIncomplete { store, expected, found });
            }
            summary.facts = facts.clone();
            summary.into_entry()
        } else if kept.contains(store) {
            let known = before
                .get(store)
                .ok_or_else(|| AssembleError::StoreNotKept { store: store.clone() })?;
            pages = known.facts.reviews.as_ref().map(|reviews| reviews.pages);
            BrandEntry {
                facts: facts.clone(),
                ..(*known).clone()
            }
        } else if *product_count > 0 {
            return Err(AssembleError::StoreIncomplete {
                store: store.clone(),
                expected: *product_count,
                found: 0,
            });
        } else {
            StoreSummary::new(facts.clone()).into_entry()
        };
        let pages = pages.unwrap_or_else(|| totals(&entry));
        show(&mut entry, pages);
        brands.insert(store, entry);
    }
    match summaries.into_keys().next() {
        Some(store) => Err(AssembleError::StoreNotPlanned { store }),
        None => Ok(brands.into_values().collect()),
    }
}

fn totals(brand: &BrandEntry) -> BrandTotals {
    BrandTotals {
        review_count: brand.review_count,
        rating_bits: brand.rating.map(f32::to_bits),
        rating_count: brand.rating_count,
    }
}

/// Sets the totals shown for a brand: those of its review app, or else `pages`, those of its product pages.
fn show(brand: &mut BrandEntry, pages: BrandTotals) {
    let shown = match &mut brand.facts.reviews {
        Some(reviews) => {
            reviews.pages = pages;
            reviews.totals
        }
        None => pages,
    };
    brand.review_count = shown.review_count;
    brand.rating = shown.rating_bits.map(f32::from_bits);
    brand.rating_count = shown.rating_count;
}

pub(crate) fn counts(brands: &[BrandEntry]) -> Counts {
    let mut counts = Counts {
        brands: brands.len() as u64,
        ..Counts::default()
    };
    let mut categories: BTreeSet<CategoryId> = BTreeSet::new();
    let mut currencies: BTreeMap<&'static str, (CurrencyCode, u64)> = BTreeMap::new();
    for brand in brands {
        counts.products += brand.product_count;
        counts.variants += brand.variant_count;
        counts.in_stock += brand.in_stock_count;
        counts.on_sale += brand.on_sale_count;
        counts.reviews += brand.review_count;
        categories.extend(brand.categories.iter().map(|filed| filed.category));
        for CurrencyCount { currency, products } in &brand.currencies {
            currencies.entry(currency.as_str()).or_insert((*currency, 0)).1 += products;
        }
    }
    counts.categories = categories.len() as u64;
    counts.currencies = currencies
        .into_values()
        .map(|(currency, products)| CurrencyCount { currency, products })
        .collect();
    counts
}
