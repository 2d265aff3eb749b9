use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use api::{
    Allowance, CallerId, Credential, EdgeConfig, EdgeRouter, Guard, Identify, KnownCaller, NotTaken, Prompt, Via,
};
use async_trait::async_trait;
use axum::body::Body;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use data_model::{
    CurrencyCode, ProductId, ProductIdent, ProductKey, ResolvedProducts, StoredBrand, StoredProduct, StoredVariant,
    VariantId,
};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use kit::SetClock;
use mailer::Mailer;
use serde_json::{Value, json};
use state::{MasterKeys, State, StateTarget};
use storefront::{Lookup, Storefront, StorefrontConfig};
use tokio::sync::mpsc;
use watches::{MailSender, Market, MarketError, MatchedProduct, Watches, WatchesConfig, WatchesParts};

/// Empty state in one database, with the resources that it needs.
pub(crate) struct Place {
    pub(crate) target: StateTarget,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn of(target: StateTarget) -> Self {
        Self { target, _folder: None }
    }
}

/// Runs a test with both databases, if both are available.
pub(crate) fn on_both<F: Future<Output = ()>>(test: impl Fn(Place) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Place {
        target: StateTarget::Folder(folder.path().join("state")),
        _folder: Some(folder),
    };
    runtime.block_on(test(sqlite));
    #[cfg(feature = "postgres")]
    if let Some(url) = runtime.block_on(kit::postgres_database()) {
        runtime.block_on(test(Place::of(StateTarget::postgres(&url).unwrap())));
    }
}

/// Market of a test: products whose price and stock the test sets.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    inner: Mutex<ShelfContent>,
}

#[derive(Debug, Default)]
struct ShelfContent {
    crawls: i64,
    products: BTreeMap<u64, StoredProduct>,
    matches: Vec<MatchedProduct>,
    quote: Option<String>,
}

fn key(platform_id: u64) -> ProductKey {
    ProductKey {
        store: "alpha.myshopify.com".parse().unwrap(),
        platform_id,
    }
}

pub(crate) fn product_id(platform_id: u64) -> ProductId {
    key(platform_id).id()
}

impl Shelf {
    /// Adds a product as if a crawl had found it. One variant has the product's number, and another is ten times as
    /// expensive.
    pub(crate) fn put(&self, platform_id: u64, price_minor: i64, available: bool) {
        let variant = |number: u64, price_minor: i64| StoredVariant {
            id: VariantId(number),
            title: String::new(),
            sku: None,
            price_minor,
            compare_at_minor: Some(1_000).filter(|list| *list > price_minor),
            available,
        };
        let currency: CurrencyCode = "INR".parse().unwrap();
        let product = StoredProduct {
            id: key(platform_id).id(),
            product_uid: key(platform_id).uid(),
            platform_id,
            brand: 0,
            handle: format!("p-{platform_id}"),
            title: format!("Product {platform_id}"),
            description: String::new(),
            currency,
            variants_complete: true,
            variants: vec![
                variant(platform_id, price_minor),
                variant(platform_id + 1, price_minor * 10),
            ],
        };
        let mut inner = self.inner.lock().unwrap();
        inner.products.insert(platform_id, product);
        inner.crawls += 1;
    }

    /// Removes a product as if a crawl did not find it.
    pub(crate) fn take(&self, platform_id: u64) {
        let mut inner = self.inner.lock().unwrap();
        inner.products.remove(&platform_id);
        inner.crawls += 1;
    }

    pub(crate) fn find(&self, matches: Vec<MatchedProduct>) {
        self.inner.lock().unwrap().matches = matches;
    }

    pub(crate) fn quote(&self, quote: &str) {
        self.inner.lock().unwrap().quote = Some(quote.to_owned());
    }
}

