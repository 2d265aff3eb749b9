//! Generates load from many concurrent clients in one thread, which leaves the other core to the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) answered: usize,
    pub(crate) refused: usize,
    pub(crate) failed: usize,
    /// Durations of the requests that got a response, in milliseconds.
    pub(crate) times: Vec<f64>,
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

/// Number of clients, and the request rate of each. Without a rate, a client sends the next request as soon as the
/// previous response arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) clients: usize,
    pub(crate) each_per_s: Option<f64>,
}

/// Sends requests until `stop`. Each client waits for the response before its next request.
pub(crate) fn load(
    address: &str,
    paths: &Arc<Vec<String>>,
    pace: Pace,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let host: Arc<str> = address.trim_start_matches("http://").trim_end_matches('/').into();
    let next = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let clients: Vec<_> = (0..pace.clients)
            .map(|number| {
                let (host, paths) = (Arc::clone(&host), Arc::clone(paths));
                let (next, stop) = (Arc::clone(&next), Arc::clone(stop));
                tokio::spawn(async move { ask(&host, &paths, pace, number, &next, &stop).await })
            })
            .collect();
        let mut outcome = Outcome::default();
        for client in clients {
            outcome = outcome.join(client.await?);
        }
        Ok(outcome)
    })
}

async fn ask(
    host: &str,
    paths: &[String],
    pace: Pace,
    number: usize,
    next: &AtomicUsize,
    stop: &AtomicBool,
) -> Outcome {
    let mut outcome = Outcome::default();
    let Ok(mut stream) = connect(host).await else {
        outcome.failed += 1;
        return outcome;
    };
    let gap = pace.each_per_s.map(|rate| Duration::from_secs_f64(1.0 / rate));
    // The clients' requests are spread over time.
    let mut due = Instant::now() + gap.unwrap_or_default().mul_f64(fraction(number, pace.clients));
    while !stop.load(Ordering::Relaxed) {
        if let Some(gap) = gap {
            tokio::time::sleep_until(due.into()).await;
            due += gap;
        }
        let path = &paths[next.fetch_add(1, Ordering::Relaxed) % paths.len()];
        let begun = Instant::now();
        let status = get(&mut stream, host, path).await;
        let broken = status.is_err();
        outcome.add(status, begun.elapsed());
        if broken {
            match connect(host).await {
                Ok(again) => stream = again,
                Err(_) => return outcome,
            }
        }
    }
    outcome
}

pub(crate) async fn connect(host: &str) -> anyhow::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    Ok(BufReader::with_capacity(1 << 16, stream))
}

/// Sends a GET request and reads the response without keeping it.
async fn get(stream: &mut BufReader<TcpStream>, host: &str, path: &str) -> anyhow::Result<u16> {
    exchange(stream, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await
}

/// Sends a complete request and reads the response without keeping it. Bodies need a `Content-Length`.
pub(crate) async fn exchange(stream: &mut BufReader<TcpStream>, request: &str) -> anyhow::Result<u16> {
    stream.get_mut().write_all(request.as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.context("no status line")?;
    let mut length = 0_u64;
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let read = tokio::io::copy(&mut stream.take(length), &mut tokio::io::sink()).await?;
    anyhow::ensure!(read == length, "the body broke off");
    Ok(status)
}

#[expect(clippy::cast_precision_loss, reason = "a share of some hundreds")]
fn fraction(number: usize, of: usize) -> f64 {
    number as f64 / of.max(1) as f64
}

/// Pins this thread, and threads that it starts later, to one core.
pub(crate) fn pin(core: usize) -> anyhow::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &cores)?)
}
