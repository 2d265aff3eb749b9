use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use api::EdgeRouter;
use axum::body::Body;
use data_embedding::Embedder;
use data_index::columns::MatchedPair;
use data_index::{BrandFacts, BuildOptions, Manifest};
use data_model::{DeliverySample, DeliveryZone, PricePoint, Product};
use data_release::{CheckOptions, Publication, Published, ReleaseStore, write_delivery, write_matches};
use data_storage::Storage;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use kit::SetClock;
use query_server::{CursorKey, QueryConfig, QueryServer, Synonyms};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) type Catalogue = Vec<(BrandFacts, Vec<Product>)>;

/// Facts besides products: delivery by brand slug, and prices by platform id of the product.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) delivery: BTreeMap<&'static str, Vec<DeliverySample>>,
    pub(crate) zones: BTreeMap<&'static str, Vec<DeliveryZone>>,
    pub(crate) prices: BTreeMap<u64, Vec<PricePoint>>,
    /// Pairs of equal products of different brands; `None` if the release has no such data.
    pub(crate) same: Option<Vec<MatchedPair>>,
}

/// Builds a release of these brands and observations, with its files in `dir`.
fn build_observed(
    catalogue: &Catalogue,
    observed: &Observed,
    dir: &Path,
    (rows_max, embedder): (u32, Option<Arc<dyn Embedder>>),
) -> Manifest {
    let options = BuildOptions {
        rows_max,
        embedder,
        ..BuildOptions::default()
    };
    let delivered = |(facts, products): &(BrandFacts, Vec<Product>)| {
        let slug = facts.brand.slug.as_str();
        let samples = observed.delivery.get(slug).map_or(&[][..], Vec::as_slice);
        let zones = observed.zones.get(slug).map_or(&[][..], Vec::as_slice);
        let facts = BrandFacts {
            delivery: write_delivery(dir, samples, zones).unwrap(),
            ..facts.clone()
        };
        (facts, products.clone())
    };
    let catalogue: Catalogue = catalogue.iter().map(delivered).collect();
    let catalogue: Vec<_> = catalogue
        .iter()
        .map(|(facts, products)| kit::StoreProducts { facts, products })
        .collect();
    let manifest = kit::build_with_history(None, &catalogue, &options, dir, |product| {
        let prices = observed.prices.get(&product.key.platform_id);
        prices.map_or(&[], Vec::as_slice)
    });
    match &observed.same {
        Some(same) => manifest.with_matches(write_matches(dir, 1, same).unwrap()).unwrap(),
        None => manifest,
    }
}

/// Query server with its own release store.
pub(crate) struct Market {
    /// Folder for built and cached files.
    pub(crate) dir: TempDir,
    /// Home storage with releases and checks.
    pub(crate) home: Storage,
    pub(crate) storage: Storage,
    pub(crate) server: QueryServer,
    pub(crate) router: EdgeRouter,
    embedder: Option<Arc<dyn Embedder>>,
}

#[derive(Debug)]
pub(crate) struct TestAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Market {
    /// Creates a server without a published release.
    pub(crate) fn empty() -> Self {
        let dir = TempDir::new().unwrap();
        let home = Storage::memory();
        let storage = home.child("releases");
        let store = ReleaseStore::new(storage.clone(), SetClock::noon());
        let mut config = QueryConfig::new("INR".parse().unwrap());
        config.cursor_key = CursorKey::from_secret("test");
        config.checks = Some(home.clone());
        let server = QueryServer::new(store, dir.path().join("cache"), SetClock::noon(), config);
        let router = server.router(None);
        Self {
            dir,
            home,
            storage,
            server,
            router,
            embedder: data_embedding::shipped(),
        }
    }

