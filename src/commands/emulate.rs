use std::net::SocketAddr;

use anyhow::Context as _;
use emulator::{Emulator, EmulatorConfig, Encoding, Running, Source};
use serde_json::json;

use crate::cli::{EmulateArgs, SourceArgs};
use crate::exit::Outcome;
use crate::wiring::{Context, shutdown_signal};

/// `haat emulate`: stores on this machine, until it is told to stop.
pub(crate) async fn run(args: EmulateArgs, context: Context) -> anyhow::Result<Outcome> {
    let stores = start(&args.source, args.listen, args.epoch, args.identity).await?;
    let addresses = stores.stores();
    context.output.print(&json!({ "stores": addresses }), |out| {
        for store in &addresses {
            writeln!(out, "{}  {} ({} products)", store.base_url, store.name, store.products)?;
        }
        writeln!(out, "{} stores; Ctrl-C stops them", addresses.len())
    })?;
    shutdown_signal().await;
    stores.shutdown().await;
    Ok(Outcome::Done)
}

/// Starts the stores that the arguments name.
pub(crate) async fn start(
    source: &SourceArgs,
    listen: SocketAddr,
    epoch: u64,
    identity: bool,
) -> anyhow::Result<Running> {
    let source = match &source.recorded {
        Some(dir) => Source::Recorded(dir.clone()),
        None => Source::Generated {
            products: source.products,
            stores: source.stores,
            seed: source.seed,
        },
    };
    let encoding = if identity {
        Encoding::Identity
    } else {
        Encoding::AsAsked
    };
    let config = EmulatorConfig {
        encoding,
        bind: listen,
        epoch,
        ..EmulatorConfig::new(source)
    };
    Emulator::start(config).await.context("emulated stores")
}
