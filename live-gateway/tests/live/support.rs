use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use api::{EdgeConfig, EdgeRouter};
use async_trait::async_trait;
use axum::body::Body;
use data_model::{
    Clock, CurrencyCode, Money, Observation, ProductIdent, ProductKey, ResolvedProducts, StoredBrand, StoredProduct,
    StoredVariant, VariantId,
};
use emulator::{Emulator, EmulatorConfig, RunningStores, Source, StoreAddress};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use live_gateway::{Catalogue, CatalogueError, GatewayConfig, LiveGateway, Observe};
use serde_json::Value;
use storefront::{Storefront, StorefrontConfig};

/// Time at which the snapshot was taken.
pub(crate) const CRAWLED: &str = "2026-11-21T00:00:00Z";

/// Content of the release: brands, and products by their idents.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) brands: Vec<StoredBrand>,
    pub(crate) products: HashMap<ProductIdent, StoredProduct>,
    /// Idents by store, in the store's order.
    pub(crate) by_store: HashMap<String, Vec<ProductIdent>>,
    closed: bool,
}

#[async_trait]
impl Catalogue for Shelf {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError> {
        if self.closed {
            return Err(CatalogueError::NotReady);
        }
        Ok(ResolvedProducts {
            release: "r0123456789abcdef".parse().unwrap(),
            brands: self.brands.clone(),
            products: idents.iter().map(|ident| self.products.get(ident).cloned()).collect(),
        })
    }

    async fn brand(&self, name: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        let is_it = |brand: &&StoredBrand| brand.slug.as_str() == name || brand.domain == name;
        Ok(self.brands.iter().find(is_it).cloned())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Observations(Mutex<Vec<Observation>>);

impl Observe for Observations {
    fn observe(&self, observation: Observation) {
        self.0.lock().unwrap().push(observation);
    }
}

impl Observations {
    pub(crate) fn all(&self) -> Vec<Observation> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) struct Market {
    pub(crate) stores: RunningStores,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) router: EdgeRouter,
    /// Client that the gateway shares with a crawl in the same process.
    pub(crate) storefront: Storefront,
    pub(crate) seen: Arc<Observations>,
}

/// Returns settings with which the gateway waits for stores even on a busy machine.
pub(crate) fn patient() -> GatewayConfig {
    GatewayConfig {
        budget_ms: 60_000,
        ..GatewayConfig::default()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) gateway: GatewayConfig,
    pub(crate) rate_per_s: Option<f64>,
    pub(crate) timeout_ms: Option<u64>,
    /// True if there is no release.
    pub(crate) closed: bool,
    /// True if the second store responds at the first store's address after the crawl.
    pub(crate) replaced: bool,
    /// True if the crawl saw only incomplete lists of variants.
    pub(crate) cut: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gateway: patient(),
            rate_per_s: None,
            timeout_ms: None,
            closed: false,
            replaced: false,
            cut: false,
        }
    }
}

pub(crate) fn generated(products: u64, stores: u32) -> EmulatorConfig {
    EmulatorConfig::new(Source::Generated {
        products,
        stores,
        seed: 7,
    })
}

/// Returns the recorded stores. Prints a line and returns `None` if they are absent.
pub(crate) fn recorded() -> Option<EmulatorConfig> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/recorded"));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    Some(EmulatorConfig::new(Source::Recorded(folder)))
}

impl Market {
    pub(crate) async fn open(config: EmulatorConfig, options: Options) -> Self {
        let stores = Emulator::start(config).await.unwrap();
        let mut shelf = Shelf {
            closed: options.closed,
            ..Shelf::default()
        };
        for store in stores.stores() {
            shelf.crawl(&store).await;
        }
        for stored in shelf.products.values_mut() {
            stored.variants_complete = !options.cut;
        }
        if options.replaced {
            shelf.brands[0].base_url = shelf.brands[1].base_url.clone();
        }
        let shelf = Arc::new(shelf);
        let rate = options.rate_per_s.unwrap_or(f64::INFINITY);
        let storefront = StorefrontConfig {
            allow_loopback: true,
            rate_start_per_s: rate,
            rate_max_per_s: rate,
            request_timeout_ms: options.timeout_ms.unwrap_or(600_000),
            // The gateway's time budget ends calls, not the client's timeout.
            interactive_timeout_ms: 600_000,
            ..StorefrontConfig::default()
        };
        let clock: Arc<dyn Clock> = kit::SetClock::noon();
        let storefront = Storefront::new(storefront, Arc::clone(&clock)).unwrap();
        let seen = Arc::new(Observations::default());
        let catalogue = Arc::clone(&shelf) as Arc<dyn Catalogue>;
        let observer = Arc::clone(&seen) as Arc<dyn Observe>;
        let gateway = LiveGateway::new(catalogue, storefront.clone(), clock, observer, options.gateway);
        let edge = EdgeConfig {
            timeout_ms: 120_000,
            ..EdgeConfig::default()
        };
        let router = gateway.router(edge, None);
        Self {
            stores,
            shelf,
            router,
            storefront,
            seen,
        }
    }

