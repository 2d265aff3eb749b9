//! Tests that a home whose brands were damaged between two runs is held back with reasons, and that a healthy home is
//! not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::sync::Arc;

use data_checks::Checks;
use data_lake::{Lake, LakeConfig, RunSummaryRow};
use data_model::{Brand, BrandRefresh, MediaKind, Product, Timestamp};
use data_storage::Storage;
use kit::SetClock;
use object_store::ObjectStoreExt;
use pipeline_quality::AcceptedBrands::{Brands, Everybody, Nobody};
use pipeline_quality::{AcceptedBrands, Baseline, Doubts, Gate, QualityConfig, QualityReport, after_run, hold, kept};

const DAY_MS: i64 = 86_400_000;

fn clock() -> Arc<SetClock> {
    SetClock::at("2026-12-21T00:00:00Z")
}

fn day(number: i64) -> Timestamp {
    let start: Timestamp = "2026-12-01T00:00:00Z".parse().unwrap();
    start.plus_millis(number * DAY_MS)
}

/// Each of the forty products is complete.
fn whole(brand: &Brand) -> Vec<Product> {
    let media = |id: u64| data_model::Media {
        url: format!("https://cdn.example/{id}.jpg"),
        kind: MediaKind::Image,
        alt: None,
        width: None,
        height: None,
    };
    (1..=40)
        .map(|id| Product {
            description: "Cotton, washed once.".into(),
            vendor: Some("Loom".into()),
            media: vec![media(id)],
            variants: vec![kit::variant(id * 10, 49_900)],
            ..kit::product(brand, id, &format!("Cotton Shirt {id}"))
        })
        .collect()
}

struct Home {
    storage: Storage,
    lake: Lake,
    brands: [Brand; 4],
}

impl Home {
    async fn new() -> Self {
        let storage = Storage::memory();
        let lake = Lake::open(storage.child("lake"), LakeConfig::default(), clock()).await;
        let home = Self {
            storage,
            lake: lake.unwrap(),
            brands: ["Kith", "Loom", "Mug", "Tea"].map(kit::brand),
        };
        let refreshes = home
            .brands
            .iter()
            .map(|brand| kit::refresh(brand.clone(), 1, day(1), whole(brand)));
        home.commit(refreshes.collect()).await;
        home
    }

    async fn commit(&self, refreshes: Vec<BrandRefresh>) {
        let run = RunSummaryRow::new(refreshes[0].run.clone(), day(1));
        self.lake.commit(refreshes, run).await.unwrap();
    }

    async fn crawl(&self, brand: usize, run: i64, change: impl Fn(&mut Product)) {
        let brand = &self.brands[brand];
        let mut products = whole(brand);
        products.iter_mut().for_each(change);
        let brand = Brand {
            currency: products[0].currency,
            ..brand.clone()
        };
        self.commit(vec![kit::refresh(brand, run, day(2), products)]).await;
    }

    /// The release has the lake's current state, and no brand is held back.
    async fn released(&self) -> Baseline {
        Baseline {
            lake: self.lake.snapshot().await.unwrap().versions().clone(),
            held: Vec::new(),
        }
    }

    async fn look(&self, at: Timestamp) -> QualityReport {
        let config = QualityConfig::default();
        after_run(&self.storage, &self.lake, &config, 3 * DAY_MS, at)
            .await
            .unwrap()
    }

    async fn hold(&self, released: Option<&Baseline>, accepted: AcceptedBrands) -> Doubts {
        let gate = Gate {
            storage: self.storage.clone(),
            config: QualityConfig::default(),
            check_age_ms_max: 3 * DAY_MS,
            accepted,
        };
        let now = self.lake.snapshot().await.unwrap();
        hold(&gate, &self.lake, &now, released, day(3)).await.unwrap()
    }
}

fn damage(product: &mut Product) {
    // A parser read 499.00 as 49900.
    product.variants[0].price_minor *= 100;
}

fn untitled(product: &mut Product) {
    if product.key.platform_id.is_multiple_of(2) {
        product.title = String::new();
    }
}

fn to_dollars(product: &mut Product) {
    product.currency = "USD".parse().unwrap();
}

