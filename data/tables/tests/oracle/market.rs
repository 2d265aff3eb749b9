use std::path::Path;
use std::sync::Arc;

use api::EdgeRouter;
use axum::body::Body;
use data_index::{BrandFacts, BuildOptions, Manifest};
use data_model::{Attribute, Brand, CategoryId, Product, ProductOption, Rating, Timestamp, Variant};
use data_release::{CheckOptions, Publication, ReleaseStore};
use data_storage::Storage;
use data_tables::ReleaseTables;
use http_body_util::BodyExt;
use kit::SetClock;
use proptest::prelude::*;
use query_server::{QueryConfig, QueryServer};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct DrawnProduct {
    category: Option<usize>,
    color: Option<usize>,
    sizes: u8,
    tags: Vec<u8>,
    vendor: u8,
    price_minor: i64,
    dear: bool,
    available: bool,
    marked_down: bool,
    stars: Option<(u8, u32)>,
    day: Option<u8>,
}

pub(crate) const CATEGORIES: [(u32, &str); 5] = [
    (212, "shirts-tops"),
    (2271, "dresses"),
    (187, "shoes"),
    (1868, "coffee"),
    (1604, "clothing"),
];
pub(crate) const COLORS: [&str; 4] = ["Navy", "Rose Red", "WHITE", "ग्रीन"];
const SIZES: [&str; 4] = ["S", "M", "L", "XL"];

pub(crate) fn any_product() -> impl Strategy<Value = DrawnProduct> {
    let what = (
        prop::option::weighted(0.8, 0..CATEGORIES.len()),
        prop::option::weighted(0.8, 0..COLORS.len()),
        0..16_u8,
        prop::collection::vec(0..80_u8, 0..6),
        0..3_u8,
    );
    // A price of 0 means that the price is unknown.
    let minor = prop_oneof![1 => Just(0_i64), 12 => 1..60_i64];
    let price = (minor, prop::bool::weighted(0.05));
    let state = (any::<bool>(), prop::bool::weighted(0.3));
    let dates = (prop::option::of((0..=10_u8, 1..4_u32)), prop::option::of(0..20_u8));
    (what, price, state, dates).prop_map(|(what, price, state, dates)| DrawnProduct {
        category: what.0,
        color: what.1,
        sizes: what.2,
        tags: what.3,
        vendor: what.4,
        price_minor: price.0 * 1_000,
        dear: price.1,
        available: state.0,
        marked_down: state.1,
        stars: dates.0,
        day: dates.1,
    })
}

fn facts(store: usize, hash: &str) -> BrandFacts {
    let brand = Brand {
        currency: if store == 1 { "USD" } else { "INR" }.parse().unwrap(),
        ..kit::brand(&format!("Brand {store}"))
    };
    BrandFacts {
        catalogue_hash: format!("{hash} {store}"),
        ..kit::facts(brand)
    }
}

fn product(facts: &BrandFacts, id: u64, drawn: &DrawnProduct) -> Product {
    let price_minor = if drawn.dear {
        drawn.price_minor * 1_000
    } else {
        drawn.price_minor
    };
    let variant = Variant {
        compare_at_minor: drawn.marked_down.then_some(price_minor + 500),
        available: drawn.available,
        ..kit::variant(id * 10, price_minor)
    };
    let sizes = SIZES.iter().enumerate().filter(|(at, _)| drawn.sizes >> at & 1 == 1);
    let day = |day: u8| Timestamp::from_micros(1_700_000_000_000_000 + i64::from(day) * 86_400_000_000);
    Product {
        vendor: Some(format!("Vendor {}", drawn.vendor)),
        category: drawn.category.map(|at| CategoryId(CATEGORIES[at].0)),
        tags: drawn.tags.iter().map(|tag| format!("tag {tag}")).collect(),
        options: vec![ProductOption {
            name: "Sizes".to_owned(),
            values: sizes.map(|(_, size)| (*size).to_owned()).collect(),
        }],
        attributes: drawn
            .color
            .into_iter()
            .map(|at| Attribute {
                name: "colour".to_owned(),
                values: vec![COLORS[at].to_owned()],
            })
            .collect(),
        variants: vec![variant],
        rating: drawn.stars.map(|(stars, count)| Rating {
            average: f32::from(stars) / 2.0,
            count,
        }),
        published_at: drawn.day.map(day),
        ..kit::product(&facts.brand, id, &format!("Thing {id}"))
    }
}

