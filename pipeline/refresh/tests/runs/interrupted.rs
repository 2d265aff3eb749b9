use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use futures::future::BoxFuture;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use object_store::ObjectStore;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use pipeline_crawl::{NoProgress, Progress, Registry};
use pipeline_refresh::{OtherCrawls, RunOptions, RunState, confirm, list_runs, read_run, remove_brand};
use storefront::{RightOutcome, StoreRights};
use tokio_util::sync::CancellationToken;

use crate::support::{Fault, Rig, Shop, outcomes, product, slug};

#[tokio::test]
async fn a_killed_run_is_gone_on_with_and_what_is_done_is_not_asked_for_again() {
    let rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    rig.street.fault("tea", "page=3", Fault::Hang);
    let run = rig.killed_at("tea", &["mate"]).await;
    let left = read_run(&rig.storage, &run).await.unwrap().unwrap();
    assert_eq!(
        (left.state, outcomes(&left)),
        (RunState::Running, vec!["mate changed".to_owned()])
    );

    rig.street.change("tea", |shop| shop.faults.clear());
    rig.street.take_asked();
    let report = rig.run().await;
    assert_eq!(
        (&report.run, report.resumed, report.state),
        (&run, 1, RunState::Finished)
    );
    assert_eq!(outcomes(&report), ["mate changed", "tea changed"]);
    let asked = rig.street.take_asked();
    // The first page is requested again, to detect changes of the listing.
    assert_eq!(
        asked,
        ["3 200", "4 200", "1 304"].map(|page| format!("tea/products.json?page={page}"))
    );
    assert_eq!(rig.ids("tea").await, (1..=9).collect::<Vec<_>>());
    assert_eq!(rig.run().await.resumed, 0, "a finished run is not gone on with");
}

#[tokio::test]
async fn a_run_that_may_be_at_work_is_not_taken_over_until_it_has_been_silent() {
    let mut rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.street.fault("tea", "page=2", Fault::Hang);
    let first = rig.killed_at("tea", &[]).await;
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.others = OtherCrawls::Unknown;
    let beside = rig.run().await;
    assert_eq!((beside.resumed, outcomes(&beside)), (0, vec!["tea changed".to_owned()]));
    assert_ne!(beside.run, first);
    rig.later(60_000);
    let after = rig.run().await;
    assert_eq!((after.resumed, &after.run), (1, &first));
}

#[tokio::test]
async fn the_run_of_another_crawl_that_is_at_work_is_never_taken_over_however_long_it_is_silent() {
    let mut rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.street.fault("tea", "page=2", Fault::Hang);
    let first = rig.killed_at("tea", &[]).await;
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.later(60_000);
    rig.others = OtherCrawls::AtWork;
    let beside = rig.run().await;
    assert_eq!((beside.resumed, outcomes(&beside)), (0, vec!["tea changed".to_owned()]));
    assert_ne!(beside.run, first);
    let left = read_run(&rig.storage, &first).await.unwrap().unwrap();
    assert_eq!(left.state, RunState::Running);
    rig.others = OtherCrawls::Absent;
    assert_eq!(rig.run().await.run, first, "once it is gone its run is gone on with");
}

#[tokio::test]
async fn of_two_crawls_at_once_one_reports_the_commit_and_what_changed() {
    let mut rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    rig.others = OtherCrawls::AtWork;
    let (one, two) = tokio::join!(rig.run(), rig.run());
    assert_ne!(one.run, two.run);
    let lake = rig.lake().await;
    let ticks = lake.snapshot().await.unwrap().tick().unwrap();
    assert_eq!(one.commits + two.commits, ticks);
    assert_eq!((one.totals.changed + two.totals.changed, one.totals.stores), (2, 2));
    assert_eq!(one.totals.unchanged + two.totals.unchanged, 2);
}

/// Returns the path of a tick's record or of its end marker.
fn tick(number: u64, end: &str) -> ObjectPath {
    ObjectPath::from(format!("lake/_ticks/{number:020}{end}.json"))
}

