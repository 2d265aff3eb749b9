//! Measures the cost of identifying callers and counting their requests. This program and an earlier build are measured
//! alternately.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::constants::{BareRequest, TURNS, Turns};
use crate::http::Client;
use crate::meter::{Figure, quantile};
use crate::setup::{Bench, ServerProcess};

const CONSTANT: &str = "/v1/stats";
const SEARCH: &str = "/v1/search?q=cotton%20shirt&mode=lexical&limit=20";

/// Serves the same catalogue with both programs, and prints the server's CPU time per response.
pub(crate) fn run(bench: &Bench, before: &Path, before_home: &Path) -> anyhow::Result<()> {
    let args = ["query-server", "--listen", "127.0.0.1:0"];
    let key = bench.run(bench.home(), &["keys", "create", "bench", "--plan", "granted"])?;
    let key = key["key"].as_str().context("key")?.to_owned();
    let now = bench.serve(bench.home(), &args)?;
    let before = Bench::serving(Bench::prepared(Command::new(before), before_home, &args))?;
    for server in [&now, &before] {
        let mut client = Client::connect(address(server)?)?;
        while client.get("/readyz")?.0 != 200 {
            std::thread::yield_now();
        }
    }
    for (kind, path) in [("constant", CONSTANT), ("search", SEARCH)] {
        let mut old = Turns::of(&before, address(&before)?, BareRequest::path(path))?;
        let mut anonymous = Turns::of(&now, address(&now)?, BareRequest::path(path))?;
        let mut known = Turns::of(&now, address(&now)?, BareRequest::with_key(path, &key))?;
        for _ in 0..TURNS {
            old.take()?;
            anonymous.take()?;
            known.take()?;
        }
        let baseline = quantile(&mut old.each_us, 0.5);
        for (who, turns) in [("anonymous", &mut anonymous), ("key", &mut known)] {
            let name = format!("callers.{kind}.{who}.server_cpu_us");
            Figure::named(name, quantile(&mut turns.each_us, 0.5), "µs")
                .beside(baseline, "the program before, asked in turn by 64 connections")
                .print()?;
        }
    }
    Ok(())
}

fn address(server: &ServerProcess) -> anyhow::Result<&str> {
    server.document["address"].as_str().context("address")
}
