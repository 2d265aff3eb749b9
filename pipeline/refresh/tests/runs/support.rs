//! Stores in memory, and a lake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use data_lake::{Lake, LakeConfig};
use data_model::{BrandSlug, Clock, Product, RunId, Timestamp};
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use http::{HeaderMap, HeaderValue, StatusCode};
use kit::ShiftedClock;
use pipeline_crawl::{NewBrand, NoProgress, Progress, Registry};
use pipeline_refresh::{
    OtherCrawls, RefreshConfig, RefreshDeps, RefreshError, RunOptions, RunReport, list_runs, read_run, refresh,
};
use pipeline_task::StoreDeps;
use serde_json::{Value, json};
use storefront::{
    StoreRights, Storefront, StorefrontConfig, Transport, TransportError, TransportRequest, TransportResponse,
};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Responds with this status and body.
    Answer(u16, String),
    /// Does not respond while this fault is set.
    Hang,
}

#[derive(Debug, Default)]
pub(crate) struct Shop {
    pub(crate) pages: Vec<String>,
    /// Bodies of the product pages, by handle.
    pub(crate) html: BTreeMap<String, String>,
    pub(crate) front: Option<String>,
    /// Stated category path of each product. With `None`, the store does not respond to GraphQL.
    pub(crate) categories: Option<BTreeMap<u64, &'static str>>,
    /// Number of variants by product; without them it answers no GraphQL about variants.
    pub(crate) variants: BTreeMap<u64, usize>,
    pub(crate) currency: Option<&'static str>,
    /// Currency in the cookie of the pages.
    pub(crate) money: Option<&'static str>,
    /// Name of the store, if it differs from the host.
    pub(crate) name: Option<&'static str>,
    /// Permanent host and product count that the store states.
    pub(crate) states: (Option<&'static str>, Option<u64>),
    /// Faults, by a part of the path and query. `/` is the front page alone.
    pub(crate) faults: BTreeMap<String, Fault>,
    /// Delay of every response.
    pub(crate) delay: Duration,
    /// Path and page of each request, with the status appended.
    pub(crate) asked: Vec<String>,
}

impl Shop {
    pub(crate) fn of(ids: impl IntoIterator<Item = u64>) -> Self {
        let mut shop = Self {
            currency: Some("INR"),
            ..Self::default()
        };
        shop.list(ids.into_iter().map(|id| product(id, "499.00")));
        shop
    }

    /// Lists three products per page.
    pub(crate) fn list(&mut self, products: impl IntoIterator<Item = Value>) {
        let products: Vec<_> = products.into_iter().collect();
        self.pages = products
            .chunks(3)
            .map(|page| json!({ "products": page }).to_string())
            .collect();
    }

    /// Returns the categories of the products in a GraphQL request.
    fn stated(&self, body: &[u8]) -> Option<(u16, String)> {
        let categories = self.categories.as_ref()?;
        let body: Value = serde_json::from_slice(body).ok()?;
        let node = |id: &Value| {
            let product: u64 = id.as_str()?.rsplit('/').next()?.parse().ok()?;
            let path = categories.get(&product)?.rsplit(" > ");
            let mut names: Vec<Value> = path.map(|name| json!({ "name": name })).collect();
            let ancestors = names.split_off(1);
            Some(json!({ "id": id, "category": { "name": names[0]["name"], "ancestors": ancestors } }))
        };
        let nodes: Vec<_> = body["variables"]["ids"].as_array()?.iter().map(node).collect();
        Some((200, json!({ "data": { "nodes": nodes } }).to_string()))
    }

    /// Answers a GraphQL request for the last variants of a product.
    fn last_variants(&self, body: &[u8]) -> Option<(u16, String)> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let product: u64 = body["variables"]["id"].as_str()?.rsplit('/').next()?.parse().ok()?;
        let count = *self.variants.get(&product)?;
        let end = body["variables"]["after"]
            .as_str()
            .map_or(count, |after| after.parse().unwrap());
        let start = end.saturating_sub(250);
        let node = |nth: usize| {
            let variant = variant(product, nth);
            json!({ "id": format!("gid://shopify/ProductVariant/{}", variant["id"]), "title": variant["title"],
                "sku": null, "barcode": null, "availableForSale": true, "weight": 0.5, "weightUnit": "KILOGRAMS",
                "selectedOptions": [{ "value": variant["option1"] }], "compareAtPrice": null,
                "price": { "amount": "499.0", "currencyCode": self.currency } })
        };
        let nodes: Vec<_> = (start..end).rev().map(node).collect();
        let page_info = json!({ "hasNextPage": start > 0, "endCursor": start.to_string() });
        let variants = json!({ "nodes": nodes, "pageInfo": page_info });
        let product = json!({ "variantsCount": { "count": count }, "variants": variants });
        Some((200, json!({ "data": { "product": product } }).to_string()))
    }

