//! Small catalogues, a settable clock, and a dump of a lake's whole content as text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_lake::{Lake, LakeConfig, LakeSnapshot, RunSummaryRow, TableName};
use data_model::{
    Attribute, Brand, BrandRefresh, CategoryId, Clock, DeliveryRate, FactBasis, Media, MediaKind, OptionValue,
    PaymentKind, Product, ProductOption, Quarantined, Rating, Review, ShippingFact, ShippingFactKind, ShippingPolicy,
    ShippingRegion, ShippingTerms, StoreHost, Timestamp, UnknownReason, UnknownTerm, Variant,
};
use data_storage::Storage;
use datafusion::physical_plan::collect;
use futures::TryStreamExt;
pub(crate) use kit::SetClock;
use kit::faulty::FaultyStore;
use object_store::ObjectStoreExt as _;
pub(crate) use watched::{Side, WatchedStore};

/// 2026-11-21T00:00:00Z
pub(crate) const START: i64 = 1_795_219_200_000_000;

pub(crate) fn midnight() -> Arc<SetClock> {
    SetClock::at("2026-11-21T00:00:00Z")
}

pub(crate) fn config() -> LakeConfig {
    LakeConfig {
        buckets: 4,
        checkpoint_every: 3,
    }
}

pub(crate) async fn open(storage: &Storage, clock: &Arc<SetClock>) -> Lake {
    Lake::open(storage.clone(), config(), Arc::clone(clock) as Arc<dyn Clock>)
        .await
        .unwrap()
}

pub(crate) fn host(name: &str) -> StoreHost {
    format!("{name}.myshopify.com").parse().unwrap()
}

pub(crate) fn run(number: u32) -> RunSummaryRow {
    RunSummaryRow {
        brands_seen: 3,
        ..RunSummaryRow::new(format!("run-{number}").parse().unwrap(), Timestamp::from_micros(START))
    }
}

pub(crate) fn brand(name: &str) -> Brand {
    Brand {
        store: host(name),
        description: Some("Says something of itself.".into()),
        ..kit::brand(&name.to_uppercase())
    }
}

pub(crate) fn variant(id: u64, price_minor: i64) -> Variant {
    Variant {
        title: format!("V{id}"),
        sku: id.is_multiple_of(2).then(|| format!("SKU-{id}")),
        options: vec![OptionValue {
            name: "Size".into(),
            value: format!("{id}"),
        }],
        compare_at_minor: id.is_multiple_of(3).then_some(price_minor + 100),
        available: !id.is_multiple_of(5),
        grams: Some(250),
        ..kit::variant(id, price_minor)
    }
}

pub(crate) fn product(name: &str, id: u64, price_minor: i64) -> Product {
    Product {
        handle: format!("p-{id}"),
        description: "First line.\nSecond line.".into(),
        vendor: Some(name.into()),
        category: Some(CategoryId(1868)),
        tags: vec!["new".into(), "tag two".into()],
        options: vec![ProductOption {
            name: "Size".into(),
            values: vec!["S".into(), "M".into()],
        }],
        attributes: vec![Attribute {
            name: "size".into(),
            values: vec!["S".into()],
        }],
        media: vec![
            Media {
                url: format!("https://{name}.example/{id}.jpg"),
                kind: MediaKind::Image,
                alt: Some("x".into()),
                width: Some(10),
                height: None,
            },
            Media {
                url: "https://v.example/1".into(),
                kind: MediaKind::Video,
                alt: None,
                width: None,
                height: None,
            },
        ],
        variants: vec![
            variant(id.wrapping_mul(10).wrapping_add(2), price_minor),
            variant(id.wrapping_mul(10).wrapping_add(1), price_minor + 50),
        ],
        rating: id.is_multiple_of(2).then_some(Rating {
            average: 4.5,
            count: 12,
        }),
        reviews: (0..id % 3)
            .map(|number| Review {
                rating: 4.0,
                author: Some(format!("A{number}")),
                title: None,
                body: format!("Review {number}"),
                created_at: Some(Timestamp::from_micros(START - 1)),
            })
            .collect(),
        created_at: Some(Timestamp::from_micros(START - 1_000_001)),
        updated_at: Some(Timestamp::from_micros(START)),
        ..kit::product(&brand(name), id, &format!("Product {id}"))
    }
}

