//! Measures the cost of a tool for agents compared with the same REST call, and the duration of calls while many
//! sessions are open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::http::Client;
use crate::load::{connect, exchange};
use crate::meter::{Figure, cpu_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

/// Words for the queries, which combine every word with every other.
const WORDS: [&str; 12] = [
    "cotton", "shirt", "blue", "tea", "leather", "bag", "gift", "kids", "black", "lamp", "cream", "organic",
];
/// Number of connections that send requests at the same time in a turn.
const TOGETHER: usize = 8;
/// Number of rounds for each protocol. The protocols alternate, so that a slow phase of the machine affects both.
const TURNS: usize = 24;
/// Number of concurrent sessions with an open stream. The next constant is the number of calls in each.
const SESSIONS: usize = 100;
const CALLS: usize = 40;

/// Requests for one protocol, as complete HTTP texts.
#[derive(Debug)]
struct RequestRun {
    requests: Arc<Vec<String>>,
    per_s: Vec<f64>,
    cpu_us: Vec<f64>,
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let server = bench.serve(bench.home(), &["up", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut client = Client::connect(&address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    let host: Arc<str> = address.trim_start_matches("http://").trim_end_matches('/').into();
    let (mut rest, mut tool) = (RequestRun::new(of_rest(&host)), RequestRun::new(of_mcp(&host)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // The first round of each protocol is a warm-up.
        for turn in 0..=TURNS {
            let order = if turn % 2 == 0 {
                [&mut rest, &mut tool]
            } else {
                [&mut tool, &mut rest]
            };
            for door in order {
                door.turn(&server, &host).await?;
            }
        }
        anyhow::Ok(())
    })?;
    let is = "the same searches by GET /v1/search, asked in turn";
    let per_s = |door: &mut RequestRun| quantile(&mut door.per_s[1..], 0.5);
    Figure::alone("mcp.search_products.requests_per_s", per_s(&mut tool), "1/s")
        .beside(per_s(&mut rest), is)
        .print()?;
    let cpu_us = |door: &mut RequestRun| quantile(&mut door.cpu_us[1..], 0.5);
    Figure::alone("mcp.search_products.server_cpu_us", cpu_us(&mut tool), "µs")
        .beside(cpu_us(&mut rest), is)
        .print()?;
    let mut bare = runtime.block_on(sessions(&host, &rest.requests, false))?;
    let mut open = runtime.block_on(sessions(&host, &tool.requests, true))?;
    for (name, share) in [("mcp.sessions.p50_ms", 0.5), ("mcp.sessions.p99_ms", 0.99)] {
        Figure::alone(name, quantile(&mut open, share), "ms")
            .beside(
                quantile(&mut bare, share),
                "100 clients of GET /v1/search, without streams",
            )
            .print()?;
    }
    Ok(())
}

fn queries() -> impl Iterator<Item = String> {
    WORDS
        .iter()
        .flat_map(|one| WORDS.iter().map(move |other| format!("{one} {other}")))
}

fn of_rest(host: &str) -> Vec<String> {
    let paths = queries().map(|query| format!("/v1/search?q={}&limit=20", query.replace(' ', "%20")));
    paths
        .map(|path| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
        .collect()
}

fn of_mcp(host: &str) -> Vec<String> {
    let bodies = queries().map(|query| {
        let params = json!({ "name": "search_products", "arguments": { "q": query, "limit": 20 } });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    });
    let whole = |body: String| {
        format!(
            "POST /v1/mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    bodies.map(whole).collect()
}

impl RequestRun {
    fn new(requests: Vec<String>) -> Self {
        Self {
            requests: Arc::new(requests),
            per_s: Vec::new(),
            cpu_us: Vec::new(),
        }
    }

    /// Sends every request once on each of several connections.
    async fn turn(&mut self, server: &ServerProcess, host: &Arc<str>) -> anyhow::Result<()> {
        let pid = server.child.id();
        let (cpu, begun) = (cpu_of_process(pid)?, Instant::now());
        let clients: Vec<_> = (0..TOGETHER)
            .map(|number| {
                let (host, requests) = (Arc::clone(host), Arc::clone(&self.requests));
                tokio::spawn(async move {
                    let mut stream = connect(&host).await?;
                    let (before, after) = requests.split_at(number * requests.len() / TOGETHER);
                    for request in after.iter().chain(before) {
                        anyhow::ensure!(exchange(&mut stream, request).await? == 200, "{request}");
                    }
                    Ok(())
                })
            })
            .collect();
        for client in clients {
            client.await??;
        }
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let asked = (self.requests.len() * TOGETHER) as f64;
        self.per_s.push(asked / begun.elapsed().as_secs_f64());
        let cpu = cpu_of_process(pid)?.saturating_sub(cpu);
        self.cpu_us.push(cpu.as_secs_f64() * 1e6 / asked);
        Ok(())
    }
}

/// Returns the durations of all calls in many sessions, in milliseconds. With `with_streams`, each session also has an
/// open stream.
async fn sessions(host: &Arc<str>, requests: &Arc<Vec<String>>, with_streams: bool) -> anyhow::Result<Vec<f64>> {
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (host, requests) = (Arc::clone(host), Arc::clone(requests));
            tokio::spawn(async move {
                let mut open = None;
                if with_streams {
                    open = Some(opened(&host).await?);
                }
                let mut stream = connect(&host).await?;
                let mut times = Vec::with_capacity(CALLS);
                for call in 0..CALLS {
                    let request = &requests[(number * 7 + call) % requests.len()];
                    let begun = Instant::now();
                    anyhow::ensure!(exchange(&mut stream, request).await? == 200, "{request}");
                    times.push(begun.elapsed().as_secs_f64() * 1e3);
                    // A session waits between two calls.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                drop(open);
                anyhow::Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for session in sessions {
        times.extend(session.await??);
    }
    Ok(times)
}

/// Opens a stream and waits for its first heartbeat.
async fn opened(host: &str) -> anyhow::Result<tokio::io::BufReader<tokio::net::TcpStream>> {
    let mut stream = connect(host).await?;
    let request = format!("GET /v1/mcp HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).await?;
    let mut line = String::new();
    while !line.starts_with(": here") {
        line.clear();
        anyhow::ensure!(stream.read_line(&mut line).await? > 0, "the stream ended");
    }
    Ok(stream)
}
