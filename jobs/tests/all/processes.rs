//! Tests of worker processes on PostgreSQL: one is killed, and one is paused beyond its lease.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_lake::{Lake, LakeConfig};
use data_model::Clock;
use data_storage::Storage;
use emulator::{Emulator, EmulatorConfig, RunningStores, Source};
use jobs::{ProcessTime, QueueConfig, QueueDeps, QueueWorker};
use kit::ShiftedClock;
use pipeline_crawl::{NewBrand, Registry};
use pipeline_refresh::{RunState, list_runs, read_run};
use state::{State, StateTarget, WorkItem, WorkState};
use tokio_util::sync::CancellationToken;

use crate::queue::market;

const STORES: u32 = 500;
const PRODUCTS: u64 = 1_500;
/// Environment variables with a worker's settings.
const HOME: &str = "TEST_WORKER_HOME";
const URL: &str = "TEST_WORKER_STATE";
const NAME: &str = "TEST_WORKER_NAME";

fn deps(home: &Path, state: State, name: &str) -> QueueDeps {
    let storage = Storage::from_path(home).unwrap();
    let mut market = market(&storage, ShiftedClock::new(), name);
    (
        market.refresh.crawl.stores_concurrent,
        market.refresh.crawl.stores_open_max,
    ) = (4, 4);
    QueueDeps {
        state,
        market: Arc::new(market),
        elapsed: Arc::new(ProcessTime::start()),
        name: name.to_owned(),
    }
}

/// Worker process for the test below, which kills or pauses it. This function tests nothing itself. The worker prints
/// its report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test below"]
async fn is_a_worker_until_the_queue_is_empty() {
    let [home, url, name] = [HOME, URL, NAME].map(|variable| std::env::var(variable).unwrap());
    let state = State::open(&StateTarget::postgres(&url).unwrap()).await.unwrap();
    let config = QueueConfig {
        lease_s: 12,
        poll_ms: 100,
        ..QueueConfig::default()
    };
    let worker = QueueWorker::new(deps(home.as_ref(), state, &name), config);
    let report = Box::pin(worker.run(CancellationToken::new(), true)).await;
    println!("\nreport {}", serde_json::to_string(&report).unwrap());
}

struct Worker(Option<Child>);

impl Worker {
    fn start(home: &Path, url: &str, name: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "processes::is_a_worker_until_the_queue_is_empty",
                "--ignored",
                "--nocapture",
            ])
            .envs([(URL, url), (NAME, name)])
            .env(HOME, home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        Self(Some(child.unwrap()))
    }

    fn signal(&self, signal: &str) {
        let pid = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Waits for the end of the process and returns its report, or `None` if it printed none.
    fn end(mut self) -> Option<serde_json::Value> {
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let report = told.lines().find_map(|line| line.strip_prefix("report "));
        report.map(|report| serde_json::from_str(report).unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

async fn open_stores(home: &Path) -> RunningStores {
    let config = EmulatorConfig {
        // Slow responses make sure that workers are killed or paused during crawls.
        latency: Duration::from_millis(40),
        ..EmulatorConfig::new(Source::Generated {
            products: PRODUCTS,
            stores: STORES,
            seed: 3,
        })
    };
    let stores = Emulator::start(config).await.unwrap();
    let brand = |store: emulator::StoreAddress| NewBrand {
        store: Some(store.myshopify_domain.parse().unwrap()),
        name: Some(store.name),
        ..NewBrand::at(store.base_url.parse().unwrap())
    };
    let brands: Vec<_> = stores.stores().into_iter().map(brand).collect();
    let storage = Storage::from_path(home).unwrap();
    let mut registry = Registry::load(&storage).await.unwrap();
    registry
        .add(&storage, &brands, ShiftedClock::new().now())
        .await
        .unwrap();
    stores
}

fn has_stores(items: &[WorkItem], name: &str) -> bool {
    let is_held = |item: &WorkItem| item.state == WorkState::Leased && item.holder.as_deref() == Some(name);
    items.iter().any(is_held)
}

/// Returns the workers that queried each store in their order, according to the log of the stores.
fn askers(stores: &RunningStores) -> BTreeMap<String, Vec<String>> {
    let of_store = |store: emulator::StoreAddress| {
        let requests = stores.requests(&store.slug).unwrap().latest;
        let mut agents: Vec<_> = requests.into_iter().filter_map(|request| request.user_agent).collect();
        agents.dedup();
        (store.slug, agents)
    };
    stores.stores().into_iter().map(of_store).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_one_is_killed_and_one_paused_and_each_store_is_refreshed_once_and_asked_by_one_at_a_time() {
    let Some(url) = kit::postgres_database().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let stores = open_stores(home).await;
    let state = State::open(&StateTarget::postgres(&url).unwrap()).await.unwrap();
    let queued = deps(home, state.clone(), "test").enqueue(None, false).await.unwrap();
    assert_eq!(queued.stores, u64::from(STORES));
    let killed = Worker::start(home, &url, "worker-killed");
    let paused = Worker::start(home, &url, "worker-paused");
    let begin = Instant::now();
    loop {
        let items = state.work_items(100_000).await.unwrap();
        if has_stores(&items, "worker-killed") && has_stores(&items, "worker-paused") {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(300));
    }
    killed.signal("-KILL");
    paused.signal("-STOP");
    let third = Worker::start(home, &url, "worker-third").end().unwrap();
    assert_eq!(third["runs_closed"], 1, "{third}");
    // The run finishes without the paused worker. When that worker wakes up, it does nothing with its old leases.
    let before = askers(&stores);
    paused.signal("-CONT");
    let woken = paused.end().unwrap();
    assert!(woken["lost"].as_u64().unwrap() >= 1, "{woken}");
    assert_eq!(askers(&stores), before, "it asked after it woke");
    assert_eq!(killed.end(), None);
    // After another worker took over a store, the first worker never queried the store again. Each store was queried,
    // and never by two workers at the same time.
    for (store, askers) in &before {
        let distinct: BTreeSet<_> = askers.iter().collect();
        assert!(
            distinct.len() == askers.len() && !askers.is_empty(),
            "{store}: {askers:?}"
        );
    }
    let several = before.values().filter(|askers| askers.len() > 1).count();
    println!("third: {third}, woken: {woken}, {several} stores were asked by several");

    let storage = Storage::from_path(home).unwrap();
    let runs = list_runs(&storage).await.unwrap();
    let report = read_run(&storage, &runs[0]).await.unwrap().unwrap();
    let totals = &report.totals;
    assert_eq!(
        (runs.len(), report.state, totals.changed, totals.stores, totals.products),
        (1, RunState::Finished, u64::from(STORES), u64::from(STORES), PRODUCTS)
    );
    assert!(report.commits < u64::from(STORES) / 5, "{}", report.commits);
    let clock: Arc<dyn Clock> = ShiftedClock::new();
    let lake = Lake::open(storage.child("lake"), LakeConfig::default(), clock)
        .await
        .unwrap();
    let rows = lake.snapshot().await.unwrap().brands().await.unwrap();
    assert_eq!(
        (rows.len(), rows.iter().map(|row| row.product_count).sum::<u64>()),
        (STORES as usize, PRODUCTS)
    );
    assert_eq!(state.dead_letters(10).await.unwrap(), []);
}
