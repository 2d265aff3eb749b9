//! Tests of worker processes over PostgreSQL: one is killed, and one is paused for longer than its lease.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use emulator::{Emulator, EmulatorConfig, RunningStores, Source};
use state::{State, StateTarget, WorkItem, WorkState};

use crate::support::{Haat, files};

const STORES: u32 = 500;
const PRODUCTS: u64 = 1_500;
const LEASE_S: u64 = 12;

/// Market with its queue in PostgreSQL.
struct Market {
    haat: Haat,
    stores: RunningStores,
    state: State,
}

impl Market {
    async fn open() -> Option<Self> {
        let url = kit::postgres_database().await?;
        let config = EmulatorConfig {
            // The delay makes crawls slow, so that workers are stopped while they crawl.
            latency: Duration::from_millis(40),
            ..EmulatorConfig::new(Source::Generated {
                products: PRODUCTS,
                stores: STORES,
                seed: 3,
            })
        };
        let stores = Emulator::start(config).await.unwrap();
        let haat = Haat::new()
            .with("HAAT_STATE__URL", &url)
            .with("HAAT_QUEUE__LEASE_S", &LEASE_S.to_string())
            .with("HAAT_QUEUE__POLL_MS", "100")
            .with("HAAT_REFRESH__CRAWL__STORES_CONCURRENT", "4")
            .with("HAAT_REFRESH__CRAWL__STORES_OPEN_MAX", "4");
        let addresses: Vec<_> = stores.stores().into_iter().map(|store| store.base_url).collect();
        std::fs::write(haat.path().join("stores.txt"), addresses.join("\n")).unwrap();
        haat.run(&["brands", "add", "--moved", "--from", "stores.txt"]).json();
        let state = State::open(&StateTarget::postgres(&url).unwrap()).await.unwrap();
        Some(Self { haat, stores, state })
    }

    /// Starts a worker that ends when the queue is empty and sends this user agent to stores.
    fn worker(&self, agent: &str) -> Worker {
        let child = self
            .haat
            .command(&["worker", "--until-empty"])
            .env("HAAT_STOREFRONT__USER_AGENT", agent)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Worker {
            name: format!("process {} on ", child.id()),
            agent: agent.to_owned(),
            child: Some(child),
        }
    }

    async fn items(&self) -> Vec<WorkItem> {
        self.state.work_items(100_000).await.unwrap()
    }

    /// Returns the stores that the worker has leased and begun to crawl, according to its request log.
    async fn begun(&self, worker: &Worker) -> BTreeSet<String> {
        let has = |item: &WorkItem| {
            let holder = item.holder.as_deref().unwrap_or_default();
            item.state == WorkState::Leased && holder.starts_with(&worker.name)
        };
        let askers = self.askers();
        let items = self.items().await.into_iter().filter(has);
        let slugs = items.map(|item| item.slug.to_string());
        slugs
            .filter(|slug| {
                askers
                    .get(slug)
                    .is_some_and(|askers| askers == std::slice::from_ref(&worker.agent))
            })
            .collect()
    }

    /// Stops the worker while it crawls stores, and returns those stores.
    async fn stop_midway(&self, worker: &Worker) -> BTreeSet<String> {
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < Duration::from_secs(150), "it asks nobody");
            if self.begun(worker).await.is_empty() {
                continue;
            }
            worker.signal("-STOP");
            // The worker may have finished some of them before it stopped.
            let begun = self.begun(worker).await;
            if !begun.is_empty() {
                return begun;
            }
            worker.signal("-CONT");
        }
    }

    fn ticks(&self) -> usize {
        files(self.haat.path(), "lake/_ticks/").len()
    }

    /// Returns the user agents of each store's requests, in their order, according to the store's log.
    fn askers(&self) -> BTreeMap<String, Vec<String>> {
        let stores = self.stores.stores().into_iter();
        let of_store = stores.map(|store| {
            let requests = self.stores.requests(&store.slug).unwrap().latest;
            let mut agents: Vec<String> = requests
                .into_iter()
                .filter_map(|request| request.user_agent)
                .filter(|agent| agent.starts_with("worker-"))
                .collect();
            agents.dedup();
            (store.slug, agents)
        });
        of_store.collect()
    }
}