/// Changes the read time of the refreshes to this number of hours after [`START`].
pub(crate) fn read_at(mut refreshes: Vec<BrandRefresh>, hours: i64) -> Vec<BrandRefresh> {
    let at = Timestamp::from_micros(START + hours * 3_600_000_000);
    refreshes
        .iter_mut()
        .for_each(|refresh| (refresh.read_since, refresh.observed_at) = (at, at));
    refreshes
}

pub(crate) fn refresh(name: &str, number: u32, products: Vec<Product>) -> BrandRefresh {
    let observed_at = Timestamp::from_micros(START + i64::from(number) * 3_600_000_000);
    BrandRefresh {
        shipping: (name != "gamma").then(|| ShippingPolicy {
            currency: "INR".parse().unwrap(),
            free_shipping_threshold_minor: Some(99_900),
            cod_available: None,
            tiers: vec![DeliveryRate {
                name: "Standard".into(),
                amount_minor: 4900,
                min_order_minor: None,
                max_order_minor: Some(99_899),
                days_min: Some(3),
                days_max: Some(7),
            }],
            terms: None,
        }),
        quarantined: (name == "beta")
            .then(|| Quarantined {
                store: host(name),
                subject: "page 1, product 3".into(),
                reason: "price_not_decimal: \"12,99\"".into(),
                excerpt: "{}".into(),
            })
            .into_iter()
            .collect(),
        ..kit::refresh(brand(name), i64::from(number), observed_at, products)
    }
}

/// The text was read `hour` hours after [`START`].
pub(crate) fn terms(hour: i64) -> ShippingTerms {
    let fee = ShippingFact {
        payment: Some(PaymentKind::Cod),
        amount_minor: Some(5_000),
        ..ShippingFact::new(ShippingFactKind::CodFee, "COD orders cost Rs. 50 more.")
    };
    let dispatch = ShippingFact {
        days_min: Some(1),
        days_max: Some(2),
        in_working_days: Some(true),
        ..ShippingFact::new(ShippingFactKind::Dispatch, "We dispatch within 1-2 working days.")
    };
    let delivery = ShippingFact {
        region: Some(ShippingRegion::Remote),
        days_min: Some(8),
        basis: FactBasis::Model,
        ..ShippingFact::new(ShippingFactKind::Delivery, "Remote areas take 8 days or more.")
    };
    ShippingTerms {
        source_url: Some("https://beta.example/policies/shipping-policy".into()),
        observed_at: Timestamp::from_micros(START + hour * 3_600_000_000),
        facts: vec![fee, dispatch, delivery],
        unknown: vec![UnknownTerm {
            kind: ShippingFactKind::FreeShipping,
            reason: UnknownReason::Template,
            sentence: Some("Free above [X].".into()),
        }],
    }
}

pub(crate) fn first() -> Vec<BrandRefresh> {
    vec![
        refresh(
            "alpha",
            1,
            (1..=5)
                .map(|id| product("alpha", id, 1000 * id.cast_signed()))
                .collect(),
        ),
        refresh("beta", 1, (1..=3).map(|id| product("beta", id, 500)).collect()),
        refresh(
            "gamma",
            1,
            vec![product("gamma", u64::MAX - 1, 700), product("gamma", u64::MAX, 800)],
        ),
    ]
}

