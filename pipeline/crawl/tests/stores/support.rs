//! A store in memory, with its products and responses. It records the requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use data_model::{Clock, CurrencyCode, RunId};
use data_storage::Storage;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, StatusCode};
use kit::ShiftedClock;
use pipeline_crawl::{
    CrawlConfig, CrawlJob, Crawler, NewBrand, NoProgress, PageReader, RegisteredBrand, Registry, StoreCrawl, scan_only,
};
use serde_json::{Value, json};
use storefront::{Storefront, StorefrontConfig, Transport, TransportError, TransportRequest, TransportResponse};
use tokio_util::sync::CancellationToken;
use url::Url;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Responds with this status and body.
    Answer(u16, String),
    /// Never responds.
    Hang,
}

#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) products: Vec<Value>,
    pub(crate) collections: BTreeMap<String, Vec<Value>>,
    pub(crate) meta: Option<Value>,
    /// Front page and policies of the store. The policies are as GraphQL returns them.
    pub(crate) front: Option<String>,
    pub(crate) policies: Option<String>,
    /// Products per page, regardless of the requested limit.
    pub(crate) per_page: usize,
    /// Last page within Shopify's cap.
    pub(crate) pages_max: usize,
    pub(crate) etags: bool,
    pub(crate) circular: bool,
    /// Number of products that move from the start to the end of the listing after every page.
    pub(crate) rotating: usize,
    /// Page number and number of products. After this page, that many products are removed from the start of the
    /// listing, once.
    pub(crate) removed_after: Option<(usize, usize)>,
    /// Page number and product id. After this page, the product is removed, once.
    pub(crate) gone_after: Option<(usize, u64)>,
    /// This page of the listing is sent without products, once.
    pub(crate) empty_once: Option<usize>,
    /// The first page is sent with the content of the second, once.
    pub(crate) mistaken_once: Option<(usize, usize)>,
    /// Status and body.
    pub(crate) robots: (u16, String),
    pub(crate) endless: bool,
    /// Currency in the cookie of all pages, unless a page has its own cookie.
    pub(crate) money: Option<&'static str>,
    pub(crate) money_of: BTreeMap<usize, &'static str>,
    /// `Retry-After` header of refusals.
    pub(crate) retry_after: Option<&'static str>,
    /// Host to which each path redirects.
    pub(crate) moved: BTreeMap<String, String>,
    /// Faults by part of the path and query.
    pub(crate) faults: BTreeMap<String, Fault>,
    /// Path and query of each request, with ` 304` or ` 200` appended.
    pub(crate) asked: Vec<String>,
}

impl Shop {
    pub(crate) fn of(products: impl IntoIterator<Item = u64>) -> Self {
        let products: Vec<_> = products.into_iter().map(product).collect();
        let meta = json!({"id": 1, "name": "Tea & Co", "currency": "INR", "country": "IN",
            "myshopify_domain": "tea.myshopify.com", "published_products_count": products.len()});
        Self {
            products,
            collections: BTreeMap::new(),
            meta: Some(meta),
            front: None,
            policies: None,
            per_page: 2,
            pages_max: 100,
            etags: true,
            circular: false,
            rotating: 0,
            removed_after: None,
            gone_after: None,
            empty_once: None,
            mistaken_once: None,
            money: None,
            money_of: BTreeMap::new(),
            retry_after: None,
            moved: BTreeMap::new(),
            robots: (404, String::new()),
            endless: false,
            faults: BTreeMap::new(),
            asked: Vec::new(),
        }
    }

    fn reply(&self, path: &str, page: usize) -> Option<(u16, String)> {
        let page = if self.circular { 1 } else { page };
        let listing = |products: &[Value]| {
            let listed: Vec<_> = products
                .iter()
                .skip((page - 1) * self.per_page)
                .take(self.per_page)
                .collect();
            (200, json!({ "products": listed }).to_string())
        };
        Some(match path {
            "/robots.txt" => (self.robots.0, self.robots.1.clone()),
            "/" => (200, self.front.clone()?),
            "/api/2026-04/graphql.json" => (200, self.policies.clone()?),
            "/meta.json" => self
                .meta
                .as_ref()
                .map_or((404, "no".to_owned()), |meta| (200, meta.to_string())),
            _ if page > self.pages_max => (400, "Page * Limit exceeds the 25000 limit.".to_owned()),
            "/products.json" if self.endless => {
                let first = (page * self.per_page) as u64;
                let made_up: Vec<_> = (first..first + self.per_page as u64).map(product).collect();
                (200, json!({ "products": made_up }).to_string())
            }
            "/products.json" => listing(&self.products),
            "/collections.json" => {
                let listed = self
                    .collections
                    .iter()
                    .skip((page - 1) * self.per_page)
                    .take(self.per_page);
                let listed: Vec<_> = listed
                    .map(|(handle, all)| json!({"handle": handle, "products_count": all.len()}))
                    .collect();
                (200, json!({ "collections": listed }).to_string())
            }
            _ => {
                let handle = path.strip_prefix("/collections/")?.strip_suffix("/products.json")?;
                listing(self.collections.get(handle)?)
            }
        })
    }
}

