use anyhow::Context as _;
use emulator::{Addressing, Emulator, EmulatorConfig, Encoding, Running, Source};
use serde_json::json;

use crate::cli::{AddressingArg, DriftArg, EmulateArgs, SourceArgs};
use crate::exit::Outcome;
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// `haat emulate`: stores on this machine, until it is told to stop.
pub(crate) async fn run(args: EmulateArgs, context: Context) -> anyhow::Result<Outcome> {
    let stores = start(config(&args)).await?;
    let addresses = stores.stores();
    context.output.print(&json!({ "stores": addresses }), |out| {
        for store in &addresses {
            let products = counted(store.products, "product");
            writeln!(out, "{}  {} ({products})", store.base_url, store.name)?;
        }
        let stores = counted(addresses.len(), "store");
        writeln!(
            out,
            "{stores}; Ctrl-C stops {}",
            if addresses.len() == 1 { "it" } else { "them" }
        )
    })?;
    shutdown_signal().await;
    stores.shutdown().await;
    Ok(Outcome::Done)
}

/// What the arguments say.
fn config(args: &EmulateArgs) -> EmulatorConfig {
    let mut config = EmulatorConfig {
        bind: args.listen,
        epoch: args.epoch,
        ..EmulatorConfig::new(source(&args.source))
    };
    if args.identity {
        config.encoding = Encoding::Identity;
    }
    if let Some(addressing) = args.addressing {
        config.addressing = match addressing {
            AddressingArg::Ip => Addressing::IpPerStore,
            AddressingArg::Port => Addressing::PortPerStore,
            AddressingArg::Host => Addressing::HostPerStore,
        };
    }
    for (what, thousandths) in &args.drift {
        let rate = match what {
            DriftArg::Stores => &mut config.drift.stores,
            DriftArg::Repriced => &mut config.drift.repriced,
            DriftArg::Restocked => &mut config.drift.restocked,
            DriftArg::Replaced => &mut config.drift.replaced,
            DriftArg::Touched => &mut config.drift.touched,
        };
        *rate = *thousandths;
    }
    config
}

/// Where the stores' products come from.
pub(crate) fn source(args: &SourceArgs) -> Source {
    match &args.recorded {
        Some(dir) => Source::Recorded(dir.clone()),
        None => Source::Generated {
            products: args.products,
            stores: args.stores,
            seed: args.seed,
        },
    }
}

/// Starts the stores.
pub(crate) async fn start(config: EmulatorConfig) -> anyhow::Result<Running> {
    Emulator::start(config).await.context("emulated stores")
}