    fn reply(&self, host: &str, path: &str, page: usize) -> Option<(u16, String)> {
        Some(match path {
            "/robots.txt" => (404, String::new()),
            "/" => (200, self.front.clone()?),
            "/meta.json" => {
                let name = self.name.unwrap_or(host.trim_end_matches(".localhost"));
                // A different permanent host or id identifies a different store.
                let id: u64 = self.states.0.unwrap_or(host).bytes().map(u64::from).sum();
                (
                    200,
                    json!({"id": id, "name": name, "currency": self.currency, "country": "IN",
                        "myshopify_domain": self.states.0, "published_products_count": self.states.1})
                    .to_string(),
                )
            }
            "/products.json" => (
                200,
                self.pages
                    .get(page - 1)
                    .cloned()
                    .unwrap_or_else(|| r#"{"products":[]}"#.into()),
            ),
            _ => (200, self.html.get(path.strip_prefix("/products/")?)?.clone()),
        })
    }
}

pub(crate) fn product(id: u64, price: &str) -> Value {
    json!({"id": id, "title": format!("Tea {id}"), "handle": format!("tea-{id}"), "body_html": "<p>Tea.</p>",
        "vendor": "Tea", "product_type": "Tea", "tags": ["tea"], "options": [{"name": "Title", "values": ["Default Title"]}],
        "created_at": "2026-01-01T00:00:00Z", "published_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "images": [],
        "variants": [{"id": id * 10, "title": "Default Title", "option1": "Default Title", "price": price,
            "compare_at_price": null, "available": true, "grams": 100, "sku": "", "position": 1}]})
}

/// Returns a product with this number of variants, of which a listing has the first 250.
pub(crate) fn product_of(id: u64, variants: usize) -> Value {
    let mut product = product(id, "499.00");
    let values: Vec<_> = (0..variants).map(|nth| nth.to_string()).collect();
    product["options"] = json!([{ "name": "Blend", "values": values }]);
    product["variants"] = (0..variants.min(250)).map(|nth| variant(id, nth)).collect();
    product
}

fn variant(product: u64, nth: usize) -> Value {
    let (id, name) = (product * 10_000 + nth as u64, nth.to_string());
    json!({"id": id, "title": name, "option1": name, "price": "499.00", "compare_at_price": null, "available": false,
        "grams": 500, "sku": null, "position": nth + 1})
}

/// HTTP transport to all stores, by host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Street(Arc<Mutex<BTreeMap<String, Shop>>>);

impl Street {
    pub(crate) fn open(&self, name: &str, shop: Shop) {
        self.0.lock().unwrap().insert(format!("{name}.localhost"), shop);
    }

    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Shop)) {
        change(self.0.lock().unwrap().get_mut(&format!("{name}.localhost")).unwrap());
    }

    pub(crate) fn fault(&self, name: &str, part: &str, fault: Fault) {
        self.change(name, |shop| drop(shop.faults.insert(part.to_owned(), fault)));
    }

    /// Returns the requests to all stores since the last call, without `robots.txt` and `meta.json`.
    pub(crate) fn take_asked(&self) -> Vec<String> {
        let mut asked = Vec::new();
        for (host, shop) in self.0.lock().unwrap().iter_mut() {
            let name = host.trim_end_matches(".localhost");
            asked.extend(
                std::mem::take(&mut shop.asked)
                    .iter()
                    .map(|path| format!("{name}{path}")),
            );
        }
        asked.retain(|asked| !asked.contains("/robots") && !asked.contains("/meta"));
        asked
    }

    /// Returns true if this store received a request that it never responds to.
    pub(crate) fn hangs(&self, name: &str) -> bool {
        let shops = self.0.lock().unwrap();
        let shop = shops.get(&format!("{name}.localhost"));
        shop.is_some_and(|shop| shop.asked.iter().any(|asked| asked.ends_with(" hang")))
    }

    fn delay(&self, request: &TransportRequest) -> Duration {
        let shops = self.0.lock().unwrap();
        let shop = shops.get(request.url.host_str().unwrap_or_default());
        shop.map_or(Duration::ZERO, |shop| shop.delay)
    }

    fn answer(&self, request: &TransportRequest) -> Option<(u16, String, Option<String>, Option<&'static str>)> {
        let (host, path) = (
            request.url.host_str().unwrap_or_default().to_owned(),
            request.url.path().to_owned(),
        );
        let page = request
            .url
            .query_pairs()
            .find(|(name, _)| name == "page")
            .and_then(|(_, page)| page.parse().ok());
        let short = page.map_or_else(|| path.clone(), |page: usize| format!("{path}?page={page}"));
        let mut shops = self.0.lock().unwrap();
        let shop = shops.get_mut(&host)?;
        let fault = shop
            .faults
            .iter()
            .find(|(part, _)| {
                if *part == "/" {
                    short == "/"
                } else {
                    short.contains(part.as_str())
                }
            })
            .map(|(_, fault)| fault.clone());
        let (status, body, etag) = match fault {
            Some(Fault::Hang) => {
                let asked = format!("{short} hang");
                if !shop.asked.contains(&asked) {
                    shop.asked.push(asked);
                }
                return None;
            }
            Some(Fault::Answer(status, body)) => (status, body, None),
            None => {
                let reply = match path.ends_with("/graphql.json") {
                    true => shop.stated(&request.body).or_else(|| shop.last_variants(&request.body)),
                    false => shop.reply(&host, &path, page.unwrap_or(1)),
                };
                let (status, body) = reply.unwrap_or_else(|| (404, "no such page".to_owned()));
                let etag = (status == 200).then(|| format!("\"{:x}\"", fnv(body.as_bytes())));
                (status, body, etag)
            }
        };
        let given = request
            .headers
            .get("if-none-match")
            .and_then(|given| given.to_str().ok());
        let (status, body) = if etag.is_some() && given == etag.as_deref() {
            (304, String::new())
        } else {
            (status, body)
        };
        shop.asked.push(format!("{short} {status}"));
        Some((status, body, etag, shop.money))
    }
}

