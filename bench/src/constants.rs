//! Measures the server's cost of a constant response, compared with a bare axum server in the same run.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;

use anyhow::Context;
use axum::Router;
use axum::http::header;
use axum::routing::get;
use serde_json::json;

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

/// Number of connections that send a request before the first response is read. One wake-up of the server then serves
/// several requests.
const TOGETHER: usize = 64;
/// Number of rounds over all connections in one turn.
const ROUNDS: usize = 32;
/// Number of turns for each server. The servers alternate, so that a slow phase of the machine affects both.
pub(crate) const TURNS: usize = 24;

/// Body with the length of the response of `/v1/stats`.
const BODY: &[u8] = &[b'1'; 440];

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut client = Client::connect(&address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    compare(&server, &address)
}

/// Measures a running server's CPU time for responses that are the same for every caller, and prints it.
pub(crate) fn compare(server: &ServerProcess, address: &str) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bare");
    let bare = Bench::serving(command)?;
    let bare_address = bare.document["address"].as_str().context("address")?;
    let mut floor = Turns::of(&bare, bare_address, BareRequest::path("/"))?;
    let mut nothing = Turns::of(server, address, BareRequest::path("/healthz"))?;
    let mut stats = Turns::of(server, address, BareRequest::path("/v1/stats"))?;
    for _ in 0..TURNS {
        for turns in [&mut floor, &mut nothing, &mut stats] {
            turns.take()?;
        }
    }
    let baseline = quantile(&mut floor.each_us, 0.5);
    for (kind, turns) in [("nothing", &mut nothing), ("stats", &mut stats)] {
        let name = format!("reads.{kind}.together_server_cpu_us");
        Figure::named(name, quantile(&mut turns.each_us, 0.5), "µs")
            .beside(
                baseline,
                "a bare axum server with one constant route, asked in turn by 64 connections",
            )
            .print()?;
    }
    Ok(())
}

/// Path and key of a request.
#[derive(Debug)]
pub(crate) struct BareRequest {
    path: &'static str,
    head: String,
}

impl BareRequest {
    pub(crate) fn path(path: &'static str) -> Self {
        Self {
            path,
            head: String::new(),
        }
    }

    pub(crate) fn with_key(path: &'static str, key: &str) -> Self {
        Self {
            path,
            head: format!("X-Service-Key: {key}\r\n"),
        }
    }
}

/// Measurement of one server and path, one turn at a time.
pub(crate) struct Turns<'a> {
    server: &'a ServerProcess,
    asked: BareRequest,
    clients: Vec<Client>,
    /// The server's CPU time per request in each turn, in microseconds.
    pub(crate) each_us: Vec<f64>,
}

impl<'a> Turns<'a> {
    pub(crate) fn of(server: &'a ServerProcess, address: &str, asked: BareRequest) -> anyhow::Result<Self> {
        let clients: anyhow::Result<Vec<Client>> = (0..TOGETHER).map(|_| Client::connect(address)).collect();
        let mut turns = Self {
            server,
            asked,
            clients: clients?,
            each_us: Vec::with_capacity(TURNS),
        };
        turns.round()?;
        Ok(turns)
    }

    fn round(&mut self) -> anyhow::Result<()> {
        let BareRequest { path, head } = &self.asked;
        self.clients
            .iter_mut()
            .try_for_each(|client| client.ask_with(path, head))?;
        self.clients.iter_mut().try_for_each(|client| {
            let (status, _) = client.answer()?;
            anyhow::ensure!(status == 200, "{path}: {status}");
            Ok(())
        })
    }

    pub(crate) fn take(&mut self) -> anyhow::Result<()> {
        let before = cpu_of_process(self.server.child.id())?;
        (0..ROUNDS).try_for_each(|_| self.round())?;
        let cpu = cpu_of_process(self.server.child.id())?.saturating_sub(before);
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let requests = (ROUNDS * TOGETHER) as f64;
        self.each_us.push(cpu.as_secs_f64() * 1e6 / requests);
        Ok(())
    }
}

/// Serves a constant body on any free port until the process ends, and prints the address.
pub(crate) fn bare() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let body = async || ([(header::CONTENT_TYPE, "application/json")], BODY);
        let router = Router::new().route("/", get(body));
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let told = json!({"address": format!("http://{}", listener.local_addr()?)});
        writeln!(std::io::stdout(), "{told}")?;
        Ok(axum::serve(listener, router).await?)
    })
}
