//! The cost of haat, each figure beside a baseline in the same run: `cargo run --release --bin bench -- all`.
//!
//! In: the `haat` binary built beside this one, and a generated catalogue. Out: one JSON line a figure with its ratio.
//! CPU time is the operating system's account of whole processes. It judges nothing, and no test runs it.

mod backfill;
mod build;
mod callers;
mod constants;
mod crawl;
mod delivery;
mod fair;
mod held;
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
    /// Products of the generated catalogue
    #[arg(long, global = true, default_value_t = 200_000)]
    products: u64,
    /// Stores they are spread over
    #[arg(long, global = true, default_value_t = 1_000)]
    stores: u32,
    /// Folder for the catalogue; kept, and used again by the next run [default: a fresh one, removed at the end]
    #[arg(long, global = true)]
    home: Option<std::path::PathBuf>,
    /// Crawl these recorded pages besides: a folder as `haat emulate --recorded` takes it
    #[arg(long, global = true)]
    recorded: Option<String>,
    /// Let the peers crawl the stores with full pages too: a Python that has bench/peers/requirements.txt installed
    #[arg(long, global = true, value_name = "PYTHON")]
    peers: Option<std::path::PathBuf>,
    /// A `haat` built before, to be asked in turn
    #[arg(long, global = true, value_name = "PROGRAM")]
    before: Option<std::path::PathBuf>,
    /// The home that the program before serves, where it cannot open this one [default: the same home]
    #[arg(long, global = true, value_name = "FOLDER", requires = "before")]
    before_home: Option<std::path::PathBuf>,
    #[command(subcommand)]
    what: Benchmark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
enum Benchmark {
    /// Crawl, normalise, write to Parquet; beside fetching and decoding alone
    Crawl,
    /// Make the lake again from what is landed; beside the first crawl
    Backfill,
    /// Build a release in full, and after 1% of the stores changed
    Build,
    /// Build a release of a market in which twenty brands are held back; beside none
    Held,
    /// Refresh one brand; beside writing the whole bucket's rows as one Parquet file
    Refresh,
    /// Search over HTTP beside bare tantivy on the same index; product detail; memory; time to ready; hot swaps
    Serve,
    /// Every kind of read over HTTP: server CPU, time, memory
    Reads,
    /// Constant answers to many connections; beside a bare axum server (a part of `reads`)
    Constants,
    /// The cost of knowing who asks and how much; beside the program that --before names
    Callers,
    /// Searches with a pincode beside the same without; it commits made-up answers of the stores to the home
    Delivery,
    /// Ten times more searches than can be answered
    Overload,
    /// A live price beside the same fetch by a bare client; reads beside a gateway and without one
    Live,
    /// A tool of agents beside the same call of REST; a hundred sessions with open streams
    Mcp,
    /// Statements beside the routes that answer the same; searches beside fifty clients that send wild statements
    Statements,
    /// Searches beside bodies that never end; prices beside ten keys that read carts without a pause
    Fair,
    /// Ten thousand watches judged by a release; beside none, and beside its build
    Watches,
    /// A hundred hot swaps of the release under load
    Swaps,
    /// All of them, one after the other
    All,
    /// The bare axum server itself
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
    if all || cli.what == Benchmark::Backfill {
        backfill::run(&bench)?;
    }
    if all || cli.what == Benchmark::Live {
        live::run(&bench)?;
    }
    if all || cli.what == Benchmark::Fair {
        fair::carts(&bench)?;
    }
    if all || cli.what == Benchmark::Held {
        held::run(&bench)?;
    }
    if matches!(
        cli.what,
        Benchmark::Crawl | Benchmark::Backfill | Benchmark::Live | Benchmark::Held
    ) {
        return Ok(());
    }
    bench.fill()?;
    on_catalogue(cli, &bench)
}

/// The measurements on the catalogue of the home.
fn on_catalogue(cli: Cli, bench: &setup::Bench) -> anyhow::Result<()> {
    let all = cli.what == Benchmark::All;
    if all || cli.what == Benchmark::Build {
        build::run(bench)?;
    }
    if all || cli.what == Benchmark::Refresh {
        refresh::run(bench)?;
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
    if all || cli.what == Benchmark::Watches {
        watches::run(bench)?;
    }
    if all || cli.what == Benchmark::Swaps {
        overload::swaps(bench)?;
    }
    Ok(())
}
