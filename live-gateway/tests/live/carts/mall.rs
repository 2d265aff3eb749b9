use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use api::{
    Allowance, Caller, CallerId, Credential, EdgeConfig, EdgeRouter, Guard, Identify, KnownCaller, Limit, NotTaken,
    Prompt, Verdict, Via,
};
use async_trait::async_trait;
use axum::body::Body;
use data_model::{Clock as _, ProductIdent};
use emulator::{Emulator, EmulatorConfig, Encoding, Fault, FaultRule, RunningStores, Source};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use kit::SetClock;
use live_gateway::{
    CartConfig, CartDependencies, CouponCandidates, GatewayConfig, LiveGateway, NoCandidates, NotObserved,
};
use serde_json::{Value, json};
use state::{MasterKeys, State, StateTarget};
use storefront::{Lookup, Storefront, StorefrontConfig};

use crate::support::Shelf;

/// Guard that accepts every key and uses the key as the caller's name.
#[derive(Debug)]
struct Anybody;

impl Identify for Anybody {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let Credential::Key(name) = credential else {
            return Prompt::Now(Err(NotTaken::Invalid));
        };
        Prompt::Now(Ok(Arc::new(KnownCaller {
            id: CallerId::key(name),
            via: Via::Key {
                id: name.into(),
                plan: "free",
            },
            allowance: Arc::new(Allowance::unlimited()),
        })))
    }
}

/// Resolver without names, so that no request leaves this machine.
#[derive(Debug)]
struct NoNames;

#[async_trait]
impl Lookup for NoNames {
    async fn lookup(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        Ok(Vec::new())
    }
}

/// Limit that refuses nothing and counts requests.
#[derive(Debug, Default)]
pub(super) struct CountingLimit(AtomicU32);

impl CountingLimit {
    /// Returns the number of requests since the last call.
    pub(super) fn requests(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Limit for CountingLimit {
    fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Prompt::Now(Verdict::UNLIMITED)
    }

    fn owe(&self, caller: &Caller, requests: u32) -> Prompt<()> {
        assert!(caller.known().is_some(), "{caller:?}");
        self.0.fetch_add(requests, Ordering::Relaxed);
        Prompt::Now(())
    }
}

/// Emulated stores, their crawled data, and a state that outlives its servers.
pub(super) struct Mall {
    pub(super) stores: RunningStores,
    pub(super) shelf: Arc<Shelf>,
    pub(super) clock: Arc<SetClock>,
    pub(super) folder: tempfile::TempDir,
    pub(super) target: StateTarget,
    pub(super) config: CartConfig,
    pub(super) candidates: Arc<dyn CouponCandidates>,
    /// Time in milliseconds for which later reads reuse a cart that was read.
    pub(super) reuse_ms: u64,
    pub(super) counted: Arc<CountingLimit>,
    /// Edge's timeout for a response, in milliseconds.
    pub(super) edge_ms: u64,
    timeout_ms: u64,
}

pub(super) struct Server {
    router: EdgeRouter,
}

pub(super) fn master_keys() -> MasterKeys {
    MasterKeys::parse(&"5a".repeat(32)).unwrap()
}

impl Mall {
    pub(super) async fn open(stores: u32) -> Self {
        Self::with(stores, CartConfig::default()).await
    }

    pub(super) async fn with(stores: u32, config: CartConfig) -> Self {
        let source = Source::Generated {
            products: u64::from(stores) * 12,
            stores,
            seed: 11,
        };
        let config_of_stores = EmulatorConfig {
            encoding: Encoding::Identity,
            ..EmulatorConfig::new(source)
        };
        let running = Emulator::start(config_of_stores).await.unwrap();
        let mut shelf = Shelf::default();
        for store in running.stores() {
            shelf.crawl(&store).await;
        }
        // The state is in memory if the system has a folder for that, because the test deletes it afterwards.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        Self {
            stores: running,
            shelf: Arc::new(shelf),
            clock: SetClock::noon(),
            target: StateTarget::Folder(folder.path().to_owned()),
            folder,
            config,
            candidates: Arc::new(NoCandidates),
            reuse_ms: 0,
            counted: Arc::default(),
            edge_ms: 60_000,
            timeout_ms: 10_000,
        }
    }

    pub(super) async fn state(&self) -> State {
        State::open(&self.target).await.unwrap()
    }

    /// Starts another server over the same state.
    pub(super) async fn server(&self) -> Server {
        self.server_over(Arc::clone(&self.shelf) as Arc<dyn live_gateway::Catalogue>)
            .await
    }

