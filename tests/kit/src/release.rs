use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::path::Path;

use data_index::{BrandFacts, BuildOptions, Manifest, Release};
use data_model::{Brand, PricePoint, Product};
use data_release::{Assembly, LakeStore, LocalRelease, PartsBuilder, PlanOptions, assemble, plan};

use crate::NOON;

/// A brand as the lake gives it to a release.
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

/// Builds a first release of these brands with these options, as the pipeline does; its files lie in `dir`.
#[must_use]
pub fn build<F, P>(catalogue: &[(F, P)], options: &BuildOptions, dir: &Path) -> Manifest
where
    F: Borrow<BrandFacts>,
    P: AsRef<[Product]>,
{
    build_after(None, catalogue, options, dir)
}

/// Builds the release that comes after `previous`, if there was one; what did not change is shared.
#[must_use]
pub fn build_after<F, P>(
    previous: Option<&Manifest>,
    catalogue: &[(F, P)],
    options: &BuildOptions,
    dir: &Path,
) -> Manifest
where
    F: Borrow<BrandFacts>,
    P: AsRef<[Product]>,
{
    build_with_history(previous, catalogue, options, dir, |_| &[])
}

/// Builds a release with a history of prices, as `history` says, newest first.
#[must_use]
pub fn build_with_history<'h, F, P>(
    previous: Option<&Manifest>,
    catalogue: &[(F, P)],
    options: &BuildOptions,
    dir: &Path,
    history: impl Fn(&Product) -> &'h [PricePoint],
) -> Manifest
where
    F: Borrow<BrandFacts>,
    P: AsRef<[Product]>,
{
    let lake_store = |(facts, products): &(F, P)| LakeStore {
        facts: facts.borrow().clone(),
        product_count: products.as_ref().len() as u64,
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
            let of_host = |(facts, _): &&(F, P)| facts.borrow().brand.store == *host;
            let (facts, products) = catalogue.iter().find(of_host).unwrap();
            for product in products.as_ref() {
                parts.push(product, facts.borrow(), history(product)).unwrap();
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

/// Opens the release whose files lie in `dir`.
#[must_use]
pub fn open(manifest: Manifest, dir: &Path) -> Release {
    LocalRelease::in_directory(manifest, dir).open().unwrap()
}
