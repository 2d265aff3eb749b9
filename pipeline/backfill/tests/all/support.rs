//! Set of in-memory stores, their crawls, and a lake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use data_lake::{Lake, LakeConfig};
use data_model::{BrandRefresh, Clock, Product, StoreHost};
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use http::{HeaderMap, StatusCode};
use kit::ShiftedClock;
use object_store::ObjectStoreExt;
use pipeline_backfill::{Backfill, BackfillDeps, BackfillError, BackfillOptions, NoWatch, Range, Stage, backfill};
use pipeline_crawl::{NewBrand, NoProgress, Registry};
use pipeline_refresh::{OtherCrawls, RefreshConfig, RefreshDeps, RunOptions, RunReport, refresh};
use pipeline_task::StoreDeps;
use serde_json::{Value, json};
use storefront::{Storefront, StorefrontConfig, Transport, TransportError, TransportRequest, TransportResponse};
use tokio_util::sync::CancellationToken;

/// Listing of a store: ids with prices.
pub(crate) type ListedPrices = Vec<(u64, &'static str)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Street(Arc<Mutex<BTreeMap<String, ListedPrices>>>);

fn product((id, price): &(u64, &str)) -> Value {
    json!({"id": id, "title": format!("Tea {id}"), "handle": format!("tea-{id}"), "body_html": "<p>Tea.</p>",
        "vendor": "Tea", "product_type": "Tea", "tags": [], "options": [{"name": "Title", "values": ["Default Title"]}],
        "created_at": "2026-01-01T00:00:00Z", "published_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "images": [],
        "variants": [{"id": id * 10, "title": "Default Title", "option1": "Default Title", "price": price,
            "compare_at_price": null, "available": true, "grams": 100, "sku": "", "position": 1}]})
}

#[async_trait]
impl Transport for Street {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let listed = self.0.lock().unwrap().get(&host).cloned().unwrap_or_default();
        let is_first = !request
            .url
            .query_pairs()
            .any(|(name, page)| name == "page" && page != "1");
        let (status, body) = match request.url.path() {
            "/meta.json" => (
                200,
                json!({"id": 1, "name": host, "currency": "INR", "country": "IN"}).to_string(),
            ),
            "/products.json" => {
                let products: Vec<_> = listed.iter().filter(|_| is_first).map(product).collect();
                (200, json!({ "products": products }).to_string())
            }
            _ => (404, String::new()),
        };
        let body = futures::stream::iter([Ok(bytes::Bytes::from(body))]).boxed();
        Ok(TransportResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body,
        })
    }
}

pub(crate) struct Rig {
    pub(crate) street: Street,
    pub(crate) storage: Storage,
    pub(crate) clock: Arc<ShiftedClock>,
    pub(crate) config: RefreshConfig,
}

impl Rig {
    pub(crate) async fn with(shops: &[(&str, ListedPrices)]) -> Self {
        let mut config = RefreshConfig::default();
        (config.crawl.front_page_after_s, config.crawl.policies_after_s) = (0, 0);
        let rig = Self {
            street: Street::default(),
            storage: Storage::memory(),
            clock: ShiftedClock::new(),
            config,
        };
        let mut registry = Registry::load(&rig.storage).await.unwrap();
        for (name, listed) in shops {
            rig.list(name, listed.clone());
            let brand = NewBrand {
                name: Some((*name).to_owned()),
                ..NewBrand::at(format!("http://{name}.localhost").parse().unwrap())
            };
            registry.add(&rig.storage, &[brand], rig.clock.now()).await.unwrap();
        }
        rig
    }

    pub(crate) fn list(&self, name: &str, listed: ListedPrices) {
        self.street
            .0
            .lock()
            .unwrap()
            .insert(format!("{name}.localhost"), listed);
    }

    pub(crate) async fn copied(&self, storage: Storage) -> Self {
        for (path, bytes) in objects(&self.storage).await {
            storage.store().put(&path.as_str().into(), bytes.into()).await.unwrap();
        }
        Self {
            street: self.street.clone(),
            storage,
            clock: Arc::clone(&self.clock),
            config: self.config.clone(),
        }
    }