#[async_trait]
impl Transport for Street {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let delay = self.delay(&request);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let (status, body, etag, money) = loop {
            match self.answer(&request) {
                Some(answer) => break answer,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let mut headers = HeaderMap::new();
        if let Some(money) = money {
            headers.insert(
                "set-cookie",
                HeaderValue::from_str(&format!("cart_currency={money}; path=/")).unwrap(),
            );
        }
        if let Some(etag) = etag {
            headers.insert("etag", HeaderValue::from_str(&etag).unwrap());
        }
        let body = futures::stream::iter([Ok(bytes::Bytes::from(body))]).boxed();
        Ok(TransportResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body,
        })
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The lake has few buckets because tests write little.
pub(crate) async fn lake(storage: &Storage, clock: Arc<dyn Clock>) -> Lake {
    let config = LakeConfig {
        buckets: 2,
        ..LakeConfig::default()
    };
    Lake::open(storage.child("lake"), config, clock).await.unwrap()
}

pub(crate) struct Rig {
    pub(crate) street: Street,
    pub(crate) storage: Storage,
    pub(crate) clock: Arc<ShiftedClock>,
    pub(crate) config: RefreshConfig,
    pub(crate) cancel: CancellationToken,
    pub(crate) others: OtherCrawls,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) rights: Option<Arc<dyn StoreRights>>,
    /// Country whose prices are requested from the stores.
    pub(crate) country: Option<&'static str>,
}

impl Rig {
    /// Starts and registers these stores.
    pub(crate) async fn with<const N: usize>(shops: [(&str, Shop); N]) -> Self {
        Self::on(Storage::memory(), shops).await
    }

    pub(crate) async fn on<const N: usize>(storage: Storage, shops: [(&str, Shop); N]) -> Self {
        let mut config = RefreshConfig {
            tick_ms: 50,
            ..RefreshConfig::default()
        };
        config.crawl.page_limit = 3;
        // Only the tests about stated categories request them.
        config.category_requests_max = 0;
        // Only the tests about discount codes request the pages with codes.
        (config.crawl.front_page_after_s, config.crawl.policies_after_s) = (0, 0);
        let rig = Self {
            street: Street::default(),
            storage,
            clock: ShiftedClock::new(),
            config,
            cancel: CancellationToken::new(),
            others: OtherCrawls::Absent,
            progress: Arc::new(NoProgress),
            rights: None,
            country: Some("IN"),
        };
        for (name, shop) in shops {
            rig.street.open(name, shop);
            rig.register(name).await;
        }
        rig
    }

