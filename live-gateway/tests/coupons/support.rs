use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::{EdgeConfig, EdgeRouter};
use async_trait::async_trait;
use axum::body::Body;
use data_model::{
    Clock, CodePlace, Money, ProductIdent, ProductKey, ReleaseId, ResolvedProducts, StatedCode, StoreHost, StoredBrand,
    StoredProduct, StoredShop, StoredVariant, TestedCode, VariantId,
};
use emulator::{BasketLine, DiscountRule, Emulator, EmulatorConfig, RunningStores, Source, StoreAddress};
use futures::StreamExt;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use live_gateway::coupons::{CouponsConfig, Finder, FinderDeps, ShopKey, Shops, TestLedger};
use live_gateway::{Catalogue, CatalogueError};
use serde_json::Value;
use state::{State, StateTarget};
use storefront::{Storefront, StorefrontConfig};

/// Stores as a crawl found them and a release would contain them.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    shops: Vec<StoredShop>,
    /// Index of the product's shop, and the product, by ident.
    products: HashMap<ProductIdent, (usize, StoredProduct)>,
    /// Product descriptions of the stores that changed after the crawl.
    pub(crate) described: std::sync::Mutex<HashMap<ProductIdent, String>>,
}

fn release() -> ReleaseId {
    "r0123456789abcdef".parse().unwrap()
}

#[async_trait]
impl Catalogue for Shelf {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError> {
        Ok(ResolvedProducts {
            release: release(),
            brands: self.shops.iter().map(|shop| shop.brand.clone()).collect(),
            products: idents
                .iter()
                .map(|ident| {
                    let (shop, product) = self.products.get(ident)?;
                    let described = self.described.lock().unwrap().get(ident).cloned();
                    Some(StoredProduct {
                        brand: *shop,
                        description: described.unwrap_or_else(|| product.description.clone()),
                        ..product.clone()
                    })
                })
                .collect(),
        })
    }
}

#[async_trait]
impl Shops for Shelf {
    async fn shop(&self, key: &ShopKey) -> Result<Option<StoredShop>, CatalogueError> {
        let is_it = |shop: &&StoredShop| match key {
            ShopKey::Slug(slug) => shop.brand.slug == *slug,
            ShopKey::Domain(domain) => shop.brand.domain.eq_ignore_ascii_case(domain),
        };
        Ok(self.shops.iter().find(is_it).cloned())
    }
}

/// Stored tests in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Ledger(std::sync::Mutex<Vec<(StoreHost, TestedCode)>>);

#[async_trait]
impl TestLedger for Ledger {
    async fn keep(&self, store: &StoreHost, tests: Vec<TestedCode>) {
        let tests = tests.into_iter().map(|test| (store.clone(), test));
        self.0.lock().unwrap().extend(tests);
    }
}

impl Ledger {
    pub(crate) fn tests(&self) -> Vec<(StoreHost, TestedCode)> {
        self.0.lock().unwrap().clone()
    }
}

/// Emulated stores, their crawled data, and a finder that tests codes there.
pub(crate) struct Street {
    pub(crate) stores: Arc<RunningStores>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) clock: Arc<kit::SetClock>,
    pub(crate) state: State,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) finder: Finder,
    router: EdgeRouter,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) coupons: CouponsConfig,
    pub(crate) rate_per_s: Option<f64>,
    pub(crate) state: Option<StateTarget>,
    /// Latency of each response of a store, in milliseconds.
    pub(crate) latency_ms: u64,
}

impl Street {
    /// Starts the given number of stores, whose products and discounts are derived from their seeds.
    pub(crate) async fn open(stores: u32, options: Options) -> Self {
        Self::ruled(stores, |_| None, options).await
    }