    pub(crate) fn clock_now(&self) -> data_model::Timestamp {
        self.clock.now()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    pub(crate) async fn lake(&self) -> Lake {
        let config = LakeConfig {
            buckets: 2,
            ..LakeConfig::default()
        };
        Lake::open(self.storage.child("lake"), config, self.clock())
            .await
            .unwrap()
    }

    pub(crate) async fn crawl(&self) -> RunReport {
        self.clock.advance_ms(2_000);
        let config = StorefrontConfig {
            retries_max: 0,
            ..StorefrontConfig::loopback()
        };
        let storefront = Storefront::with_transport(config, self.clock(), Arc::new(self.street.clone())).unwrap();
        let deps = RefreshDeps {
            stores: StoreDeps::new(self.storage.clone(), self.lake().await, storefront, self.clock()),
            others: OtherCrawls::Absent,
            progress: Arc::new(NoProgress),
        };
        Box::pin(refresh(&RunOptions::default(), &self.config, &deps))
            .await
            .unwrap()
    }

    pub(crate) async fn backfill(&self, options: &BackfillOptions) -> Result<Backfill, BackfillError> {
        self.clock.advance_ms(2_000);
        let deps = BackfillDeps {
            storage: self.storage.clone(),
            lake: self.lake().await,
            config: self.config.clone(),
            country: None,
            clock: self.clock(),
            watch: Arc::new(NoWatch),
            cancel: CancellationToken::new(),
        };
        let work = backfill(options, &deps);
        can_be_spawned(&work);
        Box::pin(work).await
    }

    pub(crate) async fn products(&self, name: &str) -> Vec<Product> {
        let snapshot = self.lake().await.snapshot().await.unwrap();
        let stores = BTreeSet::from([store(name)]);
        snapshot.products(&stores).await.unwrap().try_collect().await.unwrap()
    }

    pub(crate) async fn prices(&self, name: &str) -> Vec<(u64, i64)> {
        let products = self.products(name).await;
        let price = |product: &Product| (product.key.platform_id, product.variants[0].price_minor);
        products.iter().map(price).collect()
    }

    pub(crate) async fn history(&self, name: &str) -> usize {
        let snapshot = self.lake().await.snapshot().await.unwrap();
        let history = snapshot.price_history(&BTreeSet::from([store(name)])).await.unwrap();
        history
            .values()
            .flat_map(|history| history.values())
            .map(Vec::len)
            .sum()
    }

    /// Commits changed products of a brand to the lake, as a faulty parser would.
    pub(crate) async fn mistake(&self, name: &str, change: impl FnOnce(&mut Vec<Product>)) {
        let lake = self.lake().await;
        let brands = lake.snapshot().await.unwrap().brands().await.unwrap();
        let row = brands.into_iter().find(|row| row.brand.store == store(name)).unwrap();
        let mut products = self.products(name).await;
        change(&mut products);
        let refresh = BrandRefresh {
            brand: row.brand,
            run: row.refresh_run.clone(),
            read_since: row.refreshed_at,
            observed_at: row.refreshed_at,
            products,
            shipping: None,
            quarantined: Vec::new(),
        };
        let run = data_lake::RunSummaryRow::new(row.refresh_run, self.clock.now());
        lake.commit(vec![refresh], run).await.unwrap();
    }
}

pub(crate) fn store(name: &str) -> StoreHost {
    format!("{name}.localhost").parse().unwrap()
}

/// Options for all brands and all landed crawls.
pub(crate) fn all() -> BackfillOptions {
    BackfillOptions {
        only: None,
        range: Range::default(),
        stage: Stage::Parse,
        older: false,
        accept_collapse: false,
        dry_run: false,
    }
}

pub(crate) async fn objects(storage: &Storage) -> BTreeMap<String, bytes::Bytes> {
    let found: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    let mut objects = BTreeMap::new();
    for meta in found {
        let bytes = storage
            .store()
            .get(&meta.location)
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        objects.insert(meta.location.to_string(), bytes);
    }
    objects
}

/// A program may run a backfill on any of its threads, so that its future must be `Send`.
fn can_be_spawned(_: &impl Send) {}