pub(crate) fn product(id: u64) -> Value {
    json!({"id": id, "title": format!("Tea {id}"), "handle": format!("tea-{id}"), "variants": [
        {"id": id * 10, "title": "Default Title", "option1": "Default Title", "price": "499.00", "available": true}]})
}

#[derive(Debug, Clone)]
pub(crate) struct Shops(pub(crate) Arc<Mutex<Shop>>);

impl Shops {
    pub(crate) fn change(&self, change: impl FnOnce(&mut Shop)) {
        change(&mut self.0.lock().unwrap());
    }

    /// Returns the redirect target of a request to the brand's own host. The same shop responds at every host.
    fn moved_to(&self, asked: &Url) -> Option<Url> {
        let shop = self.0.lock().unwrap();
        let host = shop
            .moved
            .get(asked.path())
            .filter(|_| asked.host_str() == Some("tea.localhost"))?;
        let mut elsewhere = asked.clone();
        elsewhere.set_host(Some(host)).unwrap();
        Some(elsewhere)
    }

    /// Returns true if a request was left without a response.
    fn hangs(&self) -> bool {
        let shop = self.0.lock().unwrap();
        shop.asked.iter().any(|asked| asked.ends_with(" hang"))
    }

    pub(crate) fn take_asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut self.0.lock().unwrap().asked);
        asked
            .into_iter()
            .filter(|asked| !asked.starts_with("/robots") && !asked.starts_with("/meta"))
            .collect()
    }
}

impl Shop {
    /// Returns the response, and then changes the listing as configured.
    fn listed(&mut self, path: &str, page: Option<usize>) -> (u16, String) {
        let reply = self.reply(path, page.unwrap_or(1));
        if path == "/products.json" {
            if !self.products.is_empty() {
                let by = self.rotating % self.products.len();
                self.products.rotate_left(by);
            }
            if let Some((_, removed)) = self.removed_after.take_if(|(after, _)| Some(*after) == page) {
                self.products.drain(..removed);
            }
            if let Some((_, gone)) = self.gone_after.take_if(|(after, _)| Some(*after) == page) {
                self.products.retain(|product| product["id"] != gone);
            }
        }
        reply.unwrap_or_else(|| (404, "no such page".to_owned()))
    }

    fn say_besides(&self, page: Option<usize>, status: u16, headers: &mut HeaderMap) {
        let money = page.and_then(|page| self.money_of.get(&page).copied()).or(self.money);
        if let Some(money) = money.filter(|_| status == 200) {
            let cookie = format!("cart_currency={money}; path=/; SameSite=Lax");
            headers.append("set-cookie", HeaderValue::from_static("localization=US; path=/"));
            headers.append("set-cookie", HeaderValue::from_str(&cookie).unwrap());
        }
        if let Some(wait) = self.retry_after.filter(|_| status == 429) {
            headers.insert("retry-after", HeaderValue::from_static(wait));
        }
    }
}