#[tokio::test(start_paused = true)]
async fn a_run_shows_signs_of_life_while_a_commit_takes_long() {
    let memory = Storage::memory();
    let slow = Arc::new(ThrottledStore::new(
        Arc::clone(memory.store()),
        ThrottleConfig::default(),
    ));
    let storage = Storage::with_store(Arc::clone(&slow) as Arc<dyn ObjectStore>, "memory:///".parse().unwrap());
    let rig = Rig::on(storage, [("tea", Shop::of(1..=4))]).await;
    rig.lake().await;
    slow.config_mut(|config| config.wait_put_per_call = Duration::from_secs(10));
    let is_there = async |path| memory.store().head(&path).await.is_ok();
    let looking = async {
        let mut signs = BTreeSet::new();
        while !is_there(tick(1, ".done")).await {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if is_there(tick(1, "")).await {
                let run = list_runs(&memory).await.unwrap().remove(0);
                signs.insert(read_run(&memory, &run).await.unwrap().unwrap().ended_at);
            }
        }
        signs.len()
    };
    let (report, signs) = tokio::join!(rig.run(), looking);
    assert_eq!(report.state, RunState::Finished);
    // The commit writes at least six tables, each of which takes ten seconds.
    assert!(signs >= 3, "{signs} signs of life");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let last = read_run(&memory, &report.run).await.unwrap().unwrap();
    assert_eq!(last.state, RunState::Finished, "no sign of life comes after the end");
}

#[tokio::test]
async fn a_run_while_the_clock_was_a_year_ahead_costs_the_next_ones_nothing() {
    const YEAR_MS: i64 = 365 * 24 * 3_600_000;
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=4))]).await;
    rig.later(YEAR_MS);
    rig.street.fault("tea", "page=2", Fault::Hang);
    let killed = rig.killed_at("tea", &["mate"]).await;
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.later(-YEAR_MS);
    rig.street.change("mate", |shop| *shop = Shop::of(1..=4));
    let right = rig.run().await;
    assert_ne!(right.run, killed, "nobody knows how old the other one is");
    assert_eq!(
        (right.resumed, outcomes(&right)),
        (0, vec!["mate changed".to_owned(), "tea changed".to_owned()])
    );
    assert_eq!(rig.ids("mate").await, [1, 2, 3, 4]);
    let checks = data_checks::load(&rig.storage).await.unwrap();
    assert!(
        checks
            .brands
            .values()
            .all(|check| check.run == right.run && check.checked_at <= rig.now())
    );
    let left = read_run(&rig.storage, &killed).await.unwrap().unwrap();
    assert_eq!(left.state, RunState::Abandoned);
}

#[tokio::test]
async fn a_brand_that_was_removed_and_added_while_a_run_was_interrupted_is_read_again() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=4))]).await;
    rig.street.fault("tea", "page=2", Fault::Hang);
    rig.killed_at("tea", &["mate"]).await;
    assert_eq!(rig.ids("mate").await, [1, 2, 3]);
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.later(1000);
    remove_brand(&slug("mate"), &rig.storage, &rig.lake().await, rig.now())
        .await
        .unwrap();
    rig.register("mate").await;
    let report = rig.run().await;
    assert_eq!(
        (report.resumed, outcomes(&report)),
        (1, vec!["mate changed".to_owned(), "tea changed".to_owned()])
    );
    assert_eq!(rig.ids("mate").await, [1, 2, 3]);
}

