//! Benchmarks of haat, each compared with a baseline in the same run: `cargo run --release --bin bench -- all`.
//!
//! Input: the `haat` binary from the same build and a generated catalogue. Output: one JSON line per figure, with its
//! ratio to the baseline. The operating system measures the CPU time of whole processes. The benchmarks have no pass or
//! fail limits, and no test runs them.

mod build;
mod callers;
mod constants;
mod crawl;
mod delivery;
mod fair;
mod http;
mod kernels;
mod live;
mod load;
mod mcp;
mod meter;
mod overload;
mod reads;
mod refresh;
mod serve;
mod setup;
mod statements;
#[cfg(feature = "tantivy")]
mod tantivy_peer;
mod watches;

use anyhow::Context;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Cli {
    /// Number of products in the generated catalogue
    #[arg(long, global = true, default_value_t = 200_000)]
    products: u64,
    /// Number of stores in the generated catalogue
    #[arg(long, global = true, default_value_t = 1_000)]
    stores: u32,
    /// Folder for the catalogue, kept and reused by the next run [default: a new folder, removed at the end]
    #[arg(long, global = true)]
    home: Option<std::path::PathBuf>,
    /// Also crawl these recorded pages: a folder in the format of `haat emulate --recorded`
    #[arg(long, global = true)]
    recorded: Option<String>,
    /// Also run other crawlers on the stores with full pages, with this Python interpreter, which needs the packages of
    /// bench/peers/requirements.txt
    #[arg(long, global = true, value_name = "PYTHON")]
    peers: Option<std::path::PathBuf>,
    /// An earlier build of `haat` to alternate with
    #[arg(long, global = true, value_name = "PROGRAM")]
    before: Option<std::path::PathBuf>,
    /// Home for the earlier build, if it cannot open the current one [default: the same home]
    #[arg(long, global = true, value_name = "FOLDER", requires = "before")]
    before_home: Option<std::path::PathBuf>,
    #[command(subcommand)]
    what: Benchmark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
enum Benchmark {
    /// Crawl, normalise and write to Parquet, compared with only fetching and decoding
    Crawl,
    /// Build a full release, and another after 1% of the stores changed
    Build,
    /// Search over HTTP compared with bare tantivy on the same index, product details, memory, time to ready, hot swaps
    Serve,
    /// Every kind of read over HTTP: server CPU time, duration, memory
    Reads,
    /// Constant responses to many connections, compared with a bare axum server (part of `reads`)
    Constants,
    /// The cost of identifying callers and counting their requests, compared with the program in --before
    Callers,
    /// Searches with a pincode compared with the same searches without one; commits generated store responses to the
    /// home
    Delivery,
    /// Ten times more searches than the server can answer
    Overload,
    /// A live price compared with the same fetch by a bare client, and reads with and without a gateway
    Live,
    /// A tool for agents compared with the same REST call, and a hundred sessions with open streams
    Mcp,
    /// Statements compared with the equivalent routes, and searches while fifty clients send expensive statements
    Statements,
    /// Searches during bodies that never end, and prices while ten keys read carts without a pause
    Fair,
    /// Ten thousand watches evaluated on a release, compared with none and with the build of the release
    Watches,
    /// A hundred hot swaps of the release under load
    Swaps,
    /// All benchmarks, one after the other
    All,
    /// The bare axum server of the `constants` benchmark
    #[command(hide = true)]
    Bare,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if cli.what == Benchmark::Bare {
        return constants::bare();
    }
    let mut bench = setup::Bench::new(cli.products, cli.stores, cli.home.clone())?;
    (bench.recorded, bench.peers) = (cli.recorded.clone(), cli.peers.clone());
    let all = cli.what == Benchmark::All;
    if all || cli.what == Benchmark::Crawl {
        crawl::run(&bench)?;
    }
    if all || cli.what == Benchmark::Live {
        live::run(&bench)?;
    }
    if all || cli.what == Benchmark::Fair {
        fair::carts(&bench)?;
    }
    if matches!(cli.what, Benchmark::Crawl | Benchmark::Live) {
        return Ok(());
    }
    bench.fill()?;
    on_catalogue(cli, &bench)
}

/// Runs the benchmarks that use the catalogue in the home.
fn on_catalogue(cli: Cli, bench: &setup::Bench) -> anyhow::Result<()> {
    let all = cli.what == Benchmark::All;
    if all || cli.what == Benchmark::Build {
        build::run(bench)?;
    }
    if all || cli.what == Benchmark::Serve {
        serve::run(bench)?;
    }
    if all || cli.what == Benchmark::Reads {
        reads::run(bench)?;
    }
    if cli.what == Benchmark::Constants {
        constants::run(bench)?;
    }
    if cli.what == Benchmark::Callers {
        let before = cli.before.context("--before names a program to ask in turn")?;
        let before_home = cli.before_home.as_deref().unwrap_or(bench.home());
        callers::run(bench, &before, before_home)?;
    }
    if cli.what == Benchmark::Delivery {
        delivery::run(bench)?;
    }
    if all || cli.what == Benchmark::Overload {
        overload::overload(bench)?;
    }
    if all || cli.what == Benchmark::Fair {
        fair::slow_bodies(bench)?;
    }
    if all || cli.what == Benchmark::Mcp {
        mcp::run(bench)?;
    }
    if all || cli.what == Benchmark::Statements {
        kernels::run(bench)?;
        statements::run(bench)?;
    }
    if all || cli.what == Benchmark::Watches {
        watches::run(bench)?;
    }
    if all || cli.what == Benchmark::Swaps {
        overload::swaps(bench)?;
    }
    Ok(())
}
