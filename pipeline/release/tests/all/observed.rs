//! Lake data other than products reaches the release at a low cost.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use data_index::{BuildOptions, Release};
use data_lake::{CrawlSpan, Lake, LakeConfig, LakeError, RunSummaryRow, StoreUpdate};
use data_model::{
    Brand, BrandRefresh, BrandSlug, DeliverySample, KnownDelivery, Observation, ObservedVariant, Product, ProductIdent,
    ProductKey, ShippingPolicy, Timestamp, VariantId,
};
use data_release::{CheckOptions, PinnedBy, PlanOptions, ReleaseStore};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use kit::SetClock;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use pipeline_release::{
    NoProgress, ReleaseBuildError, ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release, lag,
};

fn clock() -> Arc<SetClock> {
    SetClock::at("2026-12-21T00:00:00Z")
}

fn hour(number: i64) -> Timestamp {
    let start: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    start.plus_millis(number * 3_600_000)
}

/// Creates a store with three products, the first at this price.
fn refresh(name: &str, number: i64, price_minor: i64) -> BrandRefresh {
    let brand = Brand {
        store: key(name, 1).store,
        ..kit::brand(&name.to_uppercase())
    };
    let product = |id: u64| Product {
        variants: vec![kit::variant(id * 10, if id == 1 { price_minor } else { 500 })],
        ..kit::product(&brand, id, &format!("Cotton Shirt {id}"))
    };
    let products = (1..=3).map(product).collect();
    kit::refresh(brand, number, hour(number), products)
}

fn key(name: &str, platform_id: u64) -> ProductKey {
    ProductKey {
        store: format!("{name}.myshopify.com").parse().unwrap(),
        platform_id,
    }
}

struct Rig {
    dir: tempfile::TempDir,
    lake: Lake,
    releases: ReleaseStore,
    storage: Storage,
}

impl Rig {
    async fn new() -> Self {
        Self::on(Storage::memory()).await
    }

    async fn on(storage: Storage) -> Self {
        let lake = Lake::open(storage.child("lake"), LakeConfig::default(), clock());
        Self {
            dir: tempfile::tempdir().unwrap(),
            lake: lake.await.unwrap(),
            releases: ReleaseStore::new(storage.child("releases"), clock()),
            storage,
        }
    }

    async fn commit(&self, refreshes: Vec<BrandRefresh>) {
        let run = RunSummaryRow::new(refreshes[0].run.clone(), hour(0));
        self.lake.commit(refreshes, run).await.unwrap();
    }

    fn cache(&self) -> &Path {
        self.dir.path()
    }

    async fn build(&self) -> ReleaseReport {
        self.try_build().await.unwrap()
    }

    async fn try_build(&self) -> Result<ReleaseReport, ReleaseBuildError> {
        let options = ReleaseOptions {
            quality: None,
            full: false,
            dry_run: false,
            checks: CheckOptions::default(),
            // At this value, only the changed store is indexed, even if it is most of a part.
            plan: PlanOptions {
                dead_share_max: 1.0,
                ..PlanOptions::default()
            },
            build: BuildOptions::default(),
            threads: 1,
            work_dir: self.dir.path().join("work"),
            cache_dir: self.cache().join("cache"),
        };
        let clock = clock();
        let built = build_release(&self.lake, &self.releases, &options, Arc::new(NoProgress), &*clock);
        built.await
    }

    async fn open(&self) -> Release {
        let current = self.releases.current().await.unwrap().unwrap();
        let manifest = self.releases.manifest(current.id).await.unwrap();
        let local = self
            .releases
            .fetch(&manifest, &self.cache().join("reader"))
            .await
            .unwrap();
        local.open().unwrap()
    }
}

fn sample(pincode: &str, days: u16) -> DeliverySample {
    DeliverySample {
        pincode: pincode.parse().unwrap(),
        serviceable: Some(true),
        zone: None,
        days_min: Some(days),
        days_max: Some(days),
        sampled_at: hour(1),
    }
}

