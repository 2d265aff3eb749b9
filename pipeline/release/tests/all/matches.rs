//! Tests that matches between products of different brands are in the release, for each method of building.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::sync::Arc;

use data_index::{BuildOptions, Release};
use data_lake::{Lake, LakeConfig, ReviewChanges, RunSummaryRow, StoreUpdate};
use data_model::{
    Brand, BrandRefresh, DeliverySample, KnownDelivery, Product, Review, ReviewWidget, Timestamp, WidgetReview,
};
use data_release::{CheckOptions, PlanOptions, ReleaseStore};
use data_storage::Storage;
use kit::SetClock;
use pipeline_release::{NoProgress, ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release};
use proptest::prelude::*;

fn clock() -> Arc<SetClock> {
    SetClock::at("2026-12-21T00:00:00Z")
}

fn hour(number: i64) -> Timestamp {
    let start: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    start.plus_millis(number * 3_600_000)
}

fn refresh(name: &str, run: i64, titles: &[(&str, &str)]) -> BrandRefresh {
    let brand = Brand {
        store: format!("{}.myshopify.com", name.to_lowercase()).parse().unwrap(),
        ..kit::brand(name)
    };
    let product = |(id, (vendor, title)): (u64, &(&str, &str))| Product {
        vendor: Some((*vendor).to_owned()),
        ..kit::product(&brand, id, title)
    };
    let products = (1..).zip(titles).map(product).collect();
    kit::refresh(brand, run, hour(run), products)
}

struct Rig {
    dir: tempfile::TempDir,
    lake: Lake,
    releases: ReleaseStore,
    checks: CheckOptions,
}

impl Rig {
    async fn new() -> Self {
        let storage = Storage::memory();
        Self {
            dir: tempfile::tempdir().unwrap(),
            lake: Lake::open(storage.child("lake"), LakeConfig::default(), clock())
                .await
                .unwrap(),
            releases: ReleaseStore::new(storage.child("releases"), clock()),
            checks: CheckOptions::default(),
        }
    }

    async fn commit(&self, refreshes: Vec<BrandRefresh>) {
        let run = RunSummaryRow::new(refreshes[0].run.clone(), hour(0));
        self.lake.commit(refreshes, run).await.unwrap();
    }

    async fn build(&self, full: bool) -> ReleaseReport {
        let options = ReleaseOptions {
            quality: None,
            full,
            dry_run: false,
            checks: self.checks.clone(),
            plan: PlanOptions {
                dead_share_max: 1.0,
                ..PlanOptions::default()
            },
            build: BuildOptions::default(),
            threads: 1,
            work_dir: self.dir.path().join("work"),
            cache_dir: self.dir.path().join("cache"),
        };
        let clock = clock();
        let built = build_release(&self.lake, &self.releases, &options, Arc::new(NoProgress), &*clock);
        built.await.unwrap()
    }

    async fn open(&self) -> Release {
        let current = self.releases.current().await.unwrap().unwrap();
        let manifest = self.releases.manifest(current.id).await.unwrap();
        let local = self
            .releases
            .fetch(&manifest, &self.dir.path().join("reader"))
            .await
            .unwrap();
        local.open().unwrap()
    }

    async fn told(&self) -> Vec<String> {
        let release = self.open().await;
        let matches = release.matches().unwrap();
        let rows = (0..matches.len()).map(|at| matches.get(at).unwrap());
        let told = rows.map(|row| {
            let reasons: Vec<&str> = row.reasons().collect();
            let pair = (row.id(), row.other_id(), row.variants());
            format!("{pair:?} {} {} {reasons:?}", row.basis(), row.confidence())
        });
        told.collect()
    }

    /// Each pair occurs once.
    async fn pairs(&self) -> Vec<(String, String)> {
        let release = self.open().await;
        let matches = release.matches().unwrap();
        let title = |id| {
            let at = release.find(&data_model::ProductIdent::Id(id)).unwrap();
            release.parts()[at.part as usize].cards().title(at.row).to_owned()
        };
        let rows = (0..matches.len()).map(|at| matches.get(at).unwrap());
        let mut pairs: Vec<_> = rows.map(|row| (title(row.id()), title(row.other_id()))).collect();
        pairs.retain(|(one, other)| one < other);
        pairs.sort();
        pairs
    }
}

