//! Ten times more requests than the server can answer, and hot swaps under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::http::Client;
use crate::meter::{Figure, quantile};
use crate::reads::{Asked, encoded};
use crate::setup::Bench;

/// How long each load lasts.
const LOAD: Duration = Duration::from_secs(10);
/// Clients that keep the server busy without a queue.
const CLIENTS: usize = 4;
/// How often the release is swapped.
const SWAPS: usize = 100;

/// What a load led to.
#[derive(Debug, Default)]
struct Outcome {
    answered: usize,
    refused: usize,
    failed: usize,
    /// Milliseconds that answered requests took.
    times: Vec<f64>,
}

impl Outcome {
    fn add(&mut self, status: anyhow::Result<u16>, took: Duration) {
        match status {
            Ok(200) => {
                self.answered += 1;
                self.times.push(took.as_secs_f64() * 1e3);
            }
            Ok(503) => self.refused += 1,
            _ => self.failed += 1,
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.answered += other.answered;
        self.refused += other.refused;
        self.failed += other.failed;
        self.times.extend(other.times);
        self
    }
}

/// Asks as fast as `clients` connections can, each waiting for its answer, until `stop`; at most `per_second` requests
/// each, where that is given.
fn load(
    address: &str,
    paths: &Arc<Vec<String>>,
    (clients, per_second): (usize, Option<f64>),
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Outcome> {
    let next = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..clients)
        .map(|number| {
            let (address, paths, next, stop) = (
                address.to_owned(),
                Arc::clone(paths),
                Arc::clone(&next),
                Arc::clone(stop),
            );
            std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
                let mut outcome = Outcome::default();
                let Ok(mut client) = Client::connect(&address) else {
                    return outcome;
                };
                let gap = per_second.map(|rate| Duration::from_secs_f64(1.0 / rate));
                // The clients do not ask in step.
                let mut due = Instant::now() + gap.unwrap_or_default().mul_f64(fraction(number, clients));
                while !stop.load(Ordering::Relaxed) {
                    if let Some(gap) = gap {
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        due += gap;
                    }
                    let path = &paths[next.fetch_add(1, Ordering::Relaxed) % paths.len()];
                    let begun = Instant::now();
                    let status = client.get(path).map(|(status, _)| status);
                    let broken = status.is_err();
                    outcome.add(status, begun.elapsed());
                    if broken {
                        match Client::connect(&address) {
                            Ok(again) => client = again,
                            Err(_) => return outcome,
                        }
                    }
                }
                outcome
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(threads
        .into_iter()
        .filter_map(|thread| thread.join().ok())
        .fold(Outcome::default(), Outcome::join))
}

#[expect(clippy::cast_precision_loss, reason = "a share of some hundreds")]
fn fraction(number: usize, of: usize) -> f64 {
    number as f64 / of.max(1) as f64
}

fn for_a_while(address: &str, paths: &Arc<Vec<String>>, clients: (usize, Option<f64>)) -> anyhow::Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    let timer = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            std::thread::sleep(LOAD);
            stop.store(true, Ordering::Relaxed);
        }
    });
    let outcome = load(address, paths, clients, &stop);
    // The timer only sleeps and stores.
    let _ = timer.join();
    outcome
}

#[expect(clippy::cast_precision_loss, reason = "rates of some thousands")]
fn a_second(count: usize) -> f64 {
    count as f64 / LOAD.as_secs_f64()
}

fn searches(bench: &Bench) -> anyhow::Result<Arc<Vec<String>>> {
    let asked = Asked::of(bench)?;
    let path = |query: &String| format!("/v1/search?limit=20&facet_counts=true&q={}", encoded(query));
    Ok(Arc::new(asked.queries.iter().map(path).collect()))
}

/// Finds what the server can answer, offers ten times that, and compares.
pub(crate) fn overload(bench: &Bench) -> anyhow::Result<()> {
    let paths = searches(bench)?;
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut peak = for_a_while(&address, &paths, (CLIENTS, None))?;
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
    let mut over = for_a_while(&address, &paths, (clients, Some(each)))?;
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

/// Swaps between two releases of the same catalogue while clients ask.
pub(crate) fn swaps(bench: &Bench) -> anyhow::Result<()> {
    let paths = searches(bench)?;
    let ids = two_releases(bench)?;
    let args = ["query-server", "--listen", "127.0.0.1:0"];
    let mut command = bench.command(bench.home(), &args);
    command.env("HAAT_QUERY_SERVER__POLL_MS", "20");
    let server = Bench::serving(command)?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    // One client: the other core is for opening releases, as on a server that is not full.
    let mut calm = for_a_while(&address, &paths, (1, None))?;
    let stop = Arc::new(AtomicBool::new(false));
    let loaded = std::thread::spawn({
        let (address, paths, stop) = (address.clone(), Arc::clone(&paths), Arc::clone(&stop));
        move || load(&address, &paths, (1, None), &stop)
    });
    let mut probe = Client::connect(&address)?;
    let swapped = (0..SWAPS).try_for_each(|number| {
        let id = &ids[number % 2];
        bench.run(bench.home(), &["release", "rollback", id])?;
        let wanted = format!("\"release\":\"{id}\"");
        loop {
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

/// The current release and one that differs by a brand that was crawled again.
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
