//! Workers as processes over PostgreSQL: one is killed, one is paused beyond its lease.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use emulator::{Emulator, EmulatorConfig, Running, Source};
use state::{State, StateTarget, WorkItem, WorkState};

use crate::support::Haat;

const STORES: u32 = 500;
const PRODUCTS: u64 = 1_500;
const LEASE_S: u64 = 4;

/// A market with its queue in PostgreSQL.
struct Market {
    haat: Haat,
    stores: Running,
    state: State,
}

impl Market {
    async fn open() -> Option<Self> {
        let url = kit::postgres_database().await?;
        let config = EmulatorConfig {
            // A crawl takes a while, so that workers are in the middle of some.
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

    /// A worker that ends when the queue is empty, and calls itself so to stores.
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
            child: Some(child),
        }
    }

    async fn items(&self) -> Vec<WorkItem> {
        self.state.work_items(100_000).await.unwrap()
    }

    async fn has_stores(&self, worker: &Worker) -> bool {
        let items = self.items().await;
        items.iter().any(|item| {
            let holder = item.holder.as_deref().unwrap_or_default();
            item.state == WorkState::Leased && holder.starts_with(&worker.name)
        })
    }

    async fn until(&self, what: &str, wanted: impl AsyncFn() -> bool) {
        let begin = Instant::now();
        while !wanted().await {
            assert!(begin.elapsed() < Duration::from_secs(150), "{what}");
        }
    }

    /// Of each store, who asked it one after the other, by the log of the stores.
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
    child: Option<Child>,
}

impl Worker {
    fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Waits for its end: the exit code, and what it says that it did.
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
    market
        .until("both have stores", async || {
            market.has_stores(&killed).await && market.has_stores(&paused).await
        })
        .await;
    killed.signal("-KILL");
    paused.signal("-STOP");
    let held = market
        .items()
        .await
        .into_iter()
        .filter(|item| item.state == WorkState::Leased);
    let held = held.count();
    assert!(held >= 2, "{held}");
    let third = market.worker("worker-third");
    let (code, told) = third.end();
    assert_eq!((code, &told["runs_closed"]), (Some(0), &1.into()), "{told}");
    // All is done without the one that is paused. It wakes, and must take no step with what it had.
    let before = market.askers();
    paused.signal("-CONT");
    let (code, woken) = paused.end();
    assert_eq!(code, Some(0));
    assert!(woken["lost"].as_u64().unwrap() >= 1, "{woken}");
    assert_eq!(market.askers(), before, "it asked after it woke");
    assert_eq!(killed.end().0, None);

    // None was asked by two at once: who asked a store and was followed by another never asked it again.
    let asked_by_several = before.values().filter(|askers| askers.len() > 1).count();
    for (store, askers) in &before {
        let distinct: BTreeSet<_> = askers.iter().collect();
        assert_eq!(distinct.len(), askers.len(), "{store}: {askers:?}");
        assert!(!askers.is_empty(), "{store} was lost");
    }
    println!("{told} {woken}; {held} stores were held at the kill, {asked_by_several} asked by several");

    // Each store was refreshed once, and none is lost.
    let file = market
        .haat
        .path()
        .join(format!("runs/{}.json", run["run"].as_str().unwrap()));
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