#[async_trait]
impl Transport for Shops {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let path = request.url.path().to_owned();
        let page = request
            .url
            .query_pairs()
            .find(|(name, _)| name == "page")
            .and_then(|(_, page)| page.parse().ok());
        let short = page.map_or_else(|| path.clone(), |page: usize| format!("{path}?page={page}"));
        if let Some(elsewhere) = self.moved_to(&request.url) {
            let mut headers = HeaderMap::new();
            headers.insert("location", HeaderValue::from_str(elsewhere.as_str()).unwrap());
            return Ok(TransportResponse {
                status: StatusCode::MOVED_PERMANENTLY,
                headers,
                body: futures::stream::empty().boxed(),
            });
        }
        let answered = {
            let mut shop = self.0.lock().unwrap();
            let fault = shop
                .faults
                .iter()
                .find(|(part, _)| short.ends_with(part.as_str()))
                .map(|(_, fault)| fault.clone());
            match fault {
                Some(Fault::Hang) => {
                    shop.asked.push(format!("{short} hang"));
                    None
                }
                Some(Fault::Answer(status, body)) => Some((status, body, false)),
                None if path == "/products.json" && shop.empty_once.take_if(|empty| Some(*empty) == page).is_some() => {
                    Some((200, json!({"products": []}).to_string(), false))
                }
                None => {
                    let mistaken = shop.mistaken_once.take_if(|(asked, _)| Some(*asked) == page);
                    let page = mistaken.map(|(_, answered)| answered).or(page);
                    let (status, body) = shop.listed(&path, page);
                    Some((status, body, shop.etags))
                }
            }
        };
        let Some((status, body, etags)) = answered else {
            return std::future::pending().await;
        };
        let mut headers = HeaderMap::new();
        let mut answer = (status, body);
        if etags && status == 200 {
            let etag = format!("\"{:x}\"", fnv(answer.1.as_bytes()));
            headers.insert("etag", HeaderValue::from_str(&etag).unwrap());
            if request
                .headers
                .get("if-none-match")
                .is_some_and(|given| given == etag.as_str())
            {
                answer = (304, String::new());
            }
        }
        let mut shop = self.0.lock().unwrap();
        shop.asked.push(format!("{short} {}", answer.0));
        shop.say_besides(page, answer.0, &mut headers);
        drop(shop);
        let body = futures::stream::iter([Ok(bytes::Bytes::from(answer.1))]).boxed();
        Ok(TransportResponse {
            status: StatusCode::from_u16(answer.0).unwrap(),
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

pub(crate) struct Rig {
    pub(crate) shop: Shops,
    pub(crate) storage: Storage,
    pub(crate) clock: Arc<ShiftedClock>,
    pub(crate) config: CrawlConfig,
    pub(crate) brand: RegisteredBrand,
    pub(crate) products_before: Option<u64>,
    pub(crate) anew: bool,
    /// Country whose prices are requested.
    pub(crate) country: Option<&'static str>,
    /// Currency that the front page showed.
    pub(crate) shown: Option<CurrencyCode>,
}

impl Rig {
    pub(crate) async fn with(shop: Shop) -> Self {
        Self::on(shop, Storage::memory()).await
    }

    pub(crate) async fn on(shop: Shop, storage: Storage) -> Self {
        let clock = ShiftedClock::new();
        let base_url = "http://tea.localhost".parse().unwrap();
        let mut registry = Registry::default();
        let new = NewBrand {
            name: Some("Tea".into()),
            ..NewBrand::at(base_url)
        };
        let brand = registry.add(&Storage::memory(), &[new], clock.now()).await.unwrap()[0]
            .brand()
            .clone();
        let config = CrawlConfig {
            page_limit: 2,
            ..CrawlConfig::default()
        };
        Self {
            shop: Shops(Arc::new(Mutex::new(shop))),
            storage,
            clock,
            config,
            brand,
            products_before: None,
            anew: false,
            country: Some("IN"),
            shown: None,
        }
    }

    pub(crate) fn storefront(&self) -> Storefront {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let config = StorefrontConfig {
            retries_max: 0,
            country: self.country.map(str::to_owned),
            ..StorefrontConfig::loopback()
        };
        Storefront::with_transport(config, clock, Arc::new(self.shop.clone())).unwrap()
    }

    pub(crate) fn crawler(&self) -> Crawler {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Crawler::new(self.storefront(), self.storage.clone(), self.config.clone(), clock)
    }

    pub(crate) async fn crawl(
        &self,
        run: &str,
        known: Option<&StoreCrawl>,
    ) -> Result<StoreCrawl, pipeline_crawl::CrawlError> {
        self.crawl_for(run, known, "v1").await
    }

    /// Crawls until a request without response. The crawl is then dropped, as in a killed process.
    pub(crate) async fn killed_at_hang(&self, run: &str, known: Option<&StoreCrawl>) {
        let hangs = async {
            while !self.shop.hangs() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            ended = self.crawl(run, known) => panic!("the crawl ended: {ended:?}"),
            () = hangs => {}
        }
    }

    pub(crate) async fn crawl_for(
        &self,
        run: &str,
        known: Option<&StoreCrawl>,
        context: &str,
    ) -> Result<StoreCrawl, pipeline_crawl::CrawlError> {
        let run: RunId = run.parse().unwrap();
        let reader: Arc<PageReader<()>> = Arc::new(|_, body| scan_only(body));
        let job = CrawlJob {
            run: &run,
            brand: &self.brand,
            known,
            anew: self.anew,
            products_before: self.products_before,
            shown: self.shown,
            context,
        };
        let (crawler, never) = (self.crawler(), CancellationToken::new());
        let crawled = crawler.crawl_store(job, &reader, &NoProgress, &never).await;
        crawled.map(|crawled| crawled.crawl)
    }

    pub(crate) async fn landed_ids(&self, crawl: &StoreCrawl) -> Vec<Vec<u64>> {
        let mut ids = Vec::new();
        for (file, mark) in crawl.landed() {
            let page = pipeline_crawl::read_page(
                &self.storage,
                &crawl.landing,
                &crawl.store,
                file,
                mark,
                &storefront::MemoryBudget::default(),
            )
            .await
            .unwrap();
            let page: Value = serde_json::from_slice(&page).unwrap();
            ids.push(
                page["products"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|product| product["id"].as_u64().unwrap())
                    .collect(),
            );
        }
        ids
    }

    pub(crate) async fn objects(&self) -> Vec<String> {
        let mut paths: Vec<_> = self
            .storage
            .store()
            .list(None)
            .map(|meta| meta.unwrap().location.to_string())
            .collect()
            .await;
        paths.sort();
        paths
    }
}
