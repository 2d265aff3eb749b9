//! Tests of workers that share a queue, a lake and emulated stores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use data_checks::CheckOutcome;
use data_lake::{Lake, LakeConfig};
use data_model::{Clock, StoreHost};
use data_storage::Storage;
use emulator::{Emulator, EmulatorConfig, Fault, RunningStores, Source};
use jobs::{
    CadenceConfig, EnqueuedRun, Market, MonotonicClock, ProcessTime, QueueConfig, QueueDeps, QueueWorker, WorkerReport,
};
use kit::ShiftedClock;
use pipeline_crawl::{NewBrand, Registry};
use pipeline_refresh::{RefreshConfig, RunReport, RunState, list_runs, read_run};
use pipeline_reviews::{ReviewsConfig, Widgets};
use state::{State, StateTarget};
use storefront::{Storefront, StorefrontConfig};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct Rig {
    pub(crate) stores: RunningStores,
    pub(crate) clock: Arc<ShiftedClock>,
    pub(crate) market: Arc<Market>,
    pub(crate) state: State,
    pub(crate) config: QueueConfig,
    _folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) async fn with_stores(products: u64, stores: u32) -> Self {
        Self::with_latency(products, stores, Duration::ZERO).await
    }

    /// Creates a rig whose stores respond with this delay.
    pub(crate) async fn with_latency(products: u64, stores: u32, latency: Duration) -> Self {
        let source = Source::Generated {
            products,
            stores,
            seed: 11,
        };
        let config = EmulatorConfig {
            latency,
            ..EmulatorConfig::new(source)
        };
        let stores = Emulator::start(config).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::from_path(folder.path()).unwrap();
        let clock = ShiftedClock::new();
        let brands: Vec<_> = stores
            .stores()
            .into_iter()
            .map(|store| NewBrand {
                store: Some(store.myshopify_domain.parse().unwrap()),
                name: Some(store.name),
                ..NewBrand::at(store.base_url.parse().unwrap())
            })
            .collect();
        let mut registry = Registry::load(&storage).await.unwrap();
        registry.add(&storage, &brands, clock.now()).await.unwrap();
        let market = market(&storage, Arc::clone(&clock) as Arc<dyn Clock>, "haat-test");
        let state = State::open(&StateTarget::Folder(folder.path().join("state")))
            .await
            .unwrap();
        Self {
            stores,
            clock,
            market: Arc::new(market),
            state,
            config: QueueConfig {
                retry_pause_s: 0,
                poll_ms: 20,
                ..QueueConfig::default()
            },
            _folder: folder,
        }
    }

    fn deps(&self, name: &str) -> QueueDeps {
        QueueDeps {
            state: self.state.clone(),
            market: Arc::clone(&self.market),
            elapsed: Arc::new(ProcessTime::start()) as Arc<dyn MonotonicClock>,
            name: name.to_owned(),
        }
    }

    pub(crate) async fn enqueue(&self) -> EnqueuedRun {
        // The seconds in run ids keep the runs in order.
        self.clock.advance_ms(1_000);
        self.deps("test").enqueue(None, false).await.unwrap()
    }

    /// Starts a worker that ends when the queue is empty.
    pub(crate) fn worker(&self, name: &str) -> (JoinHandle<WorkerReport>, CancellationToken) {
        let worker = QueueWorker::new(self.deps(name), self.config.clone());
        let stop = CancellationToken::new();
        let told = stop.clone();
        (
            tokio::spawn(async move { Box::pin(worker.run(told, true)).await }),
            stop,
        )
    }

    pub(crate) async fn report(&self) -> RunReport {
        let runs = list_runs(&self.market.storage).await.unwrap();
        read_run(&self.market.storage, &runs[0]).await.unwrap().unwrap()
    }

    pub(crate) async fn lake(&self) -> Lake {
        let (at, clock) = (self.market.storage.child("lake"), Arc::clone(&self.market.clock));
        Lake::open(at, LakeConfig::default(), clock).await.unwrap()
    }

    pub(crate) async fn products(&self) -> BTreeMap<StoreHost, u64> {
        let rows = self.lake().await.snapshot().await.unwrap().brands().await.unwrap();
        rows.into_iter()
            .map(|row| (row.brand.store, row.product_count))
            .collect()
    }

    /// Waits until `wanted` returns true, while other tasks work.
    pub(crate) async fn until(&self, what: &str, wanted: impl AsyncFn() -> bool) {
        let begin = std::time::Instant::now();
        while !wanted().await {
            assert!(begin.elapsed() < Duration::from_secs(300), "{what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn leased(&self) -> u64 {
        self.state.work_counts(self.clock.now()).await.unwrap().leased
    }
}

pub(crate) fn market(storage: &Storage, clock: Arc<dyn Clock>, agent: &str) -> Market {
    let storefront = StorefrontConfig {
        retries_max: 0,
        // The timeout is long, so that a slow store does not time out on a busy machine.
        request_timeout_ms: 600_000,
        user_agent: agent.to_owned(),
        ..StorefrontConfig::loopback()
    };
    let hour = Duration::from_secs(3_600);
    Market {
        storage: storage.clone(),
        lake: LakeConfig::default(),
        widgets: Widgets::new(ReviewsConfig::default(), &storefront, Arc::clone(&clock)).unwrap(),
        storefront: Storefront::new(storefront, Arc::clone(&clock)).unwrap(),
        clock,
        delivery: pipeline_probe::ProbeConfig::default(),
        refresh: RefreshConfig {
            tick_ms: 50,
            ..RefreshConfig::default()
        },
        queue: None,
        rights: None,
        quality: pipeline_quality::QualityConfig::default(),
        cadence: CadenceConfig::default(),
        embedder: None,
        terms_model: None,
        collapse_share: 0.5,
        cache_dir: "cache".into(),
        build_dir: "build".into(),
        releases_kept: 5,
        gc_min_age: hour,
        lake_retention: hour,
        check_age_max: hour,
    }
}

fn sum(reports: &[WorkerReport], of: impl Fn(&WorkerReport) -> u64) -> u64 {
    reports.iter().map(of).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_share_a_run_and_one_of_them_commits_it_in_few_commits() {
    let rig = Rig::with_stores(240, 24).await;
    let run = rig.enqueue().await;
    assert_eq!(run.stores, 24);
    let (one, two) = (rig.worker("one").0, rig.worker("two").0);
    let reports = [one.await.unwrap(), two.await.unwrap()];
    assert_eq!(
        (sum(&reports, |one| one.staged), sum(&reports, |one| one.runs_closed)),
        (24, 1)
    );
    let report = rig.report().await;
    assert_eq!(
        (&report.run, report.state, report.queued),
        (&run.run, RunState::Finished, true)
    );
    assert_eq!(
        (report.totals.changed, report.totals.stores, report.totals.products),
        (24, 24, 240)
    );
    // Workers query stores one by one, but several stores share a commit.
    assert!(report.commits <= 8, "{}", report.commits);
    assert_eq!(rig.products().await.values().sum::<u64>(), 240);
    let checks = data_checks::load(&rig.market.storage).await.unwrap();
    for host in rig.products().await.keys() {
        assert_eq!(checks.of(host).unwrap().outcome, CheckOutcome::Changed);
    }
    // Only the ledger remains.
    assert!(rig.state.open_work_runs().await.unwrap().is_empty());
    let staging = rig.market.storage.local_dir().unwrap().join("staging");
    let left = std::fs::read_dir(staging).map_or(0, |found| {
        found
            .filter(|run| std::fs::read_dir(run.as_ref().unwrap().path()).unwrap().count() > 0)
            .count()
    });
    assert_eq!(left, 0);

    // A run without changes makes no commit.
    rig.enqueue().await;
    rig.worker("one").0.await.unwrap();
    let again = rig.report().await;
    assert_eq!((again.totals.unchanged, again.commits), (24, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_is_tried_again_and_then_a_dead_letter_that_costs_no_other() {
    let rig = Rig::with_stores(30, 3).await;
    let broken = rig.stores.stores().remove(1);
    rig.stores.set_fault(&broken.slug, Fault::HtmlForJson).unwrap();
    rig.enqueue().await;
    let report = rig.worker("one").0.await.unwrap();
    assert_eq!((report.staged, report.retried, report.dead), (2, 2, 1));
    let told = rig.report().await;
    assert_eq!((told.totals.changed, told.totals.failed), (2, 1));
    let letters = rig.state.dead_letters(10).await.unwrap();
    assert_eq!(
        (letters.len(), letters[0].store.as_str(), letters[0].attempts),
        (1, broken.myshopify_domain.as_str(), 3)
    );
    assert!(!letters[0].reason.is_empty());

    rig.stores.set_fault(&broken.slug, None).unwrap();
    let slugs = [letters[0].slug.clone()];
    rig.state.drop_dead_letters(&slugs).await.unwrap();
    rig.clock.advance_ms(1_000);
    rig.deps("test").enqueue(Some(slugs.as_slice()), false).await.unwrap();
    rig.worker("one").0.await.unwrap();
    assert_eq!(rig.report().await.totals.changed, 1);
    assert_eq!(rig.products().await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_told_to_stop_gives_back_what_it_has_not_finished() {
    let mut rig = Rig::with_stores(30, 3).await;
    rig.config.commit_wait_s = 1;
    let slow = rig.stores.stores().remove(0);
    rig.stores
        .set_fault(&slow.slug, Fault::Slow { delay_ms: 300_000 })
        .unwrap();
    rig.enqueue().await;
    let (worker, stop) = rig.worker("one");
    rig.until("two are through", async || rig.report_so_far().await == 2)
        .await;
    stop.cancel();
    let report = worker.await.unwrap();
    assert_eq!((report.staged, report.given_back), (2, 1));
    let items = rig.state.work_items(10).await.unwrap();
    assert_eq!((items.len(), items[0].attempts, items[0].holder.clone()), (1, 0, None));
    assert_eq!(rig.report().await.state, RunState::Interrupted);

    rig.stores.set_fault(&slow.slug, None).unwrap();
    let report = rig.worker("two").0.await.unwrap();
    assert_eq!((report.staged, report.runs_closed), (1, 1));
    let told = rig.report().await;
    assert_eq!(
        (told.totals.changed, told.state, told.resumed),
        (3, RunState::Finished, 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_on_a_machine_that_slept_beyond_its_lease_loses_its_store_and_its_work_counts_once() {
    let mut rig = Rig::with_stores(30, 3).await;
    rig.config.commit_wait_s = 1;
    let slow = rig.stores.stores().remove(0);
    rig.stores
        .set_fault(&slow.slug, Fault::Slow { delay_ms: 20_000 })
        .unwrap();
    rig.enqueue().await;
    let (worker, stop) = rig.worker("one");
    rig.until("two are through", async || rig.report_so_far().await == 2)
        .await;
    rig.stores.set_fault(&slow.slug, None).unwrap();
    // The clock advances by ninety seconds at once.
    rig.clock.advance_ms(90_000);
    let report = worker.await.unwrap();
    drop(stop);
    // The worker lost the store and took it again under a higher fence, and took a new lease for committing.
    assert_eq!((report.staged, report.lost), (3, 1));
    let told = rig.report().await;
    assert_eq!(
        (told.totals.changed, told.totals.stores, told.state),
        (3, 3, RunState::Finished)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_worker_had_is_done_by_another_when_its_lease_ends() {
    let mut rig = Rig::with_stores(60, 6).await;
    rig.config.commit_wait_s = 1;
    let slow = rig.stores.stores().remove(0);
    rig.stores
        .set_fault(&slow.slug, Fault::Slow { delay_ms: 300_000 })
        .unwrap();
    rig.enqueue().await;
    let (killed, _stop) = rig.worker("one");
    rig.until("five are through", async || rig.report_so_far().await == 5)
        .await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    rig.stores.set_fault(&slow.slug, None).unwrap();
    let (other, _) = rig.worker("two");
    rig.until("the other looks", async || {
        rig.state.work_counts(rig.clock.now()).await.unwrap().runs == 1
    })
    .await;
    assert_eq!(rig.leased().await, 1);
    rig.clock.advance_ms(61_000);
    let report = other.await.unwrap();
    assert_eq!((report.staged, report.runs_closed), (1, 1));
    let told = rig.report().await;
    assert_eq!((told.totals.changed, told.totals.stores), (6, 6));
    assert_eq!(rig.products().await.len(), 6);
}

impl Rig {
    /// Returns the number of stores in the ledger of the newest run.
    pub(crate) async fn report_so_far(&self) -> usize {
        let runs = list_runs(&self.market.storage).await.unwrap();
        let Some(run) = runs.first() else { return 0 };
        let report = read_run(&self.market.storage, run).await.unwrap();
        report.map_or(0, |report| report.stores.len())
    }
}