const SERUM: (&str, &str) = ("Lumora", "Niacinamide 10% Face Serum 30 ml");
const CREAM: (&str, &str) = ("Lumora", "Ceramide Barrier Cream 50 g");
const SERUM_AGAIN: (&str, &str) = ("Lumora", "Lumora Face Serum 10% Niacinamide 30ml");
const CREAM_AGAIN: (&str, &str) = ("Lumora", "Lumora Ceramide Barrier Cream (50g)");

fn told(one: (&str, &str), other: (&str, &str)) -> (String, String) {
    let mut both = [one.1.to_owned(), other.1.to_owned()];
    both.sort();
    both.into()
}

#[tokio::test]
async fn a_release_knows_which_products_of_two_brands_are_the_same() {
    let rig = Rig::new().await;
    rig.commit(vec![
        refresh("Lumora", 1, &[SERUM, CREAM]),
        refresh(
            "Glowmart",
            1,
            &[SERUM_AGAIN, ("Lumora", "Lumora Face Serum 10% Niacinamide 50ml")],
        ),
        refresh("Dhaga", 1, &[("Dhaga", "Cotton Kurta")]),
    ])
    .await;
    rig.build(false).await;
    assert_eq!(rig.pairs().await, [told(SERUM, SERUM_AGAIN)]);
    assert_eq!(rig.build(false).await.outcome, ReleaseOutcome::Unchanged);
}

#[tokio::test]
async fn what_a_changed_store_brings_is_compared_with_stores_that_stayed() {
    let rig = Rig::new().await;
    rig.commit(vec![
        refresh("Lumora", 1, &[SERUM, CREAM]),
        refresh("Glowmart", 1, &[SERUM_AGAIN]),
    ])
    .await;
    rig.build(false).await;
    rig.commit(vec![refresh("Glowmart", 2, &[SERUM_AGAIN, CREAM_AGAIN])])
        .await;
    let next = rig.build(false).await;
    assert_eq!((next.parts_kept, next.products_indexed), (1, 2));
    let pairs = rig.pairs().await;
    let mut expected = vec![told(SERUM, SERUM_AGAIN), told(CREAM, CREAM_AGAIN)];
    expected.sort();
    assert_eq!(pairs, expected);
    rig.build(true).await;
    assert_eq!(rig.pairs().await, pairs);
}

fn reviewed(brand: &Brand, id: &str) -> ReviewChanges {
    let mut told = ReviewChanges::none(brand.store.clone(), brand.slug.clone(), hour(1));
    told.reviews.push(WidgetReview {
        widget: ReviewWidget::Yotpo,
        id: id.to_owned(),
        product: 1,
        review: Review {
            rating: 4.0,
            author: None,
            title: None,
            body: format!("Review {id}."),
            created_at: Some(hour(1)),
        },
        is_verified: None,
    });
    told
}

/// Some files of a brand are new in this release, and some come from the previous one.
#[tokio::test]
async fn reviews_and_delivery_of_brands_old_or_new_hide_no_match() {
    let rig = Rig::new().await;
    let (maker, shop) = (
        refresh("Lumora", 1, &[SERUM, CREAM]),
        refresh("Glowmart", 1, &[SERUM_AGAIN]),
    );
    let (maker_brand, shop_brand) = (maker.brand.clone(), shop.brand.clone());
    rig.commit(vec![maker, shop]).await;
    rig.lake
        .commit_reviews(vec![reviewed(&maker_brand, "r1")])
        .await
        .unwrap();
    let sample = DeliverySample {
        pincode: "560001".parse().unwrap(),
        serviceable: Some(true),
        zone: None,
        days_min: Some(2),
        days_max: Some(4),
        sampled_at: hour(1),
    };
    let delivery = vec![StoreUpdate::new(
        shop_brand.store.clone(),
        shop_brand.slug.clone(),
        KnownDelivery {
            samples: vec![sample],
            ..KnownDelivery::default()
        },
    )];
    rig.lake.commit_delivery(delivery).await.unwrap();
    rig.build(false).await;
    assert_eq!(rig.pairs().await, [told(SERUM, SERUM_AGAIN)]);
    // The maker's reviews are unchanged and no longer cached. The shop's reviews are new, and its delivery data is not.
    std::fs::remove_dir_all(rig.dir.path().join("cache")).unwrap();
    rig.commit(vec![refresh("Glowmart", 2, &[SERUM_AGAIN, CREAM_AGAIN])])
        .await;
    rig.lake
        .commit_reviews(vec![reviewed(&shop_brand, "r2")])
        .await
        .unwrap();
    rig.build(false).await;
    let mut expected = [told(SERUM, SERUM_AGAIN), told(CREAM, CREAM_AGAIN)];
    expected.sort();
    assert_eq!(rig.pairs().await, expected);
}