/// The second crawl finds the same three brands. In alpha a price, a removed product and a new product differ. Beta is
/// unchanged, and gamma has no reviews left.
pub(crate) fn second() -> Vec<BrandRefresh> {
    let mut alpha: Vec<Product> = (2..=6)
        .map(|id| product("alpha", id, 1000 * id.cast_signed()))
        .collect();
    alpha[1].variants[0].price_minor = 2500;
    let mut gamma = vec![product("gamma", u64::MAX - 1, 700), product("gamma", u64::MAX, 800)];
    gamma.iter_mut().for_each(|product| product.reviews.clear());
    vec![
        refresh("alpha", 2, alpha),
        refresh("beta", 2, (1..=3).map(|id| product("beta", id, 500)).collect()),
        refresh("gamma", 2, gamma),
    ]
}

pub(crate) async fn products(snapshot: &LakeSnapshot, stores: &[&str]) -> Vec<Product> {
    let stores: BTreeSet<StoreHost> = stores.iter().map(|name| host(name)).collect();
    snapshot.products(&stores).await.unwrap().try_collect().await.unwrap()
}

/// Returns every row of every table as sorted text. Planning a statement would cost more than reading these small
/// lakes.
pub(crate) async fn content(lake: &Lake) -> BTreeMap<String, Vec<String>> {
    let snapshot = lake.snapshot().await.unwrap();
    let session = lake.session(&snapshot).await.unwrap();
    let state = session.state();
    let mut tables = BTreeMap::new();
    // The built-in reference tables are long, and the same in every lake.
    let of_stores = |table: &TableName| !TableName::FACTS.contains(table);
    for table in TableName::ALL.into_iter().filter(of_stores) {
        let provider = session.table_provider(table.to_string()).await.unwrap();
        let plan = provider.scan(&state, None, &[], None).await.unwrap();
        let batches = collect(plan, session.task_ctx()).await.unwrap();
        let text = datafusion::arrow::util::pretty::pretty_format_batches(&batches)
            .unwrap()
            .to_string();
        let mut rows: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>().join("|"))
            .collect();
        rows.sort();
        tables.insert(table.to_string(), rows);
    }
    tables
}

pub(crate) async fn sql(lake: &Lake, query: &str) -> String {
    let snapshot = lake.snapshot().await.unwrap();
    let session = lake.session(&snapshot).await.unwrap();
    let batches = session.sql(query).await.unwrap().collect().await.unwrap();
    datafusion::arrow::util::pretty::pretty_format_batches(&batches)
        .unwrap()
        .to_string()
}

pub(crate) async fn objects(storage: &Storage) -> BTreeMap<String, u64> {
    let listed: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    listed
        .into_iter()
        .map(|meta| (meta.location.to_string(), meta.size))
        .collect()
}

/// Returns a storage with the same objects. Tests of many cases create the state from which all of them start once.
pub(crate) async fn copied(from: &Storage) -> Storage {
    let to = Storage::memory();
    for path in objects(from).await.into_keys().map(data_storage::ObjectPath::from) {
        let bytes = from.store().get(&path).await.unwrap().bytes().await.unwrap();
        to.store().put(&path, bytes.into()).await.unwrap();
    }
    to
}

/// Returns a storage with the same objects that fails on purpose.
pub(crate) async fn faulty(from: &Storage) -> (FaultyStore, Storage) {
    let faulty = FaultyStore::new(Arc::clone(copied(from).await.store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    (faulty, storage)
}

/// Runs a process, and returns what it leaves wherever it can die: the storage before each of its writes, and after the
/// last one. Dying after a write is equivalent to dying before the next one.
pub(crate) async fn deaths<P>(from: &Storage, process: impl FnOnce(Storage) -> P) -> Vec<Storage>
where
    P: Future<Output = ()> + Send + 'static,
{
    let storage = copied(from).await;
    let (watched, mut stops) = WatchedStore::over(&storage);
    let mut living = tokio::spawn(process(watched));
    let mut left = Vec::new();
    loop {
        tokio::select! {
            Some(stop) = stops.recv() => if stop.side == Side::Before {
                left.push(copied(&storage).await);
            },
            ended = &mut living => {
                ended.unwrap();
                left.push(storage);
                return left;
            }
        }
    }
}
