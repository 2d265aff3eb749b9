//! Tests of jobs that keep a market small and intact.

use std::sync::Arc;

use data_lake::RunSummaryRow;
use data_model::{Brand, Product};
use futures::TryStreamExt;
use jobs::{JobName, JobReport, Market, Turn, works};
use object_store::{ObjectMeta, ObjectStore as _, ObjectStoreExt as _};
use tokio_util::sync::CancellationToken;

use crate::queue::Rig;

async fn run(rig: &Rig, market: &Arc<Market>, name: JobName) -> JobReport {
    let work = works(market).into_iter().find(|work| work.name() == name).unwrap();
    let turn = Turn {
        cancel: CancellationToken::new(),
        scheduled_at: data_model::Clock::now(&*rig.clock),
    };
    work.run(turn).await.unwrap()
}

/// Returns the market with folders of its own for builds.
fn with_folders(rig: &Rig, folder: &std::path::Path) -> Arc<Market> {
    let market = crate::queue::market(&rig.market.storage, Arc::clone(&rig.clock) as _, "haat-test");
    Arc::new(Market {
        cache_dir: folder.join("cache"),
        build_dir: folder.join("build"),
        ..market
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_tidies_what_many_small_commits_left() {
    let rig = Rig::with_stores(20, 2).await;
    let folder = tempfile::tempdir().unwrap();
    let market = with_folders(&rig, folder.path());
    let lake = rig.lake().await;
    let brand = Brand {
        store: "one.myshopify.com".parse().unwrap(),
        ..kit::brand("ONE")
    };
    for number in 0..10 {
        rig.clock.advance_ms(1_000);
        let product = Product {
            variants: vec![kit::variant(10, 500 + number)],
            ..kit::product(&brand, 1, "Cotton Shirt")
        };
        let now = data_model::Clock::now(&*rig.clock);
        let crawled = kit::refresh(brand.clone(), number, now, vec![product]);
        let row = RunSummaryRow::new(crawled.run.clone(), now);
        lake.commit(vec![crawled], row).await.unwrap();
    }
    let report = run(&rig, &market, JobName::BuildRelease).await;
    assert_eq!(report.counts["published"], 1, "{report:?}");
    assert!(report.counts["merges"] >= 1, "{report:?}");
    // A second run finds nothing to do.
    let again = run(&rig, &market, JobName::BuildRelease).await;
    assert_eq!((again.counts["published"], again.counts["merges"]), (0, 0), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn brands_whose_rows_are_lost_are_due_at_once_and_come_back() {
    let rig = Rig::with_stores(60, 6).await;
    let market = Arc::clone(&rig.market);
    let first = run(&rig, &market, JobName::RefreshCatalogue).await;
    assert_eq!((first.counts["due"], first.counts["changed"]), (6, 6), "{first:?}");
    // The shortest interval has passed, but no brand is due yet.
    rig.clock.advance_ms(61 * 60_000);
    assert_eq!(run(&rig, &market, JobName::RefreshCatalogue).await.counts["due"], 0);

    let files = market.storage.child("lake").child("products");
    let listed: Vec<ObjectMeta> = files.store().list(None).try_collect().await.unwrap();
    let is_data = |path: &&object_store::path::Path| path.as_ref().starts_with("bucket=");
    let lost = listed.iter().map(|meta| &meta.location).find(is_data).unwrap();
    files.store().delete(lost).await.unwrap();
    let damaged = rig.lake().await.find_damage(false).await.unwrap();
    assert!(!damaged.is_empty() && damaged.len() < 6, "{damaged:?}");
    let second = run(&rig, &market, JobName::RefreshCatalogue).await;
    assert_eq!(second.counts["due"], damaged.len() as u64, "{second:?}");
    assert!(rig.lake().await.find_damage(false).await.unwrap().is_empty());
    assert_eq!(rig.products().await.values().sum::<u64>(), 60);
    assert_eq!(run(&rig, &market, JobName::RefreshCatalogue).await.counts["due"], 0);
}