    pub(crate) async fn register(&self, name: &str) {
        let mut registry = Registry::load(&self.storage).await.unwrap();
        let brand = NewBrand {
            name: Some(name.to_owned()),
            ..NewBrand::at(format!("http://{name}.localhost").parse().unwrap())
        };
        registry.add(&self.storage, &[brand], self.clock.now()).await.unwrap();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn later(&self, ms: i64) {
        self.clock.advance_ms(ms);
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    pub(crate) async fn lake(&self) -> Lake {
        lake(&self.storage, self.clock()).await
    }

    pub(crate) async fn run(&self) -> RunReport {
        self.run_with(&RunOptions::default()).await.unwrap()
    }

    pub(crate) async fn run_with(&self, options: &RunOptions) -> Result<RunReport, RefreshError> {
        // The seconds in run ids keep the runs in order.
        self.later(1000);
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let config = StorefrontConfig {
            retries_max: 0,
            country: self.country.map(str::to_owned),
            ..StorefrontConfig::loopback()
        };
        let storefront = Storefront::with_transport(config, Arc::clone(&clock), Arc::new(self.street.clone())).unwrap();
        let deps = RefreshDeps {
            stores: StoreDeps {
                rights: self.rights.clone(),
                cancel: self.cancel.clone(),
                ..StoreDeps::new(self.storage.clone(), self.lake().await, storefront, clock)
            },
            others: self.others,
            progress: Arc::clone(&self.progress),
        };
        let run = refresh(options, &self.config, &deps);
        can_be_spawned(&run);
        run.await
    }

    /// Runs until this store has received a request that it never responds to, and the ledger contains the stores in
    /// `through`. The run is then dropped, as in a killed process. Returns its id.
    pub(crate) async fn killed_at(&self, hangs: &str, through: &[&str]) -> RunId {
        let before = list_runs(&self.storage).await.unwrap();
        let is_there = async || {
            let newest = list_runs(&self.storage).await.unwrap().into_iter().next();
            let newest = newest.filter(|run| !before.contains(run))?;
            let noted = read_run(&self.storage, &newest).await.unwrap()?;
            let has = |name: &&str| noted.stores.iter().any(|store| store.slug.as_str() == *name);
            (self.street.hangs(hangs) && through.iter().all(has)).then_some(newest)
        };
        let left = async {
            loop {
                if let Some(run) = is_there().await {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let options = RunOptions::default();
        tokio::select! {
            ended = self.run_with(&options) => panic!("the run ended: {ended:?}"),
            run = left => run,
        }
    }

    pub(crate) async fn versions(&self) -> BTreeMap<String, u64> {
        self.lake().await.snapshot().await.unwrap().versions().clone()
    }

    pub(crate) async fn products(&self, name: &str) -> Vec<Product> {
        let snapshot = self.lake().await.snapshot().await.unwrap();
        let stores = BTreeSet::from([format!("{name}.localhost").parse().unwrap()]);
        snapshot.products(&stores).await.unwrap().try_collect().await.unwrap()
    }

    pub(crate) async fn ids(&self, name: &str) -> Vec<u64> {
        self.products(name)
            .await
            .iter()
            .map(|product| product.key.platform_id)
            .collect()
    }

    /// Returns the sizes of all objects outside of the lake, by path.
    pub(crate) async fn objects(&self) -> Vec<String> {
        let found = self.storage.store().list(None);
        let mut paths: Vec<_> = found.map(|meta| meta.unwrap().location.to_string()).collect().await;
        paths.retain(|path| !path.starts_with("lake/"));
        paths.sort();
        paths
    }
}

/// Returns outcomes such as `tea changed`.
pub(crate) fn outcomes(report: &RunReport) -> Vec<String> {
    report
        .stores
        .iter()
        .map(|store| format!("{} {}", store.slug, store.outcome))
        .collect()
}

pub(crate) fn slug(name: &str) -> BrandSlug {
    name.parse().unwrap()
}

/// A program may run a refresh on any of its threads, so that its future must be `Send`.
fn can_be_spawned(_: &impl Send) {}