    /// Starts a server over the same state with a different catalogue.
    pub(super) async fn server_over(&self, catalogue: Arc<dyn live_gateway::Catalogue>) -> Server {
        let storefront = StorefrontConfig {
            allow_loopback: true,
            rate_start_per_s: f64::INFINITY,
            rate_max_per_s: f64::INFINITY,
            interactive_timeout_ms: self.timeout_ms,
            breaker_failures: 1_000,
            retry_budget_max: 1_000_000,
            backoff_start_ms: 5,
            backoff_max_ms: 20,
            ..StorefrontConfig::default()
        };
        let clock = Arc::clone(&self.clock) as Arc<dyn data_model::Clock>;
        let storefront = Storefront::with_lookup(storefront, Arc::clone(&clock), Arc::new(NoNames)).unwrap();
        let config = CartConfig {
            reuse_ms: self.reuse_ms,
            ..self.config.clone()
        };
        let coalescer = CartDependencies::new(self.state().await, master_keys(), config);
        let coalescer = coalescer.with_candidates(Arc::clone(&self.candidates));
        let config = GatewayConfig::default();
        let gateway = LiveGateway::new(catalogue, storefront, clock, Arc::new(NotObserved), config);
        let guard = Arc::new(Guard {
            identify: Arc::new(Anybody),
            limit: Some(Arc::clone(&self.counted) as Arc<dyn Limit>),
            ..Guard::default()
        });
        let gateway = gateway.with_guard(Arc::clone(&guard));
        let edge = EdgeConfig {
            guard,
            timeout_ms: self.edge_ms,
            ..EdgeConfig::default()
        };
        Server {
            router: gateway.with_carts(coalescer).router(edge, None),
        }
    }

    pub(super) fn slug(&self, store: usize) -> String {
        self.stores.stores()[store].slug.clone()
    }

    /// Sets the clock to the system time, which is also the time of the stores' clocks. A test needs equal clocks if a
    /// store states an expiry time.
    pub(super) fn show_the_stores_time(&self) {
        let ahead_ms = kit::ShiftedClock::default().now().millis_since(self.clock.now());
        self.clock.advance_ms(ahead_ms);
    }

    /// Advances the clocks of the servers and of the stores.
    pub(super) fn pass(&self, ms: i64) {
        self.clock.advance_ms(ms);
        let ms = u64::try_from(ms).unwrap();
        self.stores.advance_clock(std::time::Duration::from_millis(ms));
    }

    /// Returns the brand's slug as it appears in responses.
    pub(super) fn brand(&self, store: usize) -> String {
        self.shelf.brands[store].slug.to_string()
    }

    /// Returns the products of a store that can be bought, each with a variant that can be bought and its price.
    pub(super) fn goods(&self, store: usize) -> Vec<(String, u64, i64)> {
        let idents = self.shelf.by_store[&self.slug(store)].iter();
        let stored = idents.map(|ident| (ident, &self.shelf.products[ident]));
        let sold = stored.filter_map(|(ident, product): (&ProductIdent, _)| {
            let variant = product.variants.iter().find(|variant| variant.available)?;
            Some((ident.to_string(), variant.id.0, variant.price_minor))
        });
        sold.collect()
    }

    /// Returns a request item for the nth product of a store.
    pub(super) fn item(&self, store: usize, nth: usize, qty: u32) -> Value {
        let (product, variant, _) = &self.goods(store)[nth];
        json!({ "product_id": product, "variant_id": variant.to_string(), "qty": qty })
    }

    /// Opens a cart at its store by the checkout link. Returns the store's cookie, which has the cart's token and key.
    async fn cookie(&self, cart: &Value, store: usize) -> String {
        let link = group(cart, &self.brand(store))["checkout_url"].clone();
        let page = reqwest::get(link.as_str().unwrap()).await.unwrap();
        let cookie = page.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Changes a store's cart as its buyer does at the store's own page, which the checkout link opens.
    pub(super) async fn at_store(&self, cart: &Value, store: usize, name: &str, body: &Value) {
        let path = format!("cart/{name}.js");
        self.post_to_store(cart, store, &path, body).await;
    }

    /// Changes a setting of a store's cart as the store's own pages do. Returns the cart.
    pub(super) async fn set_at_store(
        &self,
        cart: &Value,
        store: usize,
        document: &str,
        name: &str,
        value: Value,
    ) -> Value {
        let cookie = self.cookie(cart, store).await;
        let id = cookie
            .trim_start_matches("cart=")
            .replace("%3F", "?")
            .replace("%3D", "=");
        let mut variables = json!({ "cartId": format!("gid://shopify/Cart/{id}") });
        variables[name] = value;
        let body = json!({ "query": document, "variables": variables });
        let told = self.post_to_store(cart, store, "api/2026-04/graphql.json", &body).await;
        let told: Value = serde_json::from_str(&told).unwrap();
        let payload = told["data"].as_object().unwrap().values().next().unwrap();
        assert_eq!(payload["userErrors"], json!([]), "{told:#}");
        payload["cart"].clone()
    }

    async fn post_to_store(&self, cart: &Value, store: usize, path: &str, body: &Value) -> String {
        let cookie = self.cookie(cart, store).await;
        let url = format!("{}/{path}", self.stores.stores()[store].base_url);
        let change = reqwest::Client::new().post(url).header("cookie", cookie);
        let change = change.header("content-type", "application/json").body(body.to_string());
        let done = change.send().await.unwrap();
        let (status, text) = (done.status(), done.text().await.unwrap());
        assert!(status.is_success(), "{path} {body}: {text}");
        text
    }

    /// Returns how often a store carried out a mutation or a read.
    pub(super) fn calls(&self, store: usize, name: &str) -> u64 {
        let calls = self.stores.calls(&self.slug(store)).unwrap();
        calls.get(name).copied().unwrap_or_default()
    }
}

/// Request to a server.
#[derive(Debug, Clone)]
pub(super) struct Call {
    method: Method,
    path: String,
    key: Option<&'static str>,
    idempotency: Option<String>,
    body: Option<Value>,
}

impl Call {
    pub(super) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            key: Some("asha"),
            idempotency: None,
            body: None,
        }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(super) fn post(path: impl Into<String>, body: Value) -> Self {
        Self {
            body: Some(body),
            ..Self::new(Method::POST, path)
        }
    }

