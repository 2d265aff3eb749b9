//! Measures the server with ten times more requests than it can handle, and hot swaps under load. The server and the
//! load generator each have a core, so that they do not compete for CPU time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::http::Client;
use crate::load::{Outcome, Pace, load, pin};
use crate::meter::{Figure, quantile};
use crate::reads::{RequestSet, encoded};
use crate::setup::Bench;

const LOAD: Duration = Duration::from_secs(10);
/// Number of clients that keep the server busy without a queue.
const CLIENTS: usize = 4;
const SWAPS: usize = 100;

const SWAP_MAX: Duration = Duration::from_secs(60);
/// Core of the server and core of the load.
const CORES: [usize; 2] = [0, 1];

pub(crate) fn for_a_while(address: &str, paths: &Arc<Vec<String>>, pace: Pace) -> anyhow::Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    let timer = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            std::thread::sleep(LOAD);
            stop.store(true, Ordering::Relaxed);
        }
    });
    let outcome = load(address, paths, pace, &stop);
    // The timer thread only sleeps and sets a flag.
    let _ = timer.join();
    outcome
}

#[expect(clippy::cast_precision_loss, reason = "rates of some thousands")]
fn a_second(count: usize) -> f64 {
    count as f64 / LOAD.as_secs_f64()
}

pub(crate) fn searches(bench: &Bench) -> anyhow::Result<Arc<Vec<String>>> {
    let asked = RequestSet::of(bench)?;
    let path = |query: &String| format!("/v1/search?limit=20&facet_counts=true&q={}", encoded(query));
    Ok(Arc::new(asked.queries.iter().map(path).collect()))
}

/// Measures the capacity of the server, sends ten times as many requests, and compares the two.
pub(crate) fn overload(bench: &Bench) -> anyhow::Result<()> {
    let paths = searches(bench)?;
    pin(CORES[0])?;
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    pin(CORES[1])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let closed = Pace {
        clients: CLIENTS,
        each_per_s: None,
    };
    let mut peak = for_a_while(&address, &paths, closed)?;
    anyhow::ensure!(
        peak.answered > 0 && peak.failed == 0,
        "{} of the first requests failed",
        peak.failed
    );
    let peak_rate = a_second(peak.answered);
    let peak_p99 = quantile(&mut peak.times, 0.99);
    Figure::alone("overload.peak_per_s", peak_rate, "/s").print()?;
    Figure::alone("overload.peak_p99_ms", peak_p99, "ms").print()?;
    let clients = 400;
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let each = 10.0 * peak_rate / clients as f64;
    let open = Pace {
        clients,
        each_per_s: Some(each),
    };
    let mut over = for_a_while(&address, &paths, open)?;
    let offered = a_second(over.answered + over.refused + over.failed);
    Figure::alone("overload.offered_per_s", offered, "/s")
        .beside(peak_rate, "answered at peak")
        .print()?;
    Figure::alone("overload.goodput_per_s", a_second(over.answered), "/s")
        .beside(peak_rate, "answered at peak")
        .print()?;
    Figure::alone("overload.accepted_p99_ms", quantile(&mut over.times, 0.99), "ms")
        .beside(peak_p99, "at peak")
        .print()?;
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    Figure::alone("overload.failed", over.failed as f64, "requests").print()
}

/// Swaps between two releases of the same catalogue while clients send requests.
pub(crate) fn swaps(bench: &Bench) -> anyhow::Result<()> {
    let paths = searches(bench)?;
    let ids = two_releases(bench)?;
    let args = ["query-server", "--listen", "127.0.0.1:0"];
    let mut command = bench.command(bench.home(), &args);
    command.env("HAAT_QUERY_SERVER__POLL_MS", "20");
    let server = Bench::serving(command)?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    // With one client, the other core is free for opening releases, as on a server below its capacity.
    let alone = Pace {
        clients: 1,
        each_per_s: None,
    };
    let mut calm = for_a_while(&address, &paths, alone)?;
    let stop = Arc::new(AtomicBool::new(false));
    let loaded = std::thread::spawn({
        let (address, paths, stop) = (address.clone(), Arc::clone(&paths), Arc::clone(&stop));
        move || load(&address, &paths, alone, &stop)
    });
    let mut probe = Client::connect(&address)?;
    let swapped = (0..SWAPS).try_for_each(|number| {
        let id = &ids[number % 2];
        bench.run_elsewhere(bench.home(), &["release", "rollback", id])?;
        let wanted = format!("\"release\":\"{id}\"");
        let until = Instant::now() + SWAP_MAX;
        loop {
            anyhow::ensure!(Instant::now() < until, "swap {number}: {id} is not served");
            let (_, body) = probe.get("/v1/stats")?;
            if body.windows(wanted.len()).any(|window| window == wanted.as_bytes()) {
                return anyhow::Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    stop.store(true, Ordering::Relaxed);
    let mut busy = loaded.join().map_err(|_| anyhow::anyhow!("the load broke off"))??;
    swapped?;
    let calm_p99 = quantile(&mut calm.times, 0.99);
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let counts = (SWAPS as f64, (busy.failed + busy.refused) as f64, busy.answered as f64);
    Figure::alone("swaps.count", counts.0, "swaps").print()?;
    Figure::alone("swaps.answered", counts.2, "requests").print()?;
    Figure::alone("swaps.failed", counts.1, "requests").print()?;
    Figure::alone("swaps.p99_ms", quantile(&mut busy.times, 0.99), "ms")
        .beside(calm_p99, "without swaps")
        .print()
}

/// Returns the ids of the current release and of one that differs by one brand that was crawled again.
fn two_releases(bench: &Bench) -> anyhow::Result<[String; 2]> {
    let first = bench.run(bench.home(), &["release", "build"])?;
    let first = first["release"].as_str().context("release")?.to_owned();
    let later = bench.emulate(2)?;
    let slugs = bench.register(bench.home(), &later, 1)?;
    bench.run(bench.home(), &["crawl", "--brand", &slugs[0]])?;
    let second = bench.run(bench.home(), &["release", "build"])?;
    let second = second["release"].as_str().context("release")?.to_owned();
    anyhow::ensure!(first != second, "the second release is the first one");
    Ok([first, second])
}