#[tokio::test]
async fn shipping_and_delivery_reach_the_release_without_a_product_being_indexed() {
    let rig = Rig::new().await;
    let mut refreshes = vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)];
    refreshes[0].shipping = Some(ShippingPolicy {
        currency: "INR".parse().unwrap(),
        free_shipping_threshold_minor: Some(99_900),
        cod_available: Some(true),
        tiers: Vec::new(),
        terms: None,
    });
    let terms = refreshes[0].shipping.clone();
    let (store, slug) = (refreshes[1].brand.store.clone(), refreshes[1].brand.slug.clone());
    rig.commit(refreshes).await;
    let first = rig.build().await;
    assert_eq!((first.outcome, first.products_indexed), (ReleaseOutcome::Published, 6));
    let release = rig.open().await;
    assert_eq!(release.brands()[0].facts.shipping, terms);
    assert_eq!(
        (release.brands()[1].facts.shipping.is_none(), release.pincodes_covered()),
        (true, 0)
    );

    let sampled = |days| {
        vec![StoreUpdate::new(
            store.clone(),
            slug.clone(),
            KnownDelivery {
                samples: vec![sample("560001", days), sample("110001", days)],
                ..KnownDelivery::default()
            },
        )]
    };
    rig.lake.commit_delivery(sampled(3)).await.unwrap();
    let second = rig.build().await;
    assert_eq!(
        (second.outcome, second.products_indexed),
        (ReleaseOutcome::Published, 0)
    );
    assert_ne!(second.release, first.release);
    let release = rig.open().await;
    let days = release
        .delivery(1)
        .unwrap()
        .get("560001".parse().unwrap())
        .unwrap()
        .days_max;
    assert_eq!((days, release.pincodes_covered()), (Some(3), 2));
    assert_eq!(rig.build().await.outcome, ReleaseOutcome::Unchanged);

    // A price changes in another table, so that the delivery data stays and its file is not written again.
    rig.commit(vec![refresh("alpha", 2, 90)]).await;
    let third = rig.build().await;
    assert_eq!((third.outcome, third.products_indexed), (ReleaseOutcome::Published, 3));
    assert_eq!(rig.open().await.pincodes_covered(), 2);
    rig.lake
        .commit_delivery(vec![StoreUpdate::new(store, slug, KnownDelivery::default())])
        .await
        .unwrap();
    assert_eq!(rig.build().await.products_indexed, 0);
    assert_eq!(rig.open().await.pincodes_covered(), 0);
}

/// Returns times and prices, newest first.
fn went(release: &Release, name: &str, product: u64) -> Vec<(Timestamp, Option<i64>)> {
    let at = release.find(&ProductIdent::Id(key(name, product).id())).unwrap();
    let part = release.part(at.part).unwrap();
    part.price_history(at.row)
        .map(|point| (point.observed_at, point.price_minor))
        .collect()
}

#[tokio::test]
async fn price_history_reaches_the_release_with_the_products() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
        .await;
    rig.build().await;
    let release = rig.open().await;
    assert_eq!(went(&release, "alpha", 1), [(hour(1), Some(100))]);

    // The history also contains a price that fell and rose again between two releases.
    rig.commit(vec![refresh("alpha", 2, 80)]).await;
    rig.commit(vec![refresh("alpha", 3, 100)]).await;
    let built = rig.build().await;
    assert_eq!((built.outcome, built.products_indexed), (ReleaseOutcome::Published, 3));
    let release = rig.open().await;
    let expected = [(hour(3), Some(100)), (hour(2), Some(80)), (hour(1), Some(100))];
    assert_eq!(went(&release, "alpha", 1), expected);
    assert_eq!(went(&release, "alpha", 2), [(hour(1), Some(500))]);
    assert_eq!(went(&release, "beta", 1), [(hour(1), Some(100))]);
}