    pub(crate) fn idents(&self, store: usize) -> &[ProductIdent] {
        let stores = self.stores.stores();
        &self.shelf.by_store[&stores[store].slug]
    }

    pub(crate) fn slug(&self, store: usize) -> String {
        self.stores.stores()[store].slug.clone()
    }

    pub(crate) fn stored(&self, ident: &ProductIdent) -> &StoredProduct {
        &self.shelf.products[ident]
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> (StatusCode, Value) {
        let request = Request::post(path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub(crate) async fn price(&self, ident: &ProductIdent) -> Value {
        let (status, body) = self.get(&format!("/v1/products/{ident}/price")).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    pub(crate) async fn prices(&self, idents: &[ProductIdent]) -> Vec<Value> {
        let idents: Vec<String> = idents.iter().map(ToString::to_string).collect();
        let (status, body) = self
            .post("/v1/prices", &serde_json::json!({ "idents": idents }).to_string())
            .await;
        assert_eq!(status, 200, "{body}");
        body["data"].as_array().unwrap().clone()
    }

    async fn send(&self, mut request: Request<Body>) -> (StatusCode, Value) {
        request.headers_mut().insert("host", "market.example".parse().unwrap());
        let response = self.router.clone().answer(request).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }
}

impl Shelf {
    /// Reads the lists of a store, as a crawl does.
    pub(crate) async fn crawl(&mut self, store: &StoreAddress) {
        let currency: CurrencyCode = store.currency.parse().unwrap();
        let brand = self.brands.len();
        self.brands.push(StoredBrand {
            store: store.myshopify_domain.parse().unwrap(),
            slug: data_model::slugify(&store.slug).unwrap(),
            name: store.name.clone(),
            domain: store.domain.clone(),
            base_url: store.base_url.clone(),
            currency,
            crawl_country: None,
            refreshed_at: CRAWLED.parse().unwrap(),
        });
        for page in 1.. {
            let url = format!("{}/products.json?limit=250&page={page}", store.base_url);
            let listed = reqwest::get(url).await.unwrap().bytes().await.unwrap();
            let listed: Value = serde_json::from_slice(&listed).unwrap();
            let listed = listed["products"].as_array().unwrap().clone();
            if listed.is_empty() {
                break;
            }
            for product in listed {
                self.put(brand, store, currency, &product);
            }
        }
    }

    fn put(&mut self, brand: usize, store: &StoreAddress, currency: CurrencyCode, product: &Value) {
        let key = ProductKey {
            store: self.brands[brand].store.clone(),
            platform_id: product["id"].as_u64().unwrap(),
        };
        let minor = |text: &str| Money::parse_decimal(text, currency).unwrap().minor();
        let variants = product["variants"].as_array().unwrap().iter().map(|variant| {
            let price_minor = minor(variant["price"].as_str().unwrap());
            let title = variant["title"].as_str().unwrap_or_default();
            let sku = variant["sku"].as_str().map(str::trim).filter(|sku| !sku.is_empty());
            StoredVariant {
                id: VariantId(variant["id"].as_u64().unwrap()),
                title: Some(title)
                    .filter(|title| *title != "Default Title")
                    .unwrap_or_default()
                    .to_owned(),
                sku: sku.map(str::to_owned),
                price_minor,
                compare_at_minor: variant["compare_at_price"]
                    .as_str()
                    .map(minor)
                    .filter(|list| *list > price_minor),
                available: variant["available"].as_bool().unwrap(),
            }
        });
        let stored = StoredProduct {
            id: key.id(),
            product_uid: key.uid(),
            platform_id: key.platform_id,
            brand,
            handle: product["handle"].as_str().unwrap().to_owned(),
            title: product["title"].as_str().unwrap().to_owned(),
            description: String::new(),
            currency,
            variants_complete: true,
            variants: variants.collect(),
        };
        self.products.insert(ProductIdent::Uid(key.uid()), stored.clone());
        self.products.insert(ProductIdent::Id(key.id()), stored);
        let idents = self.by_store.entry(store.slug.clone()).or_default();
        idents.push(ProductIdent::Id(key.id()));
    }
}

/// Returns each variant of an entry: id, price, list price, availability.
pub(crate) fn offers(entry: &Value) -> Vec<(String, i64, Option<i64>, bool)> {
    let variants = entry["variants"].as_array().unwrap().iter();
    variants
        .map(|variant| {
            (
                variant["variant_id"].as_str().unwrap().to_owned(),
                variant["amount_minor"].as_i64().unwrap(),
                variant["compare_at_minor"].as_i64(),
                variant["available"].as_bool().unwrap(),
            )
        })
        .collect()
}

/// Returns the stored variants in the same form as `offers`.
pub(crate) fn stored_offers(stored: &StoredProduct) -> Vec<(String, i64, Option<i64>, bool)> {
    let variants = stored.variants.iter();
    variants
        .map(|one| (one.id.to_string(), one.price_minor, one.compare_at_minor, one.available))
        .collect()
}
