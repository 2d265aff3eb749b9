use std::collections::BTreeMap;
use std::path::Path;

use data_index::{Assembly, BrandFacts, BuildOptions, LakeStore, Manifest, PartsBuilder, PlanOptions, assemble, plan};
use data_model::{Brand, Product};

use crate::NOON;

/// A brand as the lake tells it to a release.
#[must_use]
pub fn facts(brand: Brand) -> BrandFacts {
    BrandFacts {
        catalogue_hash: format!("hash of {}", brand.name),
        refreshed_at: "2026-11-20T06:30:00Z".parse().unwrap(),
        brand,
        shipping: None,
        delivery: None,
    }
}

/// Builds a release of these brands with these options, as the pipeline does; its files lie in `dir`.
#[must_use]
pub fn build(catalogue: &[(BrandFacts, Vec<Product>)], options: &BuildOptions, dir: &Path) -> Manifest {
    let mut parts = PartsBuilder::new(dir, options);
    for (facts, products) in catalogue {
        for product in products {
            parts.push(product, facts).unwrap();
        }
    }
    let stores: Vec<LakeStore> = catalogue
        .iter()
        .map(|(facts, products)| LakeStore {
            facts: facts.clone(),
            product_count: products.len() as u64,
        })
        .collect();
    let wanted = PlanOptions {
        rows_max: options.rows_max,
        embedding: options.embedding(),
        ..PlanOptions::default()
    };
    assemble(Assembly {
        previous: None,
        plan: plan(None, &stores, &wanted),
        built: parts.finish().unwrap(),
        stores: &stores,
        lake: BTreeMap::new(),
        built_at: NOON.parse().unwrap(),
    })
    .unwrap()
}