#[tokio::test]
async fn what_was_seen_live_reaches_the_next_release_and_indexes_that_brand_alone() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
        .await;
    rig.build().await;
    let said = |number, price_minor| Observation {
        store: key("alpha", 1).store,
        product: 1,
        observed_at: hour(number),
        currency: "INR".parse().unwrap(),
        variants: vec![ObservedVariant {
            id: VariantId(10),
            price_minor,
            compare_at_minor: None,
            available: true,
        }],
        gone: Vec::new(),
    };
    let fold = async |one, seen| {
        let run = RunSummaryRow::new("run-9".parse().unwrap(), hour(0));
        rig.lake.commit_observations(vec![one], seen, run).await.unwrap()
    };
    let behind = async || {
        let current = rig.releases.current().await.unwrap().unwrap();
        let manifest = rig.releases.manifest(current.id).await.unwrap();
        let told = lag(&rig.lake, &manifest).await.unwrap();
        (told.changed.len(), told.since)
    };
    // The price is unchanged, and only the observation time is new.
    fold(said(2, 100), BTreeMap::new()).await;
    assert_eq!(behind().await, (0, None));
    assert_eq!(rig.build().await.outcome, ReleaseOutcome::Unchanged);

    fold(said(3, 80), BTreeMap::new()).await;
    assert_eq!(behind().await, (1, Some(hour(3))));
    let built = rig.build().await;
    assert_eq!((built.outcome, built.products_indexed), (ReleaseOutcome::Published, 3));
    let release = rig.open().await;
    assert_eq!(went(&release, "alpha", 1), [(hour(3), Some(80)), (hour(1), Some(100))]);
    let at = release.find(&ProductIdent::Id(key("alpha", 1).id())).unwrap();
    let shown = release.part(at.part).unwrap().product(at.row);
    assert_eq!(shown.variants[0].price_minor, 100, "the product is what the crawl saw");
    assert_eq!(behind().await, (0, None));
    assert_eq!(rig.build().await.outcome, ReleaseOutcome::Unchanged);

    // A crawl finds the store unchanged, so that the earlier price is back.
    let span = CrawlSpan {
        began_at: hour(5),
        ended_at: hour(5),
    };
    let seen = BTreeMap::from([(key("alpha", 1).store, span)]);
    fold(said(4, 70), seen).await;
    assert_eq!(rig.build().await.products_indexed, 3);
    let expected = [
        (hour(5), Some(100)),
        (hour(4), Some(70)),
        (hour(3), Some(80)),
        (hour(1), Some(100)),
    ];
    assert_eq!(went(&rig.open().await, "alpha", 1), expected);
}

#[tokio::test]
async fn a_release_that_the_log_names_and_that_is_gone_is_built_upon_by_way_of_the_last_readable_one() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
        .await;
    let first = rig.build().await;
    rig.commit(vec![refresh("alpha", 2, 90)]).await;
    rig.build().await;
    // A killed process did not notice that it had rolled back to a collected release.
    rig.releases.rollback(first.release).await.unwrap();
    let gone = ObjectPath::from(format!("releases/manifests/{}.json", first.release));
    rig.storage.store().delete(&gone).await.unwrap();

    rig.commit(vec![refresh("alpha", 3, 80)]).await;
    let third = rig.build().await;
    assert_eq!(
        (third.outcome, third.products_indexed, third.parts_kept > 0),
        (ReleaseOutcome::Published, 3, true),
        "the store that did not change keeps its part"
    );
    assert_eq!(went(&rig.open().await, "alpha", 1)[0], (hour(3), Some(80)));
}