fn build(previous: Option<&Manifest>, catalogue: &[(BrandFacts, Vec<Product>)], dir: &Path) -> Manifest {
    let options = BuildOptions {
        rows_max: 40,
        ..BuildOptions::default()
    };
    let catalogue: Vec<_> = catalogue
        .iter()
        .map(|(facts, products)| kit::StoreProducts { facts, products })
        .collect();
    kit::build_after(previous, &catalogue, &options, dir)
}

/// A query server, and an SQL session over the release that it serves.
pub(crate) struct Market {
    _dir: tempfile::TempDir,
    router: EdgeRouter,
    tables: ReleaseTables,
}

impl Market {
    /// Serves the second of two releases, in which the old rows of one brand are dead.
    pub(crate) async fn of(products: &[Vec<DrawnProduct>]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files = dir.path().join("files");
        let catalogue = |hash: &str, stores: &[Vec<DrawnProduct>]| -> Vec<(BrandFacts, Vec<Product>)> {
            let stores = stores.iter().enumerate();
            let filled = stores.map(|(store, products)| {
                let facts = facts(store, if store == 0 { hash } else { "same" });
                let products = (1..)
                    .zip(products)
                    .map(|(id, drawn)| product(&facts, id, drawn))
                    .collect();
                (facts, products)
            });
            filled.collect()
        };
        let mut before = products.to_vec();
        before[0].reverse();
        let first = build(None, &catalogue("first", &before), &files);
        let manifest = build(Some(&first), &catalogue("second", products), &files);
        let store = ReleaseStore::new(Storage::memory().child("releases"), SetClock::noon());
        let checks = CheckOptions {
            collapse_confirmed: true,
            ..CheckOptions::default()
        };
        let publication = Publication {
            manifest: &manifest,
            files: &files,
            cache: &dir.path().join("publisher"),
            expected: None,
            checks: &checks,
        };
        store.publish(publication).await.unwrap();
        let local = store.fetch(&manifest, &dir.path().join("cache")).await.unwrap();
        let tables = ReleaseTables::new(&Arc::new(local.open().unwrap())).unwrap();
        let config = QueryConfig::new("INR".parse().unwrap());
        let server = QueryServer::new(store, dir.path().join("cache"), SetClock::noon(), config);
        server.refresh().await.unwrap();
        let router = server.router(None);
        Self {
            _dir: dir,
            router,
            tables,
        }
    }

    /// Returns the `data` of a response.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.answer(path).await["data"].take()
    }

    pub(crate) async fn answer(&self, path: &str) -> Value {
        let request = http::Request::get(path).body(Body::empty()).unwrap();
        let answered = self.router.answer(request).await;
        let status = answered.status();
        let body = answered.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    /// Each row is a list of its columns.
    pub(crate) async fn sql(&self, statement: &str) -> Vec<Vec<Value>> {
        let frame = self
            .tables
            .context()
            .sql(statement)
            .await
            .unwrap_or_else(|error| panic!("{error}: {statement}"));
        let batches = frame
            .collect()
            .await
            .unwrap_or_else(|error| panic!("{error}: {statement}"));
        let mut rows = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                rows.push(batch.columns().iter().map(|column| value(column, row)).collect());
            }
        }
        rows
    }
}

pub(crate) fn value(column: &datafusion::arrow::array::ArrayRef, row: usize) -> Value {
    use datafusion::arrow::array::{Array, AsArray};
    use datafusion::arrow::datatypes::{DataType, Int64Type};
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        other => panic!("no such column is asked for: {other}"),
    }
}