    /// Creates a server whose release is built with one embedder and served with another.
    pub(crate) async fn embedding(
        catalogue: &Catalogue,
        built: Option<Arc<dyn Embedder>>,
        serving: Option<Arc<dyn Embedder>>,
    ) -> Self {
        let mut market = Self::empty();
        let mut config = QueryConfig::new("INR".parse().unwrap());
        config.embedder = serving;
        let cache = market.dir.path().join("cache");
        market.server = QueryServer::new(market.store(), cache, SetClock::noon(), config);
        market.router = market.server.router(None);
        market.embedder = built;
        market.publish(catalogue).await;
        market.server.refresh().await.unwrap();
        market
    }

    pub(crate) async fn with_synonyms(catalogue: &Catalogue, synonyms: Synonyms) -> Self {
        let mut market = Self::empty();
        let mut config = QueryConfig::new("INR".parse().unwrap());
        config.synonyms = synonyms;
        let cache = market.dir.path().join("cache");
        market.server = QueryServer::new(market.store(), cache, SetClock::noon(), config);
        market.router = market.server.router(None);
        market.publish(catalogue).await;
        market.server.refresh().await.unwrap();
        market
    }

    /// Creates another server over the same releases with this market currency.
    pub(crate) async fn beside(&self, currency: &str) -> EdgeRouter {
        let mut config = QueryConfig::new(currency.parse().unwrap());
        config.cursor_key = CursorKey::from_secret("test");
        let cache = self.dir.path().join("beside");
        let server = QueryServer::new(self.store(), cache, SetClock::noon(), config);
        server.refresh().await.unwrap();
        server.router(None)
    }

    pub(crate) async fn of(catalogue: &Catalogue) -> Self {
        let market = Self::empty();
        market.publish(catalogue).await;
        market.server.refresh().await.unwrap();
        market
    }

    pub(crate) fn store(&self) -> ReleaseStore {
        ReleaseStore::new(self.storage.clone(), SetClock::noon())
    }

    pub(crate) async fn publish(&self, catalogue: &Catalogue) -> Manifest {
        self.publish_observed(catalogue, &Observed::default()).await
    }

    /// Creates a server for these brands with these facts.
    pub(crate) async fn observed(catalogue: &Catalogue, observed: &Observed) -> Self {
        let market = Self::empty();
        market.publish_observed(catalogue, observed).await;
        market.server.refresh().await.unwrap();
        market
    }

    async fn publish_observed(&self, catalogue: &Catalogue, observed: &Observed) -> Manifest {
        let files = TempDir::new_in(self.dir.path()).unwrap();
        // The release has several parts, so that tests also cover results from more than one part.
        let products: usize = catalogue.iter().map(|(_, products)| products.len()).sum();
        let rows_max = u32::try_from(products / 3).unwrap().max(2);
        let manifest = build_observed(catalogue, observed, files.path(), (rows_max, self.embedder.clone()));
        let store = self.store();
        let publication = Publication {
            manifest: &manifest,
            files: files.path(),
            cache: &self.dir.path().join("publisher"),
            expected: store.current().await.unwrap().map(|current| current.seq),
            checks: &CheckOptions {
                collapse_confirmed: true,
                ..CheckOptions::default()
            },
        };
        assert!(matches!(
            store.publish(publication).await.unwrap(),
            Published::Published(_)
        ));
        manifest
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> TestAnswer {
        send(self.router.clone(), request).await
    }

    pub(crate) async fn get(&self, path: &str) -> TestAnswer {
        self.send(
            Request::get(path)
                .header("x-request-id", "test")
                .body(Body::empty())
                .unwrap(),
        )
        .await
    }

    /// Returns the indented body of a 200 response. The release id is replaced, because it depends on the bytes of the
    /// release files.
    pub(crate) async fn body(&self, path: &str) -> String {
        let answered = self.get(path).await;
        assert_eq!(
            answered.status,
            StatusCode::OK,
            "{path}: {}",
            String::from_utf8_lossy(&answered.body)
        );
        let release = self.server.release().unwrap().to_string();
        assert!(answered.pretty().contains(&release), "{path} does not name its release");
        answered.pretty().replace(&release, "[release]")
    }

    pub(crate) async fn titles(&self, query: &str) -> Vec<String> {
        let answer: query_server::schema::SearchAnswer<'static> = self.get(&format!("/v1/search?{query}")).await.read();
        answer.data.into_iter().map(|card| card.title.into_owned()).collect()
    }
}

pub(crate) async fn send(router: EdgeRouter, request: Request<Body>) -> TestAnswer {
    let (parts, body) = router.answer(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    TestAnswer {
        status: parts.status,
        headers: parts.headers,
        body,
    }
}

impl TestAnswer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Parses the body as the documented type. Fails if the body has undocumented fields.
    pub(crate) fn read<T: DeserializeOwned + Serialize>(&self) -> T {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, StatusCode::OK, "{body}");
        let read: T = serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {body}"));
        let mut left_over = Vec::new();
        members_left_over("", &self.json(), &serde_json::to_value(&read).unwrap(), &mut left_over);
        assert!(left_over.is_empty(), "no type has {left_over:?}: {body}");
        read
    }