#[tokio::test]
async fn how_far_a_release_is_behind_the_lake_is_told_by_brand_and_not_by_versions() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
        .await;
    rig.build().await;
    let behind = || async {
        let current = rig.releases.current().await.unwrap().unwrap();
        let manifest = rig.releases.manifest(current.id).await.unwrap();
        lag(&rig.lake, &manifest).await.unwrap()
    };
    assert!(behind().await.is_none());
    // After a commit that changes no brand, the release does not lag behind.
    rig.commit(vec![refresh("alpha", 2, 100)]).await;
    assert!(behind().await.is_none());
    rig.commit(vec![refresh("beta", 3, 90)]).await;
    rig.commit(vec![refresh("gamma", 4, 100)]).await;
    let told = behind().await;
    let slugs = |slugs: &[BrandSlug]| slugs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (slugs(&told.added), slugs(&told.changed), slugs(&told.removed)),
        (vec!["gamma".to_owned()], vec!["beta".to_owned()], vec![])
    );
    assert_eq!((told.lake_products, told.since), (9, Some(hour(3))));
    rig.build().await;
    assert!(behind().await.is_none());
}

#[tokio::test]
async fn a_build_over_a_pinned_release_indexes_nothing_and_a_failed_one_is_recorded() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100)]).await;
    let first = rig.build().await;
    rig.commit(vec![refresh("alpha", 2, 90)]).await;
    rig.releases.pin(first.release, PinnedBy::Pin).await.unwrap();
    let pinned = rig.build().await;
    assert_eq!(
        (pinned.outcome, pinned.release, pinned.products_indexed),
        (ReleaseOutcome::Pinned, first.release, 0)
    );
    assert!(pinned.pinned.is_some());
    assert_eq!(rig.releases.refused().await.unwrap(), None);
    rig.releases.unpin().await.unwrap();

    // If the folder cannot be created, the build fails before it has a release.
    std::fs::remove_dir_all(rig.dir.path().join("work")).unwrap();
    std::fs::write(rig.dir.path().join("work"), "a file").unwrap();
    rig.try_build().await.unwrap_err();
    let refused = rig.releases.refused().await.unwrap().unwrap();
    assert!(
        refused.reason.contains("the build folder cannot be created"),
        "{}",
        refused.reason
    );
    assert_eq!((refused.release, refused.current), (None, Some(first.release)));
    std::fs::remove_file(rig.dir.path().join("work")).unwrap();
    assert_eq!(rig.build().await.outcome, ReleaseOutcome::Published);
    assert_eq!(rig.releases.refused().await.unwrap(), None);
}

#[tokio::test]
async fn a_store_that_meets_a_conflict_at_any_write_of_a_crawl_gets_the_whole_release() {
    let mut conflicts = 0;
    for nth in 1.. {
        let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
        let rig = Rig::on(Storage::with_store(
            Arc::new(faulty.clone()),
            "memory:///".parse().unwrap(),
        ))
        .await;
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::Conflict,
            dead_after: false,
        });
        rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
            .await;
        let writes = faulty.mutations();
        let built = rig.build().await;
        assert_eq!(
            (built.outcome, built.counts.products),
            (ReleaseOutcome::Published, 6),
            "at write {nth}"
        );
        conflicts += faulty.conflicts();
        if nth > writes {
            break;
        }
    }
    assert!(conflicts > 8, "{conflicts}");
}

#[tokio::test]
async fn no_release_is_built_of_a_lake_whose_last_tick_has_no_end() {
    let rig = Rig::new().await;
    rig.commit(vec![refresh("alpha", 1, 100), refresh("beta", 1, 100)])
        .await;
    let end = ObjectPath::from("lake/_ticks/00000000000000000001.done.json");
    rig.storage.store().delete(&end).await.unwrap();
    let refused = rig.try_build().await.unwrap_err();
    assert!(
        matches!(refused, ReleaseBuildError::Snapshot(LakeError::EndMissing { tick: 1 })),
        "{refused:?}"
    );
    assert!(rig.releases.current().await.unwrap().is_none());
    let lake = Lake::open(rig.storage.child("lake"), LakeConfig::default(), clock());
    let rig = Rig {
        lake: lake.await.unwrap(),
        ..rig
    };
    assert_eq!(rig.build().await.counts.products, 6);
}