#[tokio::test]
async fn a_damaged_home_is_held_back_and_each_damage_is_named_with_its_brand_and_threshold() {
    let home = Home::new().await;
    let released = home.released().await;
    // The checks run with and without statistics of the previous run.
    for is_kept in [false, true] {
        if is_kept {
            home.look(day(1)).await;
        } else {
            assert_eq!(home.hold(Some(&released), Nobody).await, Doubts::default());
        }
    }
    home.crawl(0, 2, damage).await;
    home.crawl(1, 2, untitled).await;
    home.crawl(2, 2, to_dollars).await;
    let doubts = home.hold(Some(&released), Nobody).await;
    assert!(doubts.market.is_empty(), "the others are to be released");
    let told = |doubts: &Doubts| {
        let told = doubts
            .brands
            .iter()
            .map(|brand| (brand.slug.to_string(), brand.reasons.join("; ")));
        told.collect::<Vec<_>>()
    };
    let expected = [
        (
            "kith",
            "the prices of 40 of 40 products rose or fell by a factor of 5 or more, such as Cotton Shirt 1: 499.00 INR, now 49900.00 INR (quality.price_jump_share_max is 0.25, the value is 1)",
        ),
        (
            "loom",
            "20 of 40 products have no title, compared with 0 of 40 before (quality.missing_rise_share_max is 0.25, the value is 0.5)",
        ),
        (
            "mug",
            "the prices of 40 of 40 products changed their currency (quality.currency_change_share_max is 0.1, the value is 1)",
        ),
    ];
    let expected = expected.map(|(slug, reason)| (slug.to_owned(), reason.to_owned()));
    assert_eq!(told(&doubts), expected);
    assert!(
        doubts
            .brands
            .iter()
            .all(|brand| brand.lake == released.lake && brand.since == day(3))
    );
    // The other brands are released later. Held brands are compared with their data in the release.
    let without = Baseline {
        held: doubts.brands.clone(),
        ..home.released().await
    };
    assert_eq!(home.hold(Some(&without), Nobody).await, doubts, "nothing is new");
    home.crawl(3, 3, |product| product.tags = vec!["new".into()]).await;
    assert_eq!(told(&home.hold(Some(&without), Nobody).await), expected);
    let accepted = Brands(["kith", "mug"].map(|slug| slug.parse().unwrap()).into());
    assert_eq!(told(&home.hold(Some(&without), accepted).await), expected[1..2]);
    // A repaired brand is released, regardless of the others.
    home.crawl(1, 4, |_| {}).await;
    let left = told(&home.hold(Some(&without), Nobody).await);
    assert_eq!(left, [expected[0].clone(), expected[2].clone()]);
    // The operator accepts the data, and later states are compared with it.
    assert_eq!(home.hold(Some(&released), Everybody).await, Doubts::default());
    let released = home.released().await;
    assert_eq!(home.hold(Some(&released), Nobody).await, Doubts::default());
    // Without a state to compare with, nothing has risen or jumped.
    assert_eq!(home.hold(None, Nobody).await, Doubts::default());
}

#[tokio::test]
async fn a_brand_stays_held_that_nobody_can_compare_and_all_of_them_end_the_build_until_one_is_accepted() {
    let home = Home::new().await;
    let released = home.released().await;
    home.crawl(0, 2, damage).await;
    home.crawl(1, 2, untitled).await;
    home.crawl(2, 2, to_dollars).await;
    let without = Baseline {
        held: home.hold(Some(&released), Nobody).await.brands,
        ..home.released().await
    };
    home.crawl(3, 5, untitled).await;
    let Doubts { market, brands } = home.hold(Some(&released), Nobody).await;
    assert_eq!((market.len(), brands), (4, vec![]));
    let accepted = Brands(["kith".parse().unwrap()].into());
    let Doubts { market, brands } = home.hold(Some(&released), accepted).await;
    assert_eq!(
        (market.len(), brands.len()),
        (0, 3),
        "one that is right is released all the same"
    );
    let mut unreadable = without;
    for brand in &mut unreadable.held {
        brand.lake.insert("brands".to_owned(), 999);
    }
    // One of the brands seems to be repaired.
    home.crawl(1, 6, |_| {}).await;
    let kept = home.hold(Some(&unreadable), Nobody).await.brands;
    assert_eq!(kept[..3], unreadable.held[..], "nobody can say that it is right");
}

