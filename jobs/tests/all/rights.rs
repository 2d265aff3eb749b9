//! Tests of leases on stores and for committing: of crawls beside workers, and with a state that is older than the
//! lake.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use data_lake::RunSummaryRow;
use data_model::{Clock, StoreHost};
use futures::FutureExt;
use jobs::{Clocks, ProcessTime, StoreLeases};
use pipeline_probe::{ProbeOptions, probe};
use pipeline_refresh::RunState;
use pipeline_reviews::{ReviewsOptions, Widgets, refresh_reviews};
use pipeline_shipping::{ShippingOptions, refresh_shipping};
use pipeline_task::StoreDeps;
use state::StoreRight;
use storefront::{RightOutcome, StoreRights};

use crate::queue::Rig;

fn leases(rig: &Rig, name: &str) -> Arc<StoreLeases> {
    let clocks = Clocks {
        clock: Arc::clone(&rig.clock) as Arc<dyn Clock>,
        elapsed: Arc::new(ProcessTime::start()),
    };
    StoreLeases::new(rig.state.clone(), rig.config.clone(), clocks, name.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_crawls_do_not_ask_one_store_at_once_and_the_second_comes_when_the_first_is_through() {
    let rig = Rig::with_stores(20, 2).await;
    let store: StoreHost = rig.stores.stores()[0].myshopify_domain.parse().unwrap();
    let (one, two) = (leases(&rig, "one"), leases(&rig, "two"));
    let (at_once, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let work = || {
        let (at_once, most) = (Arc::clone(&at_once), Arc::clone(&most));
        async move {
            most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(60)).await;
            at_once.fetch_sub(1, Ordering::SeqCst);
        }
        .boxed()
    };
    let both = tokio::join!(one.under(&store, work()), two.under(&store, work()));
    assert_eq!(both, (RightOutcome::Done, RightOutcome::Done));
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_whose_find_waits_to_be_committed_is_left_and_one_that_a_crawl_asks_is_given_to_no_worker() {
    let rig = Rig::with_stores(20, 2).await;
    rig.enqueue().await;
    let (lease, now) = (Duration::from_secs(60), rig.clock.now());
    let taken = rig.state.take_work("one", 1, lease, 3, now).await.unwrap();
    assert!(rig.state.stage_work(&taken[0], None, now).await.unwrap());
    let staged = leases(&rig, "two");
    let nothing = || std::future::ready(()).boxed();
    let told = staged.under(&taken[0].store, nothing()).await;
    assert!(
        matches!(&told, RightOutcome::ByAnother(why) if why.contains("waits to be committed")),
        "{told:?}"
    );

    let stores = rig.stores.stores().into_iter();
    let mut hosts = stores.map(|store| store.myshopify_domain.parse::<StoreHost>().unwrap());
    let other = hosts.find(|store| *store != taken[0].store).unwrap();
    let StoreRight::Given(right) = rig.state.take_store(&other, "two", lease, now).await.unwrap() else {
        panic!("it is free");
    };
    assert_eq!(rig.state.take_work("one", 9, lease, 3, now).await.unwrap(), Vec::new());
    assert!(rig.state.give_back_store(&right).await.unwrap());
    let next = rig.state.take_work("one", 9, lease, 3, now).await.unwrap();
    assert_eq!(next.iter().map(|work| &work.store).collect::<Vec<_>>(), [&other]);
    assert!(!rig.state.give_back_store(&right).await.unwrap(), "it has risen since");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_over_a_state_that_is_older_than_the_lake_take_a_later_right_to_commit_and_go_on() {
    let rig = Rig::with_stores(40, 4).await;
    // The lake knows newer fences than the state, as if the state was restored from a backup.
    let brand = kit::brand("ELSEWHERE");
    let number = 1;
    let crawled = kit::refresh(
        brand.clone(),
        number,
        rig.clock.now(),
        vec![kit::product(&brand, 1, "Shirt")],
    );
    let row = RunSummaryRow::new(crawled.run.clone(), rig.clock.now());
    rig.lake().await.under(1_000).commit(vec![crawled], row).await.unwrap();
    rig.enqueue().await;
    let (worker, _stop) = rig.worker("one");
    let report = worker.await.unwrap();
    assert_eq!((report.staged, report.runs_closed), (4, 1));
    let told = rig.report().await;
    assert_eq!((told.state, told.totals.changed), (RunState::Finished, 4));
    assert_eq!(rig.products().await.len(), 5);
}

/// Tasks over the stores of a rig beside crawls.
struct StoreTasks {
    deps: StoreDeps,
    widgets: Widgets,
}

impl StoreTasks {
    async fn of(rig: &Rig) -> Self {
        let market = &rig.market;
        let (storage, clock) = (market.storage.clone(), Arc::clone(&market.clock));
        let deps = StoreDeps {
            rights: Some(leases(rig, "aside")),
            ..StoreDeps::new(storage, rig.lake().await, market.storefront.clone(), clock)
        };
        let widgets = market.widgets.clone();
        Self { deps, widgets }
    }

    /// Returns the outcomes of the stores for shipping terms, reviews and delivery.
    async fn ask(&self) -> [Vec<String>; 3] {
        let shipping = ShippingOptions {
            after_s: 3_600,
            ..ShippingOptions::default()
        };
        let delivery = ProbeOptions {
            budget_per_day: 2,
            ..ProbeOptions::default()
        };
        let shipping = refresh_shipping(&shipping, &self.deps, None).await.unwrap();
        let reviews = refresh_reviews(&ReviewsOptions::default(), &self.deps, &self.widgets).await;
        let (reviews, delivery) = (reviews.unwrap(), probe(&self.deps, &delivery).await.unwrap());
        [
            shipping.asked.iter().map(|one| one.outcome.to_owned()).collect(),
            reviews.asked.iter().map(|one| one.outcome.to_owned()).collect(),
            delivery.brands.iter().map(|one| format!("{:?}", one.outcome)).collect(),
        ]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_workers_have_are_asked_for_no_terms_reviews_or_delivery_and_are_due_in_the_next_run() {
    let mut rig = Rig::with_stores(20, 2).await;
    rig.enqueue().await;
    rig.worker("one").0.await.unwrap();
    // The lease is short, because a task waits for a busy store as long as a lease lasts.
    rig.config.lease_s = 2;
    rig.enqueue().await;
    let lease = Duration::from_secs(3_600);
    let taken = rig.state.take_work("one", 9, lease, 3, rig.clock.now()).await.unwrap();
    assert_eq!(taken.len(), 2);
    let asked = || {
        let stores = rig.stores.stores().into_iter();
        stores
            .map(|store| rig.stores.requests(&store.slug).unwrap().count())
            .sum::<u64>()
    };
    let before = asked();
    let aside = StoreTasks::of(&rig).await;
    let left = ["skipped", "skipped"].map(str::to_owned);
    assert_eq!(
        aside.ask().await,
        [left.clone().into(), left.into(), vec!["Skipped".to_owned(); 2]]
    );
    assert_eq!(asked(), before, "no store was asked");

    for work in &taken {
        assert!(rig.state.give_back_work(work, rig.clock.now()).await.unwrap());
    }
    let [shipping, reviews, delivery] = aside.ask().await;
    assert_eq!((shipping.len(), reviews.len(), delivery.len()), (2, 2, 2));
    let all = [shipping, reviews, delivery].concat();
    assert!(
        !all.iter().any(|outcome| outcome.eq_ignore_ascii_case("skipped")),
        "{all:?}"
    );
    assert!(asked() > before);
    // All leases were returned, so workers get the stores at once.
    let again = rig.state.take_work("one", 9, lease, 3, rig.clock.now()).await.unwrap();
    assert_eq!(again.len(), 2);
}
