//! Brands with rows in a lost lake file stay unchanged in a release, and all other brands are updated.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;

use data_index::{BuildOptions, Manifest};
use data_lake::{Lake, LakeConfig, RunSummaryRow};
use data_model::{Brand, BrandRefresh, Clock, Product, Timestamp};
use data_release::{CheckOptions, PlanOptions, ReleaseStore};
use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage};
use futures::TryStreamExt;
use kit::SetClock;
use pipeline_quality::{AcceptedBrands, Gate, QualityConfig};
use pipeline_release::{
    NoProgress, ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release, lag, lake_versions_in_use,
};

fn clock() -> Arc<SetClock> {
    SetClock::at("2026-12-21T00:00:00Z")
}

fn hour(number: i64) -> Timestamp {
    let start: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    start.plus_millis(number * 3_600_000)
}

pub(crate) fn refresh(name: &str, number: i64, products: u64) -> BrandRefresh {
    let brand = Brand {
        store: format!("{name}.myshopify.com").parse().unwrap(),
        ..kit::brand(&name.to_uppercase())
    };
    let product = |id: u64| Product {
        variants: vec![kit::variant(id * 10, 500)],
        ..kit::product(&brand, id, &format!("Cotton Shirt {id}"))
    };
    let products = (1..=products).map(product).collect();
    kit::refresh(brand, number, hour(number), products)
}

pub(crate) struct Rig {
    dir: tempfile::TempDir,
    pub(crate) storage: Storage,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            storage: Storage::memory(),
        }
    }

    async fn lake(&self) -> Lake {
        let clock = clock() as Arc<dyn Clock>;
        Lake::open(self.storage.child("lake"), LakeConfig::default(), clock)
            .await
            .unwrap()
    }

    pub(crate) fn releases(&self) -> ReleaseStore {
        ReleaseStore::new(self.storage.child("releases"), clock())
    }

    pub(crate) async fn commit(&self, refreshes: Vec<BrandRefresh>) -> Vec<String> {
        let run = RunSummaryRow::new(refreshes[0].run.clone(), hour(0));
        let report = self.lake().await.commit(refreshes, run).await.unwrap();
        report.changed.iter().map(ToString::to_string).collect()
    }

    pub(crate) async fn build(&self, full: bool) -> ReleaseReport {
        self.build_with(full, None).await
    }

    /// The build holds brands back, except those with the accepted slug.
    async fn judged(&self, full: bool, accepted: Option<&str>) -> ReleaseReport {
        let accepted = accepted.map(|slug| AcceptedBrands::Brands([slug.parse().unwrap()].into()));
        let gate = Gate {
            storage: self.storage.clone(),
            config: QualityConfig {
                products_min: 1,
                ..QualityConfig::default()
            },
            check_age_ms_max: i64::MAX,
            accepted: accepted.unwrap_or_default(),
        };
        self.build_with(full, Some(gate)).await
    }

    async fn build_with(&self, full: bool, quality: Option<Gate>) -> ReleaseReport {
        let options = ReleaseOptions {
            quality,
            full,
            dry_run: false,
            checks: CheckOptions::default(),
            // With a small factor, a merge would include the parts of the lost brand.
            plan: PlanOptions {
                merge_factor: 2,
                ..PlanOptions::default()
            },
            build: BuildOptions::default(),
            threads: 1,
            work_dir: self.dir.path().join("work"),
            cache_dir: self.dir.path().join("cache"),
        };
        let (lake, releases, clock) = (self.lake().await, self.releases(), clock());
        let built = build_release(&lake, &releases, &options, Arc::new(NoProgress), &*clock);
        built.await.unwrap()
    }

    pub(crate) async fn manifest(&self) -> Manifest {
        let releases = self.releases();
        let current = releases.current().await.unwrap().unwrap();
        releases.manifest(current.id).await.unwrap()
    }

    pub(crate) async fn served(&self) -> BTreeMap<String, u64> {
        let brands = self.manifest().await.brands.into_iter();
        brands
            .map(|brand| (brand.facts.brand.slug.to_string(), brand.product_count))
            .collect()
    }

    /// Deletes the file of a table with the rows of a store, or flips a bit in it. Returns its path in the lake.
    async fn lose(&self, table: &str, part: &str, flip: bool) -> String {
        let lake = self.storage.child("lake");
        let folder = ObjectPath::from(format!("{table}/{part}"));
        let files: Vec<_> = lake.store().list(Some(&folder)).try_collect().await.unwrap();
        let referenced = self.lake().await.snapshot().await.unwrap();
        drop(referenced);
        let newest = files
            .into_iter()
            .max_by_key(|meta| meta.last_modified)
            .unwrap()
            .location;
        if flip {
            let bytes = lake.store().get(&newest).await.unwrap().bytes().await.unwrap();
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            lake.store().put(&newest, bytes.into()).await.unwrap();
        } else {
            lake.store().delete(&newest).await.unwrap();
        }
        newest.to_string()
    }
}