#[async_trait]
impl Market for Shelf {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, MarketError> {
        let inner = self.inner.lock().unwrap();
        let noon: data_model::Timestamp = kit::NOON.parse().unwrap();
        let brand = StoredBrand {
            store: "alpha.myshopify.com".parse().unwrap(),
            slug: "alpha".parse().unwrap(),
            name: "Alpha".to_owned(),
            domain: "alpha.example".to_owned(),
            base_url: "https://alpha.example".to_owned(),
            currency: "INR".parse().unwrap(),
            crawl_country: None,
            refreshed_at: noon.plus_millis(inner.crawls * 1_000),
        };
        let find = |ident: &ProductIdent| {
            let mut products = inner.products.values();
            products.find(|one| [ProductIdent::Id(one.id), ProductIdent::Uid(one.product_uid)].contains(ident))
        };
        Ok(ResolvedProducts {
            release: "r0000000000000001".parse().unwrap(),
            brands: vec![brand],
            products: idents.iter().map(|ident| find(ident).cloned()).collect(),
        })
    }

    async fn matches(&self, _query: &str) -> Result<Vec<MatchedProduct>, MarketError> {
        Ok(self.inner.lock().unwrap().matches.clone())
    }

    async fn quote(&self, _product: ProductId, _variant: Option<VariantId>) -> Option<String> {
        self.inner.lock().unwrap().quote.clone()
    }
}

/// Identity check that accepts keys of the form `haat_live_NAME`. The caller is NAME, or the account with that id
/// (`acc_…`).
#[derive(Debug)]
struct AnyKey;

impl Identify for AnyKey {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let (text, via) = match credential {
            Credential::Key(key) => {
                let id = "key_1".into();
                (key.trim_start_matches("haat_live_"), Via::Key { id, plan: "free" })
            }
            Credential::Session(text) => (text, Via::Guest { network: None }),
        };
        Prompt::Now(Ok(Arc::new(KnownCaller {
            id: if text.starts_with("acc_") {
                CallerId::account(text)
            } else {
                CallerId::key(text)
            },
            via,
            allowance: Arc::new(Allowance::unlimited()),
        })))
    }
}

/// Resolver that returns one fixed address.
#[derive(Debug)]
struct OneAddress(IpAddr);

#[async_trait]
impl Lookup for OneAddress {
    async fn lookup(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![self.0])
    }
}

pub(crate) struct Server {
    pub(crate) watches: Watches,
    pub(crate) state: State,
    router: EdgeRouter,
}

/// Dependencies of a test's servers.
pub(crate) struct World {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) config: WatchesConfig,
    pub(crate) allow_loopback: bool,
    pub(crate) resolves_to: Option<IpAddr>,
    pub(crate) mailer: Option<Mailer>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            shelf: Arc::default(),
            clock: SetClock::noon(),
            config: WatchesConfig {
                timeout_ms: 2_000,
                ..WatchesConfig::default()
            },
            allow_loopback: true,
            resolves_to: None,
            mailer: None,
        }
    }

    /// Starts a server over a state. Several servers may share a state.
    pub(crate) async fn serve(&self, place: &Place) -> Server {
        let state = State::open(&place.target).await.unwrap();
        let config = StorefrontConfig {
            allow_loopback: self.allow_loopback,
            ..StorefrontConfig::default()
        };
        let clock = Arc::clone(&self.clock);
        let stores = match self.resolves_to {
            Some(ip) => Storefront::with_lookup(config, clock, Arc::new(OneAddress(ip))).unwrap(),
            None => Storefront::new(config, clock).unwrap(),
        };
        let watches = Watches::new(WatchesParts {
            state: state.clone(),
            keys: MasterKeys::parse(&"5a".repeat(32)).unwrap(),
            market: Arc::clone(&self.shelf) as Arc<dyn Market>,
            transport: stores.transport(),
            mail: self.mailer.clone().map(|mailer| {
                let site = "https://market.example".parse().unwrap();
                MailSender::new(mailer, site, self.config.mails_per_address_per_day_max)
            }),
            allow_loopback: self.allow_loopback,
            clock: Arc::clone(&self.clock) as Arc<dyn data_model::Clock>,
            config: self.config.clone(),
        });
        let guard = Guard {
            identify: Arc::new(AnyKey),
            ..Guard::default()
        };
        let edge = EdgeConfig {
            guard: Arc::new(guard),
            timeout_ms: 120_000,
            ..EdgeConfig::default()
        };
        let router = watches::open_router(watches.clone()).edge(edge);
        Server { watches, state, router }
    }
}

pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) body: Option<Value>,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(method: Method, path: &'a str) -> Self {
        Self {
            method,
            path,
            caller: "asha",
            key: None,
            body: None,
        }
    }
}

impl Server {
    pub(crate) async fn ask(&self, ask: Ask<'_>) -> (StatusCode, HeaderMap, Value) {
        let request = Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header("host", "market.example");
        let request = match ask.caller {
            "" => request,
            // The request has the headers of one from a page of the site.
            "guest" => request
                .header("cookie", format!("{}=guest", api::SESSION_COOKIE))
                .header("sec-fetch-site", "same-origin"),
            name => request.header("x-service-key", format!("haat_live_{name}")),
        };
        let request = match ask.key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        let body = ask.body.map(|body| body.to_string());
        let request = match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(Body::from(body)),
            None => request.body(Body::empty()),
        };
        let response = self.router.clone().answer(request.unwrap()).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        (
            status,
            headers,
            serde_json::from_slice(&body).unwrap_or_else(|_| text()),
        )
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, _, body) = self.ask(Ask::new(Method::GET, path)).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let ask = Ask {
            body: Some(body),
            ..Ask::new(Method::POST, path)
        };
        let (status, _, body) = self.ask(ask).await;
        (status, body)
    }

    /// Creates a watch that sends an event when the product's price falls below `bound`. Returns the response.
    pub(crate) async fn watch(&self, platform_id: u64, bound: i64, url: &str) -> Value {
        let body = json!({
            "product_id": product_id(platform_id), "price_below": bound, "webhook": { "url": url },
        });
        let (status, body) = self.post("/v1/watches", body).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    /// Returns the events of a watch: state, attempts, failure.
    pub(crate) async fn events(&self, watch: &Value) -> Vec<(String, u64, Option<String>)> {
        let path = format!("/v1/watches/{}/events", watch["id"].as_str().unwrap());
        let events = self.get(&path).await;
        let one = |event: &Value| {
            (
                event["state"].as_str().unwrap().to_owned(),
                event["attempts"].as_u64().unwrap(),
                event["failure"].as_str().map(str::to_owned),
            )
        };
        events.as_array().unwrap().iter().map(one).collect()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Delivery {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Answers(u16),
    Redirects(&'static str),
    Hangs,
}

/// Webhook receiver on this machine.
pub(crate) struct Receiver {
    pub(crate) url: String,
    manner: Arc<Mutex<Manner>>,
    arrived: mpsc::UnboundedReceiver<Delivery>,
}

impl Receiver {
    pub(crate) async fn start(manner: Manner) -> Self {
        let (sender, arrived) = mpsc::unbounded_channel();
        let manner = Arc::new(Mutex::new(manner));
        let of_handler = Arc::clone(&manner);
        let handler = move |headers: HeaderMap, body: Bytes| {
            let manner = *of_handler.lock().unwrap();
            sender.send(Delivery { headers, body }).unwrap();
            async move {
                match manner {
                    Manner::Answers(status) => StatusCode::from_u16(status).unwrap().into_response(),
                    Manner::Redirects(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response(),
                    Manner::Hangs => std::future::pending().await,
                }
            }
        };
        let router = axum::Router::new().fallback(handler);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?t=s3cret", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, manner, arrived }
    }

    pub(crate) fn is(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// Waits for the next message and returns it.
    pub(crate) async fn arrival(&mut self) -> Delivery {
        self.arrived.recv().await.unwrap()
    }

    pub(crate) fn arrivals(&mut self) -> Vec<Delivery> {
        std::iter::from_fn(|| self.arrived.try_recv().ok()).collect()
    }
}