struct Worker {
    name: String,
    agent: String,
    child: Option<Child>,
}

impl Worker {
    fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Waits for the worker's end and returns its exit code and report.
    fn end(mut self) -> (Option<i32>, serde_json::Value) {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let last = told.lines().last().unwrap_or_default();
        (output.status.code(), serde_json::from_str(last).unwrap_or_default())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_workers_one_is_killed_and_one_is_paused_and_each_store_is_refreshed_once_and_asked_by_one_at_a_time()
{
    let Some(market) = Market::open().await else { return };
    let run = market.haat.run(&["crawl", "--queue"]).json();
    assert_eq!(run["queued"], STORES);
    let killed = market.worker("worker-killed");
    let paused = market.worker("worker-paused");
    // Each worker is stopped while it crawls stores, which have responded but are not saved.
    let begun_by_killed = market.stop_midway(&killed).await;
    killed.signal("-KILL");
    let begun_by_paused = market.stop_midway(&paused).await;
    let third = market.worker("worker-third");
    let (code, told) = third.end();
    assert_eq!((code, &told["runs_closed"]), (Some(0), &1.into()), "{told}");
    // All work is done without the paused worker. After it resumes, it must not use its old leases.
    let (before, ticks) = (market.askers(), market.ticks());
    paused.signal("-CONT");
    let (code, woken) = paused.end();
    assert_eq!(code, Some(0));
    assert!(woken["lost"].as_u64().unwrap() >= 1, "{woken}");
    assert_eq!(market.askers(), before, "it asked after it woke");
    assert_eq!(market.ticks(), ticks, "it committed after it woke");
    assert_eq!(killed.end().0, None);

    // After another worker took over a store, the first worker never requested the store again.
    let asked_by_several = before.values().filter(|askers| askers.len() > 1).count();
    // The third worker took over the stores of both workers and finished them. A store whose responses were complete
    // before its worker stopped has landed and is not requested again.
    for (begun, first) in [(&begun_by_killed, "worker-killed"), (&begun_by_paused, "worker-paused")] {
        for store in begun {
            assert_eq!(before[store][0], first, "{store}");
            assert!(before[store][1..].iter().all(|asker| asker != first), "{store}");
        }
    }
    let mut begun = begun_by_killed.iter().chain(&begun_by_paused);
    let is_taken_over = |store: &String| before[store].last().is_some_and(|asker| asker == "worker-third");
    assert!(begun.any(is_taken_over), "none was taken over midway");
    for (store, askers) in &before {
        let distinct: BTreeSet<_> = askers.iter().collect();
        assert_eq!(distinct.len(), askers.len(), "{store}: {askers:?}");
        assert!(!askers.is_empty(), "{store} was lost");
    }
    println!(
        "{told} {woken}; {} and {} stores were taken over midway, {asked_by_several} were asked by several",
        begun_by_killed.len(),
        begun_by_paused.len()
    );

    each_was_refreshed_once(&market, run["run"].as_str().unwrap());
}

fn each_was_refreshed_once(market: &Market, run: &str) {
    let file = market.haat.path().join(format!("runs/{run}.json"));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(
        (
            &report["state"],
            &report["totals"]["changed"],
            &report["totals"]["stores"],
            &report["totals"]["products"]
        ),
        (&"finished".into(), &STORES.into(), &STORES.into(), &PRODUCTS.into())
    );
    let commits = report["commits"].as_u64().unwrap();
    assert!(commits < u64::from(STORES) / 5, "{commits} commits");
    let brands = market
        .haat
        .sql("select count(*) as n, sum(product_count) as products from brands");
    assert_eq!(
        (&brands[0]["n"], &brands[0]["products"]),
        (&STORES.into(), &PRODUCTS.into())
    );
    let twice = market
        .haat
        .sql("select store, variant_id from price_history group by 1, 2 having count(*) > 1");
    assert_eq!(twice, Vec::<serde_json::Value>::new());
    let queue = market.haat.run(&["queue", "list"]).json();
    assert_eq!(
        (&queue["counts"]["runs"], &queue["counts"]["dead"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn dead_letters_are_listed_put_back_and_forgotten_by_command() {
    let haat = Haat::new()
        .with("HAAT_QUEUE__RETRY_PAUSE_S", "0")
        .with("HAAT_QUEUE__ATTEMPTS_MAX", "1")
        .with("HAAT_QUEUE__POLL_MS", "50")
        .with("HAAT_STOREFRONT__RETRIES_MAX", "0");
    let (stores, listed) = haat.with_stores(&["--products", "20", "--stores", "2"]);
    drop(stores);
    assert_eq!(haat.run(&["crawl", "--queue"]).json()["queued"], 2);
    let waiting = haat.run(&["queue", "list"]).json();
    assert_eq!(
        (
            &waiting["counts"]["queued"],
            waiting["stores"].as_array().unwrap().len()
        ),
        (&2.into(), 2)
    );
    haat.run(&["worker", "--until-empty"]);
    let dead = haat.run(&["queue", "dead"]).json();
    let dead = dead["dead"].as_array().unwrap();
    assert_eq!(dead.len(), 2, "{listed}");
    let slug = dead[0]["slug"].as_str().unwrap();
    assert_eq!(haat.run(&["queue", "drop", slug]).json()["dropped"][0]["slug"], slug);
    assert_eq!(haat.run(&["queue", "drop", slug]).code, 2);
    assert_eq!(haat.run(&["queue", "retry", "--all"]).json()["queued"], 1);
    assert_eq!(haat.run(&["queue", "dead"]).json()["dead"], serde_json::json!([]));
    let told = haat.told(&["queue", "list"]);
    assert!(told.starts_with("1 run: 1 waiting, 0 with a worker"), "{told}");
    assert_eq!(haat.run(&["queue", "retry"]).code, 2);
    assert_eq!(haat.run(&["crawl", "--queue", "--brand", "nobody"]).code, 2);
}

/// Tests a command-line crawl and a worker at the same time over one state on this machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_crawl_leaves_the_store_that_a_worker_asks_and_no_worker_asks_what_the_crawl_does() {
    let haat = Haat::new()
        .with("HAAT_QUEUE__POLL_MS", "50")
        .with("HAAT_QUEUE__LEASE_S", "10");
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "2"]);
    let run = haat.run(&["crawl", "--queue"]).json();
    assert_eq!(run["queued"], 2);
    let state = State::open(&StateTarget::Folder(haat.path().join("state")))
        .await
        .unwrap();
    // A running worker has leased one of the two stores.
    let lease = Duration::from_secs(3_600);
    let taken = state.take_work("a worker elsewhere", 1, lease, 3, now()).await.unwrap();
    let slug = taken[0].slug.to_string();
    let crawled = haat.run(&["crawl"]);
    assert_eq!(crawled.code, 3, "{}", crawled.stderr);
    assert!(
        crawled.stderr.contains("a worker elsewhere is asking the store"),
        "{}",
        crawled.stderr
    );
    let report = crawled.document();
    let outcomes: BTreeMap<&str, &str> = report["stores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|store| (store["slug"].as_str().unwrap(), store["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(outcomes.len(), 2);
    for (of, outcome) in outcomes {
        assert_eq!(outcome, if of == slug { "skipped" } else { "changed" }, "{of}");
    }
    // Any worker can take the store after its lease is given back.
    let given = state.give_back_work(&taken[0], now()).await.unwrap();
    assert!(given);
    let again = haat.run(&["crawl"]).json();
    assert_eq!(
        (&again["totals"]["changed"], &again["totals"]["skipped"]),
        (&1.into(), &0.into())
    );
    state.close().await;
}

fn now() -> data_model::Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    data_model::Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}