fn barred(name: &str, run: i64, (vendor, title): (&str, &str), barcode: &str) -> BrandRefresh {
    let mut refresh = refresh(name, run, &[(vendor, title)]);
    refresh.products[0].variants[0].barcode = Some(barcode.to_owned());
    refresh
}

#[tokio::test]
async fn a_barcode_of_a_store_that_stayed_is_found_in_a_store_that_came() {
    let rig = Rig::new().await;
    let maker = ("Lumora", "Barrier Cream");
    let (own, junk) = ("8901030865275", "2012345678900");
    rig.commit(vec![
        barred("Lumora", 1, maker, own),
        barred("Ojas", 1, ("Ojas", "Barrier Balm"), junk),
    ])
    .await;
    rig.build(false).await;
    assert_eq!(rig.pairs().await, []);
    // The reseller uses another title and claims to be the maker.
    let resold = ("Glowmart Select", "Ceramide Barrier Cream by Lumora 50 g");
    rig.commit(vec![
        barred("Glowmart", 2, resold, "0 8901030 865275"),
        barred("Dhaga", 2, ("Dhaga", "Barrier Ointment"), junk),
    ])
    .await;
    let next = rig.build(false).await;
    assert_eq!((next.parts_kept, next.products_indexed), (1, 2));
    assert_eq!(rig.pairs().await, [told(maker, resold)]);
    let release = rig.open().await;
    let found = release.matches().unwrap().get(0).unwrap();
    assert_eq!(
        (found.basis(), found.reasons().next()),
        ("barcode", Some("barcode:8901030865275"))
    );
    assert!(found.variants().is_some() && found.confidence() >= 0.95);
    rig.build(true).await;
    assert_eq!(rig.pairs().await, [told(maker, resold)]);
}

/// Generates the listing of a store in one step: the goods, with the barcode of each.
fn listed() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (
        0..4_usize,
        prop::collection::vec((0..GOODS.len(), 0..BARCODES.len()), 1..6),
    )
}

const STORES: [&str; 4] = ["Lumora", "Glowmart", "Ojas", "Dhaga"];
const GOODS: [(&str, &str); 8] = [
    SERUM,
    SERUM_AGAIN,
    CREAM,
    CREAM_AGAIN,
    ("Ojas", "Barrier Balm 20 g"),
    ("Glowmart Select", "Barrier Balm by Ojas"),
    ("Ojas", "Ojas Barrier Balm (20g)"),
    ("Dhaga", "Red Cotton Kurta"),
];
const BARCODES: [Option<&str>; 4] = [None, Some("8901030865275"), Some("036000291452"), Some("SKU-1")];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_found_follows_from_the_products_and_not_from_how_the_release_came_about(
        steps in prop::collection::vec(listed(), 2..6),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let mut rig = Rig::new().await;
            // Small stores lose most of their products from step to step.
            rig.checks.collapse_confirmed = true;
            for (run, (store, goods)) in (1..).zip(&steps) {
                let titles: Vec<_> = goods.iter().map(|(at, _)| GOODS[*at]).collect();
                let mut listed = refresh(STORES[*store], run, &titles);
                for (product, (_, barcode)) in listed.products.iter_mut().zip(goods) {
                    product.variants[0].barcode = BARCODES[*barcode].map(str::to_owned);
                }
                rig.commit(vec![listed]).await;
                rig.build(false).await;
            }
            let grown = rig.told().await;
            rig.build(true).await;
            assert_eq!(rig.told().await, grown);
        });
    }
}