    /// Starts stores like `open`. A store for which `rules` returns discounts has only those discounts.
    pub(crate) async fn ruled(
        stores: u32,
        rules: impl Fn(usize) -> Option<Vec<DiscountRule>>,
        options: Options,
    ) -> Self {
        let source = Source::Generated {
            products: u64::from(stores) * 6,
            stores,
            seed: 7,
        };
        let emulated = EmulatorConfig {
            latency: Duration::from_millis(options.latency_ms),
            ..EmulatorConfig::new(source)
        };
        let stores = Arc::new(Emulator::start(emulated).await.unwrap());
        for (at, store) in stores.stores().iter().enumerate() {
            if let Some(rules) = rules(at) {
                stores.set_discounts(&store.slug, rules).unwrap();
            }
        }
        let addresses = stores.stores();
        let crawled = futures::stream::iter(addresses.iter().map(crawl)).buffered(8);
        let crawled: Vec<(StoredShop, Vec<StoredProduct>)> = crawled.collect().await;
        let mut shelf = Shelf::default();
        for (at, (shop, products)) in crawled.into_iter().enumerate() {
            shelf.shops.push(shop);
            for product in products {
                shelf.products.insert(ProductIdent::Id(product.id), (at, product));
            }
        }
        let state = options.state.unwrap_or(StateTarget::Memory);
        let state = State::open(&state).await.unwrap();
        let (shelf, clock) = (Arc::new(shelf), kit::SetClock::noon());
        let ledger = Arc::<Ledger>::default();
        let kept = (state.clone(), Arc::clone(&ledger));
        let finder = finder(&shelf, &clock, kept, (options.coupons, options.rate_per_s));
        Self {
            router: finder.open_router().edge(EdgeConfig::default()),
            stores,
            shelf,
            clock,
            state,
            ledger,
            finder,
        }
    }

    /// Starts another server over the same stores and state. The server has nothing in its memory.
    pub(crate) fn another(&self, coupons: CouponsConfig) -> Self {
        let kept = (self.state.clone(), Arc::clone(&self.ledger));
        let finder = finder(&self.shelf, &self.clock, kept, (coupons, None));
        Self {
            router: finder.open_router().edge(EdgeConfig::default()),
            stores: Arc::clone(&self.stores),
            shelf: Arc::clone(&self.shelf),
            clock: Arc::clone(&self.clock),
            state: self.state.clone(),
            ledger: Arc::clone(&self.ledger),
            finder,
        }
    }

    pub(crate) fn slug(&self, store: usize) -> String {
        self.stores.stores()[store].slug.clone()
    }

    pub(crate) fn brand(&self, store: usize) -> &StoredBrand {
        &self.shelf.shops[store].brand
    }

    pub(crate) fn shop(&self, store: usize) -> &StoredShop {
        &self.shelf.shops[store]
    }

    /// Returns the number of cart calls to a store so far.
    pub(crate) fn calls(&self, store: usize) -> u64 {
        let calls = self.stores.calls(&self.slug(store)).unwrap();
        calls
            .iter()
            .filter(|(name, _)| name.starts_with("cart"))
            .map(|(_, count)| count)
            .sum()
    }