#[tokio::test]
async fn what_was_confirmed_while_a_run_was_interrupted_is_believed_when_it_goes_on() {
    let rig = Rig::with([("mate", Shop::of(1..=30)), ("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    rig.street.change("mate", |shop| *shop = Shop::of(1..=8));
    rig.street.change("tea", |shop| *shop = Shop::of(1..=5));
    rig.street.fault("tea", "page=2", Fault::Hang);
    rig.killed_at("tea", &["mate"]).await;
    confirm(&rig.storage, &slug("mate")).await.unwrap();
    rig.street.change("tea", |shop| shop.faults.clear());
    let report = rig.run().await;
    assert_eq!(
        (report.resumed, outcomes(&report)),
        (1, vec!["mate changed".to_owned(), "tea changed".to_owned()])
    );
    assert_eq!(rig.ids("mate").await, (1..=8).collect::<Vec<_>>());
}

/// Removes a brand from the registry as soon as one of its pages was read.
#[derive(Debug)]
struct Remover(Storage);

impl Progress for Remover {
    fn page(&self, brand: &BrandSlug, _page: u32, _bytes: u64, _products: u32) {
        let removed = async {
            let mut registry = Registry::load(&self.0).await.unwrap();
            if registry.brand(brand).is_some() {
                let now = Timestamp::from_micros(1);
                registry.remove(&self.0, brand, now).await.unwrap();
            }
        };
        futures::executor::block_on(removed);
    }
}

#[tokio::test]
async fn a_brand_that_is_removed_while_it_is_crawled_does_not_come_back() {
    let mut rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.progress = Arc::new(Remover(rig.storage.clone()));
    let report = rig.run().await;
    assert_eq!((report.commits, rig.ids("tea").await), (0, Vec::new()));
    assert_eq!(report.totals.skipped, 1);
}

#[tokio::test]
async fn a_run_too_old_to_go_on_with_is_abandoned() {
    let rig = Rig::with([("tea", Shop::of(1..=4))]).await;
    rig.street.fault("tea", "page=2", Fault::Hang);
    let left = rig.killed_at("tea", &[]).await;
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.later(7 * 3600 * 1000);
    let report = rig.run().await;
    let runs = list_runs(&rig.storage).await.unwrap();
    assert_eq!(runs, [report.run, left.clone()]);
    let left = read_run(&rig.storage, &left).await.unwrap().unwrap();
    assert_eq!(left.state, RunState::Abandoned);
}

/// Cancels the run as soon as one store is finished.
#[derive(Debug)]
struct EndsRun(CancellationToken);

impl Progress for EndsRun {
    fn store_finished(&self, _brand: &BrandSlug, _outcome: &str, _detail: Option<&str>) {
        self.0.cancel();
    }
}

#[tokio::test]
async fn a_cancelled_run_commits_what_is_finished_and_leaves_the_rest() {
    let mut rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    rig.street.fault("tea", "page=3", Fault::Hang);
    rig.progress = Arc::new(EndsRun(rig.cancel.clone()));
    let report = rig.run().await;
    assert_eq!(
        (report.state, outcomes(&report)),
        (RunState::Interrupted, vec!["mate changed".into(), "tea skipped".into()])
    );
    assert_eq!(rig.ids("mate").await.len(), 4);
    rig.street.change("tea", |shop| shop.faults.clear());
    rig.cancel = CancellationToken::new();
    rig.progress = Arc::new(NoProgress);
    let next = rig.run().await;
    assert_eq!(
        (next.run, next.state, outcomes(&report)[0].as_str()),
        (report.run.clone(), RunState::Finished, "mate changed")
    );
    assert_eq!(rig.ids("tea").await.len(), 9);
}

/// Grants the right to every store except one. The request for that right never completes.
#[derive(Debug)]
struct AllBut(&'static str);

#[async_trait]
impl StoreRights for AllBut {
    async fn under(&self, store: &StoreHost, work: BoxFuture<'_, ()>) -> RightOutcome {
        if store.as_str().starts_with(self.0) {
            std::future::pending::<()>().await;
        }
        work.await;
        RightOutcome::Done
    }
}

#[tokio::test]
async fn a_cancelled_run_waits_for_no_right_to_a_store() {
    let mut rig = Rig::with([("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=9))]).await;
    rig.rights = Some(Arc::new(AllBut("tea")));
    rig.progress = Arc::new(EndsRun(rig.cancel.clone()));
    let report = rig.run().await;
    assert_eq!(
        (report.state, outcomes(&report)),
        (RunState::Interrupted, vec!["mate changed".into(), "tea skipped".into()])
    );
    rig.cancel = CancellationToken::new();
    (rig.rights, rig.progress) = (None, Arc::new(NoProgress));
    let next = rig.run().await;
    assert_eq!((next.run, next.state), (report.run, RunState::Finished));
    assert_eq!(rig.ids("tea").await.len(), 9);
}

/// Runs with the `nth` write failing, then again without a fault. Returns true if the fault occurred.
async fn failing_at(nth: u64, kind: FaultKind, dead_after: bool) -> bool {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    let rig = Rig::on(storage, [("mate", Shop::of(1..=4)), ("tea", Shop::of(1..=4))]).await;
    rig.run().await;
    rig.street.change("mate", |shop| {
        shop.list([product(1, "1.00"), product(2, "2.00"), product(9, "9.00")])
    });
    rig.street.change("tea", |shop| {
        shop.list([product(1, "1.00"), product(2, "2.00"), product(3, "2.00")])
    });
    faulty.arm(FaultPlan { nth, kind, dead_after });
    let _ = rig.run_with(&RunOptions::default()).await;
    let met = faulty.mutations() >= nth;
    faulty.disarm();
    let report = rig.run().await;
    assert_eq!(report.state, RunState::Finished, "{kind:?} {nth}");
    assert_eq!(report.totals.failed, 0, "{kind:?} {nth}: {report:?}");
    assert_eq!(
        (rig.ids("mate").await, rig.ids("tea").await),
        (vec![1, 2, 9], vec![1, 2, 3]),
        "{kind:?} {nth}"
    );
    let versions = rig.versions().await;
    let quiet = rig.run().await;
    assert_eq!(
        (quiet.totals.unchanged, quiet.commits, rig.versions().await),
        (2, 0, versions),
        "{kind:?} {nth}"
    );
    // Pages landed before the kill have no stored validators. The next run stores them.
    rig.street.take_asked();
    rig.run().await;
    let asked = rig.street.take_asked();
    assert!(asked.iter().all(|asked| asked.ends_with("304")), "{kind:?} {nth}");
    met
}

async fn failing_at_each(dead_after: bool) {
    for nth in 1..=200 {
        let kind = if nth % 2 == 0 {
            FaultKind::AfterEffect
        } else {
            FaultKind::BeforeEffect
        };
        if !failing_at(nth, kind, dead_after).await {
            assert!(nth > 20, "a run writes more than that");
            return;
        }
    }
    panic!("a run of two stores writes less than that");
}

#[tokio::test]
async fn a_kill_at_any_write_is_made_good_by_the_next_run() {
    failing_at_each(true).await;
}

#[tokio::test]
async fn a_write_that_fails_once_costs_nothing_that_the_next_run_does_not_make_good() {
    failing_at_each(false).await;
}

/// The two crawls share no state and do not detect each other. The first one has read the store but waits for another
/// store, while the second finds other prices and finishes.
#[tokio::test]
async fn a_crawl_takes_nothing_back_that_another_one_read_after_it_had_begun() {
    let mut rig = Rig::with([("mate", Shop::of(1..=2)), ("tea", Shop::of(1..=4))]).await;
    (rig.others, rig.config.tick_ms) = (OtherCrawls::AtWork, 600_000);
    rig.run().await;
    let costs = |price| {
        rig.street
            .change("tea", |shop| shop.list((1..=4).map(|id| product(id, price))));
    };
    costs("450.00");
    rig.street.fault("mate", "page=1", Fault::Hang);
    rig.street.take_asked();
    let second = async {
        let mut is_read = false;
        while !(is_read && rig.street.hangs("mate")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
            rig.street.change("tea", |shop| {
                is_read = shop.asked.iter().any(|asked| asked.contains("page=1"))
            });
        }
        costs("470.00");
        let tea = RunOptions {
            only: Some(vec![slug("tea")]),
            ..RunOptions::default()
        };
        let report = rig.run_with(&tea).await.unwrap();
        rig.street.change("mate", |shop| shop.faults.clear());
        report
    };
    let (first, second) = tokio::join!(rig.run(), second);
    assert_eq!(outcomes(&second), ["tea changed"]);
    assert_eq!(outcomes(&first), ["mate unchanged", "tea failed"]);
    let prices = rig.products("tea").await;
    assert!(prices.iter().all(|product| product.variants[0].price_minor == 47_000));
    assert_eq!(outcomes(&rig.run().await), ["mate unchanged", "tea unchanged"]);
}