    pub(crate) fn pretty(&self) -> String {
        // A generic JSON value would sort the keys.
        let mut out = Vec::new();
        let mut formatter = serde_json::Serializer::pretty(&mut out);
        serde_transcode(&self.body, &mut formatter);
        String::from_utf8(out).unwrap()
    }
}

/// Collects the fields of the sent JSON that the parsed value lacks.
fn members_left_over(at: &str, sent: &Value, read: &Value, found: &mut Vec<String>) {
    match (sent, read) {
        (Value::Object(sent), Value::Object(read)) => {
            for (name, value) in sent {
                let at = format!("{at}.{name}");
                match read.get(name) {
                    Some(read) => members_left_over(&at, value, read, found),
                    None => found.push(at),
                }
            }
        }
        (Value::Array(sent), Value::Array(read)) => {
            sent.iter()
                .zip(read)
                .for_each(|(sent, read)| members_left_over(at, sent, read, found));
        }
        _ => {}
    }
}

fn serde_transcode(body: &[u8], out: &mut serde_json::Serializer<&mut Vec<u8>, serde_json::ser::PrettyFormatter<'_>>) {
    use serde::Serialize;
    ordered::OrderedJson::deserialize_from(body).serialize(out).unwrap();
}

/// JSON value that keeps the order of keys.
mod ordered {
    use serde::de::{MapAccess, SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) enum OrderedJson {
        Scalar(Value),
        List(Vec<OrderedJson>),
        Object(Vec<(String, OrderedJson)>),
    }

    impl OrderedJson {
        pub(super) fn deserialize_from(body: &[u8]) -> Self {
            serde_json::from_slice(body).unwrap()
        }
    }

    impl Serialize for OrderedJson {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Scalar(value) => value.serialize(serializer),
                Self::List(items) => serializer.collect_seq(items),
                Self::Object(members) => serializer.collect_map(members.iter().map(|(name, value)| (name, value))),
            }
        }
    }

    impl<'de> Deserialize<'de> for OrderedJson {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Reader;
            impl<'de> Visitor<'de> for Reader {
                type Value = OrderedJson;
                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("JSON")
                }
                fn visit_bool<E>(self, value: bool) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(value.into()))
                }
                fn visit_i64<E>(self, value: i64) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(value.into()))
                }
                fn visit_u64<E>(self, value: u64) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(value.into()))
                }
                fn visit_f64<E>(self, value: f64) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(value.into()))
                }
                fn visit_str<E>(self, value: &str) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(value.into()))
                }
                fn visit_unit<E>(self) -> Result<OrderedJson, E> {
                    Ok(OrderedJson::Scalar(Value::Null))
                }
                fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OrderedJson, A::Error> {
                    let mut list = Vec::new();
                    while let Some(item) = items.next_element()? {
                        list.push(item);
                    }
                    Ok(OrderedJson::List(list))
                }
                fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<OrderedJson, A::Error> {
                    let mut object = Vec::new();
                    while let Some(member) = members.next_entry()? {
                        object.push(member);
                    }
                    Ok(OrderedJson::Object(object))
                }
            }
            deserializer.deserialize_any(Reader)
        }
    }
}