fn bucket(name: &str) -> String {
    let store: data_model::StoreHost = format!("{name}.myshopify.com").parse().unwrap();
    format!("bucket={}", store.bucket(LakeConfig::default().buckets))
}

pub(crate) fn counts<const N: usize>(brands: [(&str, u64); N]) -> BTreeMap<String, u64> {
    brands.map(|(name, count)| (name.to_owned(), count)).into()
}

#[tokio::test]
async fn a_brand_of_a_lost_file_stays_as_it_was_the_others_are_news_and_its_next_crawl_brings_it_back() {
    for (table, flip) in [
        ("products", false),
        ("variants", true),
        ("brands", false),
        ("brands", true),
        ("shipping_policies", true),
    ] {
        for full in [false, true] {
            let rig = Rig::new();
            let with_terms = |name: &str, number, products| {
                let mut refresh = refresh(name, number, products);
                refresh.shipping = Some(data_model::ShippingPolicy {
                    currency: "INR".parse().unwrap(),
                    free_shipping_threshold_minor: Some(99_900),
                    cod_available: None,
                    tiers: Vec::new(),
                    terms: None,
                });
                refresh
            };
            rig.commit(vec![
                with_terms("alpha", 1, 3),
                refresh("beta", 1, 3),
                refresh("gamma", 1, 3),
            ])
            .await;
            rig.build(false).await;
            rig.commit(vec![with_terms("alpha", 2, 5), refresh("beta", 2, 4)]).await;
            let file = rig.lose(table, &bucket("alpha"), flip).await;
            let report = rig.build(full).await;
            assert_eq!(report.outcome, ReleaseOutcome::Published, "{table}");
            assert_eq!(report.unreadable.len(), 1, "{table}: {report:?}");
            let told = &report.unreadable[0];
            assert_eq!((told.brand.as_str(), told.kept), ("alpha", true), "{table}");
            assert_eq!(told.files, std::slice::from_ref(&file), "{table}");
            assert_eq!(
                rig.served().await,
                counts([("alpha", 3), ("beta", 4), ("gamma", 3)]),
                "{table} {full}"
            );
            // A later build reports the loss again and keeps the brands, even if it merges parts.
            rig.commit(vec![refresh("gamma", 3, 6), refresh("delta", 3, 1)]).await;
            let again = rig.build(false).await;
            assert_eq!(again.unreadable, report.unreadable, "{table}");
            let expected = counts([("alpha", 3), ("beta", 4), ("delta", 1), ("gamma", 6)]);
            assert_eq!(rig.served().await, expected, "{table} {full}");
            // The catalogue is the same as before, but the lake accepts it because the damage is recorded.
            let lake = rig.lake().await;
            assert_eq!(lake.find_damage(false).await.unwrap().len(), 1, "{table}");
            let run = RunSummaryRow::new("run-4".parse().unwrap(), hour(4));
            lake.commit(vec![with_terms("alpha", 2, 5)], run).await.unwrap();
            let healed = rig.build(false).await;
            assert!(healed.unreadable.is_empty(), "{table}: {healed:?}");
            let expected = counts([("alpha", 5), ("beta", 4), ("delta", 1), ("gamma", 6)]);
            assert_eq!(rig.served().await, expected, "{table} {full}");
        }
    }
}

