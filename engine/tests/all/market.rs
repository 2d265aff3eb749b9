//! Small test market with two currencies. One release serves both REST requests and SQL statements.

use std::sync::Arc;

use api::{EdgeConfig, EdgeRouter, Guard};
use axum::body::Body;
use data_index::{BrandFacts, BuildOptions};
use data_model::{CategoryId, DeliveryRate, Product, ShippingPolicy, Variant};
use data_release::{CheckOptions, Publication, ReleaseStore};
use data_storage::Storage;
use http::Request;
use http_body_util::BodyExt;
use kit::SetClock;
use query_server::{QueryConfig, QueryServer};
use serde_json::{Value, json};
use sql::{Bounds, Door, FixedTables, SqlConfig, SqlEngine, Tables, WorkersWithin};

/// Template of test products: title, category and price. The other fields follow from the product's number and price.
struct Kind {
    title: &'static str,
    category: u32,
    price_minor: i64,
}

const KINDS: [Kind; 8] = [
    kind("Trail Running Shoes", 187, 249_900),
    kind("Road Running Shoes", 187, 349_900),
    kind("Canvas Sneakers", 187, 149_900),
    kind("Linen Shirt", 212, 129_900),
    kind("Cotton Shirt", 212, 89_900),
    kind("Filter Coffee Beans", 1868, 55_000),
    kind("Cold Brew Coffee", 1868, 35_000),
    // A price of 0 means that the product has no price.
    kind("Running Socks", 212, 0),
];

const fn kind(title: &'static str, category: u32, price_minor: i64) -> Kind {
    Kind {
        title,
        category,
        price_minor,
    }
}

const COLORS: [&str; 3] = ["Navy", "White", "Black"];

fn products(facts: &BrandFacts, brand: u64) -> Vec<Product> {
    let all = KINDS.iter().flat_map(|kind| COLORS.map(|color| (kind, color)));
    let made = (1..).zip(all).map(|(id, (kind, color)): (u64, (&Kind, &str))| {
        let price_minor = if kind.price_minor == 0 {
            0
        } else {
            kind.price_minor + i64::try_from(brand * 10_000 + id * 100).unwrap()
        };
        let variant = Variant {
            available: !(id + brand).is_multiple_of(4),
            compare_at_minor: (id.is_multiple_of(3) && price_minor > 0).then_some(price_minor * 2),
            ..kit::variant(id * 10, price_minor)
        };
        Product {
            category: Some(CategoryId(kind.category)),
            vendor: Some(format!("Vendor {}", id % 2)),
            variants: vec![variant],
            ..kit::product(&facts.brand, id, &format!("{} {color}", kind.title))
        }
    });
    made.collect()
}

fn facts(brand: u64) -> BrandFacts {
    let mut made = kit::facts(kit::brand(&format!("Brand {brand}")));
    if brand == 2 {
        made.brand.currency = "USD".parse().unwrap();
    }
    if brand < 2 {
        made.shipping = Some(ShippingPolicy {
            currency: made.brand.currency,
            free_shipping_threshold_minor: Some(100_000 * i64::try_from(brand + 1).unwrap()),
            cod_available: Some(true),
            tiers: vec![DeliveryRate {
                name: "Standard".to_owned(),
                amount_minor: 5_000,
                min_order_minor: None,
                max_order_minor: None,
                days_min: Some(2),
                days_max: Some(4 + u16::try_from(brand).unwrap()),
            }],
            terms: None,
        });
    }
    made
}

pub(crate) struct Market {
    _dir: tempfile::TempDir,
    rest: EdgeRouter,
    sql: EdgeRouter,
}

impl Market {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files = dir.path().join("files");
        let catalogue: Vec<_> = (0..3)
            .map(facts)
            .zip(0..)
            .map(|(facts, brand)| (facts.clone(), products(&facts, brand)))
            .collect();
        let options = BuildOptions {
            embedder: data_embedding::shipped(),
            ..BuildOptions::default()
        };
        let catalogue: Vec<_> = catalogue
            .iter()
            .map(|(facts, products)| kit::StoreProducts { facts, products })
            .collect();
        let manifest = kit::build(&catalogue, &options, &files);
        let store = ReleaseStore::new(Storage::memory().child("releases"), SetClock::noon());
        let publication = Publication {
            manifest: &manifest,
            files: &files,
            cache: &dir.path().join("publisher"),
            expected: None,
            checks: &CheckOptions::default(),
        };
        store.publish(publication).await.unwrap();
        let mut config = QueryConfig::new("INR".parse().unwrap());
        config.reads = Some(Arc::new(engine::EngineReads));
        let server = QueryServer::new(store, dir.path().join("cache"), SetClock::noon(), config);
        server.refresh().await.unwrap();
        let config = SqlConfig {
            timeout_ms: 120_000,
            ..SqlConfig::default()
        };
        let bounds = Bounds::new(&config, dir.path()).unwrap();
        let session = engine::session(&server).unwrap().unwrap();
        let tables = Tables::of(&bounds, "r1", &session, None).await.unwrap();
        let workers = WorkersWithin(Arc::new(FixedTables(tables)));
        let door = Door {
            engine: SqlEngine::new(&config, Arc::new(workers)).unwrap(),
            allowed: None,
            guard: Arc::new(Guard::default()),
            timeout_ms: 120_000,
            origin_policy: None,
        };
        Self {
            _dir: dir,
            rest: server.router(None),
            sql: sql::open_router(door).edge(EdgeConfig {
                timeout_ms: 120_000,
                ..EdgeConfig::default()
            }),
        }
    }

    /// Sends a GET request to the REST API and returns the JSON response.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let request = Request::get(path).body(Body::empty()).unwrap();
        answered(&self.rest, request).await
    }

    /// Runs a statement and returns the whole JSON answer.
    pub(crate) async fn told(&self, statement: &str) -> Value {
        let request = Request::post("/v1/sql")
            .header("content-type", "application/json")
            .body(Body::from(json!({ "sql": statement }).to_string()))
            .unwrap();
        answered(&self.sql, request).await
    }

    pub(crate) async fn rows(&self, statement: &str) -> Vec<Value> {
        let mut told = self.told(statement).await;
        match told["data"].take() {
            Value::Array(rows) => rows,
            _ => panic!("{statement}: {told}"),
        }
    }

    /// Runs a statement that must fail, and returns the error message.
    pub(crate) async fn refusal(&self, statement: &str) -> String {
        let told = self.told(statement).await;
        told["detail"][0]["msg"]
            .as_str()
            .unwrap_or_else(|| panic!("{told}"))
            .to_owned()
    }
}

async fn answered(router: &EdgeRouter, request: Request<Body>) -> Value {
    let answer = router.answer(request).await;
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

pub(crate) fn column<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[name]).collect()
}
