use std::collections::BTreeMap;
use std::path::Path;

use data_index::{BrandFacts, BuildOptions, Manifest, Release};
use data_model::{Brand, PricePoint, Product};
use data_release::{Assembly, LakeStore, LocalRelease, PartsBuilder, PlanOptions, assemble, plan};

use crate::NOON;

/// Creates a brand's data as the lake provides them to a release.
#[must_use]
pub fn facts(brand: Brand) -> BrandFacts {
    BrandFacts {
        catalogue_hash: format!("hash of {}", brand.name),
        refreshed_at: "2026-11-20T06:30:00Z".parse().unwrap(),
        brand,
        shipping: None,
        delivery: None,
        reviews: None,
    }
}

/// A brand with the products of its store.
#[derive(Debug, Clone, Copy)]
pub struct StoreProducts<'a> {
    /// Data of the brand.
    pub facts: &'a BrandFacts,
    /// Products of the brand's store.
    pub products: &'a [Product],
}

/// Builds a first release of these brands with these options, as the pipeline does, with its files in `dir`.
#[must_use]
pub fn build(catalogue: &[StoreProducts<'_>], options: &BuildOptions, dir: &Path) -> Manifest {
    build_after(None, catalogue, options, dir)
}

/// Builds the release after `previous`, if there is one. Unchanged files are shared.
#[must_use]
pub fn build_after(
    previous: Option<&Manifest>,
    catalogue: &[StoreProducts<'_>],
    options: &BuildOptions,
    dir: &Path,
) -> Manifest {
    build_with_history(previous, catalogue, options, dir, |_| &[])
}

/// Builds a release with the price history in `history`, newest first.
#[must_use]
pub fn build_with_history<'h>(
    previous: Option<&Manifest>,
    catalogue: &[StoreProducts<'_>],
    options: &BuildOptions,
    dir: &Path,
    history: impl Fn(&Product) -> &'h [PricePoint],
) -> Manifest {
    let lake_store = |store: &StoreProducts<'_>| LakeStore {
        facts: store.facts.clone(),
        product_count: store.products.len() as u64,
    };
    let stores: Vec<LakeStore> = catalogue.iter().map(lake_store).collect();
    let wanted = PlanOptions {
        rows_max: options.rows_max,
        embedding: options.embedding(),
        ..PlanOptions::default()
    };
    let plan = plan(previous, &stores, &wanted);
    let mut built = Vec::new();
    for group in &plan.build {
        let mut parts = PartsBuilder::new(dir, options);
        for host in &group.stores {
            let of_host = |store: &&StoreProducts<'_>| store.facts.brand.store == *host;
            let StoreProducts { facts, products } = catalogue.iter().find(of_host).unwrap();
            for product in *products {
                parts.push(product, facts, history(product)).unwrap();
            }
        }
        built.extend(parts.finish().unwrap());
    }
    assemble(Assembly {
        previous,
        plan,
        built,
        stores: &stores,
        lake: BTreeMap::new(),
        built_at: NOON.parse().unwrap(),
    })
    .unwrap()
}

/// Opens the release whose files are in `dir`.
#[must_use]
pub fn open(manifest: Manifest, dir: &Path) -> Release {
    LocalRelease::in_directory(manifest, dir).open().unwrap()
}