#[tokio::test]
async fn a_brand_that_no_release_has_is_left_out_and_said() {
    let rig = Rig::new();
    rig.commit(vec![refresh("beta", 1, 3)]).await;
    rig.build(false).await;
    rig.commit(vec![refresh("alpha", 2, 5), refresh("beta", 2, 4)]).await;
    rig.lose("products", &bucket("alpha"), false).await;
    let report = rig.build(false).await;
    assert_eq!(
        (report.unreadable.len(), report.unreadable[0].kept),
        (1, false),
        "{report:?}"
    );
    assert_eq!(rig.served().await, counts([("beta", 4)]));
    let releases = rig.releases();
    let current = releases.current().await.unwrap().unwrap();
    let behind = lag(&rig.lake().await, &releases.manifest(current.id).await.unwrap())
        .await
        .unwrap();
    assert_eq!(behind.added.len(), 1, "{behind:?}");
}

#[tokio::test]
async fn what_a_repair_gave_up_stays_in_the_release_until_the_next_crawl_of_its_brand() {
    for table in ["products", "variants"] {
        let rig = Rig::new();
        rig.commit(vec![refresh("alpha", 1, 3), refresh("beta", 1, 3)]).await;
        rig.build(false).await;
        rig.commit(vec![refresh("alpha", 2, 5), refresh("beta", 2, 4)]).await;
        let file = rig.lose(table, &bucket("alpha"), false).await;
        let lake = rig.storage.child("lake");
        let repaired = Lake::repair(&lake, LakeConfig::default(), clock(), false)
            .await
            .unwrap();
        assert_eq!(
            repaired.lost.iter().map(|lost| lost.path.clone()).collect::<Vec<_>>(),
            [file]
        );
        let report = rig.build(false).await;
        assert_eq!(report.unreadable.len(), 1, "{report:?}");
        assert!(report.unreadable[0].files.is_empty() && report.unreadable[0].kept);
        assert_eq!(rig.served().await, counts([("alpha", 3), ("beta", 4)]), "{table}");
        assert_eq!(rig.commit(vec![refresh("alpha", 2, 5)]).await.len(), 1);
        assert!(rig.build(false).await.unreadable.is_empty());
        assert_eq!(rig.served().await, counts([("alpha", 5), ("beta", 4)]), "{table}");
    }
}

#[tokio::test]
async fn a_lost_file_of_the_price_history_costs_a_release_what_it_held_and_is_said() {
    for repair in [false, true] {
        let rig = Rig::new();
        rig.commit(vec![refresh("alpha", 1, 3), refresh("beta", 1, 3)]).await;
        rig.build(false).await;
        let file = rig.lose("price_history", "month=2026-11", false).await;
        rig.commit(vec![refresh("alpha", 2, 5), refresh("beta", 2, 4)]).await;
        if repair {
            let lake = rig.storage.child("lake");
            let repaired = Lake::repair(&lake, LakeConfig::default(), clock(), false)
                .await
                .unwrap();
            assert_eq!(repaired.lost[0].path, file);
            assert!(!repaired.lost[0].comes_back);
        }
        let report = rig.build(false).await;
        assert_eq!(report.outcome, ReleaseOutcome::Published);
        assert_eq!(report.history_lost, (!repair).then(|| file.clone()));
        assert!(report.unreadable.is_empty(), "{report:?}");
        assert_eq!(rig.served().await, counts([("alpha", 5), ("beta", 4)]));
    }
}