    /// Changes the caller; `None` sends the request without a key.
    pub(super) fn by(self, key: impl Into<Option<&'static str>>) -> Self {
        Self {
            key: key.into(),
            ..self
        }
    }

    pub(super) fn once(self, key: impl Into<String>) -> Self {
        Self {
            idempotency: Some(key.into()),
            ..self
        }
    }

    pub(super) fn with(self, body: Value) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }
}

impl Server {
    pub(super) async fn send(&self, call: Call) -> (StatusCode, Value) {
        let (status, _, body) = self.send_whole(call).await;
        (status, body)
    }

    pub(super) async fn send_whole(&self, call: Call) -> (StatusCode, http::HeaderMap, Value) {
        let mut request = Request::builder().method(call.method).uri(call.path);
        request = request.header("host", "market.example");
        if let Some(key) = call.key {
            request = request.header("x-service-key", key);
        }
        if let Some(key) = &call.idempotency {
            request = request.header("idempotency-key", key);
        }
        let body = match &call.body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let response = self.router.clone().answer(request.body(body).unwrap()).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (
            parts.status,
            parts.headers,
            serde_json::from_slice(&body).unwrap_or(Value::Null),
        )
    }

    /// Returns the data of a response with status 200.
    pub(super) async fn data(&self, call: Call) -> Value {
        let told = format!("{} {}", call.method, call.path);
        let (status, body) = self.send(call).await;
        assert_eq!(status, 200, "{told}: {body}");
        body["data"].clone()
    }

    pub(super) async fn cart(&self, items: &[Value]) -> Value {
        self.data(Call::post("/v1/cart", json!({ "items": items }))).await
    }
}

/// Returns rules that apply `rule` after the first request to the API, in which a change reads the store's cart.
pub(super) fn after_the_first_read(rule: FaultRule) -> [FaultRule; 2] {
    let unharmed = FaultRule::from(Fault::Slow { delay_ms: 0 });
    [unharmed.on_path("/api/").first(1), rule]
}

/// Returns the path of a cart, extended by `below`.
pub(super) fn path(cart: &Value, below: &str) -> String {
    format!("/v1/cart/{}{below}", cart["cart_id"].as_str().unwrap())
}

/// Returns a brand's group, or null if the cart has none.
pub(super) fn group(cart: &Value, brand: &str) -> Value {
    let groups = cart["groups"].as_array().unwrap();
    let found = groups.iter().find(|group| group["brand_slug"] == brand);
    found.cloned().unwrap_or(Value::Null)
}

/// Returns the codes of a group and their effects, without the reasons of refusals.
pub(super) fn verdicts_of(group: &Value) -> Vec<Value> {
    let codes = group["discount_codes"].as_array().into_iter().flatten();
    let verdict = |code: &Value| {
        json!({
            "code": code["code"],
            "applicable": code["applicable"],
            "discount_minor": code["discount_minor"],
        })
    };
    codes.map(verdict).collect()
}

pub(super) fn minor(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// Asserts that every total is the sum of its parts.
pub(super) fn assert_sums(cart: &Value) {
    let mut sums = std::collections::BTreeMap::new();
    for group in cart["groups"].as_array().unwrap() {
        let lines: i64 = group["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| minor(&line["line_total_minor"]))
            .sum();
        assert_eq!(minor(&group["subtotal_minor"]), lines, "{group}");
        let parts = minor(&group["subtotal_minor"]) + minor(&group["delivery_minor"]) + minor(&group["other_minor"])
            - minor(&group["discount_minor"]);
        assert_eq!(minor(&group["total_minor"]), parts, "{group}");
        *sums.entry(group["currency"].as_str().unwrap().to_owned()).or_insert(0) += minor(&group["total_minor"]);
    }
    let told: std::collections::BTreeMap<_, _> = cart["totals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|total| {
            (
                total["currency"].as_str().unwrap().to_owned(),
                minor(&total["total_minor"]),
            )
        })
        .collect();
    assert_eq!(told, sums);
    let combined = match sums.len() {
        0 | 1 => Some(sums.values().sum()),
        _ => None,
    };
    assert_eq!(cart["combined_total_minor"].as_i64(), combined);
}