#[tokio::test]
async fn a_healthy_home_passes_whatever_it_sells_and_prices_that_move_a_little_are_told() {
    let home = Home::new().await;
    let released = home.released().await;
    home.look(day(1)).await;
    home.crawl(3, 2, |product| {
        product.variants[0].price_minor = 39_900;
        product.tags = vec!["sale".into()];
    })
    .await;
    assert_eq!(home.hold(Some(&released), Nobody).await, Doubts::default());
    let report = home.look(day(2)).await;
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let moves = report.totals.moves.as_ref().unwrap();
    assert_eq!((moves.compared, moves.moved(), moves.jumped), (160, 40, 0));
    assert_eq!(report.totals.now.products, 160);
    assert_eq!(report.totals.before.as_ref().unwrap().products, 160);
    assert_eq!(report.trend.len(), 2);
    // A second check of the same state is not a new run.
    let again = home.look(day(2)).await;
    assert_eq!(again, report);
    assert_eq!(kept(&home.storage).await.unwrap().trend(&again).len(), 2);
    let page = home
        .storage
        .store()
        .get(&"quality/report.html".into())
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let page = std::str::from_utf8(&page).unwrap();
    assert!(page.contains("Nothing is beyond a threshold."), "{page}");
    assert!(!page.contains("http://") && !page.contains("<script"), "{page}");
}

#[tokio::test]
async fn stale_brands_hold_a_release_back_where_they_are_most_and_the_finding_names_them() {
    let home = Home::new().await;
    let released = home.released().await;
    home.crawl(0, 2, |product| product.tags = vec!["new".into()]).await;
    assert_eq!(home.hold(Some(&released), Nobody).await, Doubts::default());
    // One of four brands was crawled on the second day, the others on the first. Three days later, those are stale.
    let report = home.look(day(4).plus_millis(1)).await;
    let told: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["3 of 4 brands are stale: loom, mug, tea (quality.stale_share_max is 0.5, the value is 0.75)"]
    );
    assert_eq!(report.totals.brands_stale, 3);
    let _: Checks = data_checks::load(&home.storage).await.unwrap();
}

#[tokio::test]
async fn a_lost_file_costs_the_figures_of_its_brands_and_stops_nothing() {
    let home = Home::new().await;
    let released = home.released().await;
    home.crawl(0, 2, damage).await;
    home.crawl(1, 2, untitled).await;
    let held = Baseline {
        held: home.hold(Some(&released), Nobody).await.brands,
        ..home.released().await
    };
    // The product files of the first brand's partition are deleted.
    let snapshot = home.lake.snapshot().await.unwrap();
    let stores = [home.brands[0].store.clone()];
    assert_eq!(snapshot.partitions(&stores).len(), 1);
    let bucket = home.brands[0].store.bucket(LakeConfig::default().buckets);
    let prefix = format!("lake/products/bucket={bucket}").into();
    let store = home.storage.store();
    let mut files: Vec<_> = futures::TryStreamExt::try_collect::<Vec<_>>(store.list(Some(&prefix)))
        .await
        .unwrap();
    files.sort_by_key(|file| file.last_modified);
    assert!(!files.is_empty());
    for file in &files {
        store.delete(&file.location).await.unwrap();
    }
    let doubts = home.hold(Some(&released), Nobody).await;
    let told: Vec<_> = doubts
        .brands
        .iter()
        .map(|brand| (brand.slug.as_str(), brand.reasons.len()))
        .collect();
    assert_eq!(told, [("loom", 1)]);
    assert!(doubts.brands[0].reasons[0].contains("20 of 40 products have no title"));
    // A brand that was held back stays held back, because it cannot be compared.
    assert_eq!(home.hold(Some(&held), Nobody).await.brands, held.held);
    let report = home.look(day(2)).await;
    assert_eq!((report.totals.brands, report.totals.brands_unread), (4, 1));
}