fn dear(mut refresh: BrandRefresh) -> BrandRefresh {
    for variant in refresh.products.iter_mut().flat_map(|product| &mut product.variants) {
        variant.price_minor *= 100;
    }
    refresh
}

fn held(report: &ReleaseReport) -> Vec<&str> {
    assert_eq!(report.unreadable, []);
    report.held.iter().map(|brand| brand.slug.as_str()).collect()
}

#[tokio::test]
async fn a_brand_whose_data_is_doubted_stays_as_it_was_and_the_others_are_news_until_it_is_accepted_or_right() {
    for full in [false, true] {
        let rig = Rig::new();
        rig.commit(vec![
            refresh("alpha", 1, 3),
            refresh("beta", 1, 3),
            refresh("gamma", 1, 3),
        ])
        .await;
        assert_eq!(held(&rig.judged(full, None).await), [""; 0]);
        rig.commit(vec![
            dear(refresh("alpha", 2, 5)),
            dear(refresh("beta", 2, 5)),
            refresh("gamma", 2, 4),
        ])
        .await;
        let report = rig.judged(full, None).await;
        assert_eq!(
            (report.outcome, held(&report)),
            (ReleaseOutcome::Published, vec!["alpha", "beta"])
        );
        assert_eq!(rig.served().await, counts([("alpha", 3), ("beta", 3), ("gamma", 4)]));
        // Held-back brands stay held back in a build without changes, and in a build after a crawl with the same
        // result.
        assert_eq!(rig.judged(full, None).await.outcome, ReleaseOutcome::Unchanged);
        rig.commit(vec![dear(refresh("alpha", 3, 6)), refresh("gamma", 3, 5)])
            .await;
        let report = rig.judged(full, None).await;
        assert_eq!(
            (held(&report), report.held[0].since),
            (vec!["alpha", "beta"], clock().now())
        );
        assert_eq!(rig.served().await, counts([("alpha", 3), ("beta", 3), ("gamma", 5)]));
        let behind = lag(&rig.lake().await, &rig.manifest().await).await.unwrap();
        assert!(behind.is_none(), "{behind:?}");
        // A vacuum must keep the lake version with the data of the held-back brands.
        let in_use = lake_versions_in_use(&rig.releases()).await.unwrap().versions;
        assert!(report.held.iter().all(|brand| in_use.contains(&brand.lake)));
        // The operator accepts the first brand, and the second brand's store corrects its prices.
        assert_eq!(held(&rig.judged(full, Some("alpha")).await), ["beta"]);
        assert_eq!(rig.served().await, counts([("alpha", 6), ("beta", 3), ("gamma", 5)]));
        rig.commit(vec![refresh("beta", 4, 4)]).await;
        assert_eq!(held(&rig.judged(full, None).await), [""; 0]);
        assert_eq!(rig.served().await, counts([("alpha", 6), ("beta", 4), ("gamma", 5)]));
    }
}

#[tokio::test]
async fn of_a_thousand_brands_twenty_are_held_and_the_others_published() {
    let rig = Rig::new();
    let name = |number: usize| format!("b{number}");
    rig.commit((0..1_000).map(|number| refresh(&name(number), 1, 2)).collect())
        .await;
    rig.judged(false, None).await;
    let found = |number: usize| match number % 50 {
        0 => dear(refresh(&name(number), 2, 3)),
        _ => refresh(&name(number), 2, 3),
    };
    rig.commit((0..1_000).map(found).collect()).await;
    let report = rig.judged(false, None).await;
    assert_eq!((report.outcome, held(&report).len()), (ReleaseOutcome::Published, 20));
    let served = rig.served().await;
    assert_eq!(served.values().filter(|products| **products == 3).count(), 980);
    assert!(report.held.iter().all(|brand| served[brand.slug.as_str()] == 2));
}