    pub(crate) async fn get(&self, query: &str) -> (StatusCode, Value) {
        let request = Request::get(format!("/v1/coupons?{query}"))
            .header("host", "market.example")
            .body(Body::empty())
            .unwrap();
        let response = self.router.clone().answer(request).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub(crate) async fn find(&self, store: usize, candidates_max: u8) -> Value {
        let slug = self.brand(store).slug.to_string();
        let (status, body) = self.get(&format!("brand={slug}&max_candidates={candidates_max}")).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Returns all codes of the store that apply alone to one unit of a variant, with their discounts. Tests compare
    /// results with this list.
    pub(crate) fn truth(&self, store: usize, variant: u64) -> HashMap<String, i64> {
        let slug = self.slug(store);
        let rules = self.stores.discounts(&slug).unwrap();
        let one = BasketLine { variant, quantity: 1 };
        let mut works = HashMap::new();
        for code in rules.iter().filter_map(|rule| rule.code.as_deref()) {
            let truth = self.stores.truth(&slug, &[one], [code]).unwrap();
            if truth.codes[0].applicable {
                let minor = i64::try_from(truth.codes[0].discount_minor).unwrap();
                works.insert(code.to_ascii_uppercase(), minor);
            }
        }
        works
    }
}

fn finder(
    shelf: &Arc<Shelf>,
    clock: &Arc<kit::SetClock>,
    (state, ledger): (State, Arc<Ledger>),
    (coupons, rate_per_s): (CouponsConfig, Option<f64>),
) -> Finder {
    let rate = rate_per_s.unwrap_or(f64::INFINITY);
    let storefront = StorefrontConfig {
        allow_loopback: true,
        rate_start_per_s: rate,
        rate_max_per_s: rate,
        retries_max: 0,
        ..StorefrontConfig::default()
    };
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let deps = FinderDeps {
        catalogue: Arc::clone(shelf) as Arc<dyn Catalogue>,
        shops: Arc::clone(shelf) as Arc<dyn Shops>,
        storefront: Storefront::new(storefront, Arc::clone(&clock)).unwrap(),
        state,
        ledger: Some(ledger),
        clock,
    };
    Finder::new(deps, coupons)
}

async fn fetched(url: String) -> String {
    reqwest::get(url).await.unwrap().text().await.unwrap()
}

/// Reads the lists and texts of a store, as a crawl does.
async fn crawl(store: &StoreAddress) -> (StoredShop, Vec<StoredProduct>) {
    let listed = fetched(format!("{}/products.json?limit=250", store.base_url)).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let brand = StoredBrand {
        store: store.myshopify_domain.parse().unwrap(),
        slug: data_model::slugify(&store.slug).unwrap(),
        name: store.name.clone(),
        domain: store.domain.clone(),
        base_url: store.base_url.clone(),
        currency: store.currency.parse().unwrap(),
        crawl_country: None,
        refreshed_at: "2026-11-21T00:00:00Z".parse().unwrap(),
    };
    let listed = listed["products"].as_array().unwrap().iter();
    let products: Vec<StoredProduct> = listed.map(|product| stored(&brand, product)).collect();
    let places = [
        (CodePlace::FrontPage, "/"),
        (CodePlace::Policy, "/policies/shipping-policy"),
    ];
    let mut codes = Vec::new();
    for (place, path) in places {
        let page = fetched(format!("{}{path}", store.base_url)).await;
        let stated = pipeline_parse::stated_codes(&page).into_iter();
        codes.extend(stated.map(|found| StatedCode {
            code: found.code,
            place,
            plainness: found.plainness,
        }));
    }
    let mut samples: Vec<StoredProduct> = products
        .iter()
        .filter(|product| product.variants.iter().any(|variant| variant.available))
        .cloned()
        .collect();
    samples.sort_by_key(|product| std::cmp::Reverse(product.variants[0].price_minor));
    samples.truncate(4);
    let shop = StoredShop {
        release: release(),
        brand,
        codes,
        samples,
    };
    (shop, products)
}

fn stored(brand: &StoredBrand, product: &Value) -> StoredProduct {
    let key = ProductKey {
        store: brand.store.clone(),
        platform_id: product["id"].as_u64().unwrap(),
    };
    let minor = |text: &str| Money::parse_decimal(text, brand.currency).unwrap().minor();
    let variants = product["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variant| StoredVariant {
            id: VariantId(variant["id"].as_u64().unwrap()),
            title: String::new(),
            sku: None,
            price_minor: minor(variant["price"].as_str().unwrap()),
            compare_at_minor: None,
            available: variant["available"].as_bool().unwrap(),
        });
    StoredProduct {
        id: key.id(),
        product_uid: key.uid(),
        platform_id: key.platform_id,
        brand: 0,
        handle: product["handle"].as_str().unwrap().to_owned(),
        title: product["title"].as_str().unwrap().to_owned(),
        description: product["body_html"].as_str().unwrap_or_default().to_owned(),
        currency: brand.currency,
        variants_complete: true,
        variants: variants.collect(),
    }
}

/// Returns the codes in a response with their discounts.
pub(crate) fn coupons(body: &Value) -> Vec<(String, i64)> {
    let coupons = body["data"]["coupons"].as_array().unwrap().iter();
    coupons
        .map(|coupon| {
            (
                coupon["code"].as_str().unwrap().to_owned(),
                coupon["discount_minor"].as_i64().unwrap(),
            )
        })
        .collect()
}

pub(crate) fn reasons(body: &Value) -> Vec<String> {
    let untested = body["data"]["untested"].as_array().unwrap().iter();
    let mut reasons: Vec<String> = untested.map(|one| one["reason"].as_str().unwrap().to_owned()).collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

/// Returns the variant on which codes were tested.
pub(crate) fn variant(body: &Value) -> u64 {
    body["data"]["variant_id"].as_str().unwrap().parse().unwrap()
}
