use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::Context as _;
use data_model::ReviewWidget;
use emulator::{Addressing, Emulator, EmulatorConfig, EmulatorError, Encoding, RunningStores, Source};
use serde_json::json;

use crate::cli::{AddressingArg, DriftArg, EmulateArgs, SourceArgs};
use crate::exit::Outcome;
use crate::listen::{refused, told_by_system};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// Runs `haat emulate`: stores on this machine until a stop signal.
pub(crate) async fn run(args: EmulateArgs, context: Context) -> anyhow::Result<Outcome> {
    let bind = args.listen.address().await?;
    let stores = start(config(&args, bind), &args.source).await?;
    let addresses = stores.stores();
    let apps = ReviewWidget::ALL.into_iter();
    let apps: BTreeMap<&str, String> = apps
        .filter_map(|app| Some((app.as_str(), stores.widget_url(app)?)))
        .collect();
    let told = match apps.is_empty() {
        true => json!({ "stores": addresses }),
        false => json!({ "stores": addresses, "widgets": apps }),
    };
    context.output.print(&told, |out| {
        for store in &addresses {
            let products = counted(store.products, "product");
            writeln!(out, "{}  {} ({products})", store.base_url, store.name)?;
        }
        for (app, url) in &apps {
            writeln!(out, "{url}  {app}: reviews.{app}_url")?;
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

fn config(args: &EmulateArgs, bind: SocketAddr) -> EmulatorConfig {
    let mut config = EmulatorConfig {
        bind,
        epoch: args.epoch,
        control: args.control,
        widgets: args.widgets,
        varied_shipping: args.varied_shipping,
        categories: args.categories,
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

/// Starts the stores. Prints a warning if neither recorded stores nor an argument state the currency.
pub(crate) async fn start(mut config: EmulatorConfig, source: &SourceArgs) -> anyhow::Result<RunningStores> {
    if let Some(currency) = source.currency {
        config.recorded_currency = currency.as_str().to_owned();
    }
    config.resellers = source.resellers;
    let assumed = config.recorded_currency.clone();
    let stores = Emulator::start(config).await.map_err(|error| {
        let listen = match &error {
            EmulatorError::Listen { address, .. } => Some(*address),
            _ => None,
        };
        let error = anyhow::Error::new(error);
        match (listen, told_by_system(&error)) {
            (Some(listen), Some(kind)) => refused(listen, kind, error),
            _ => error,
        }
    });
    let stores = stores.context("emulated stores")?;
    let unsaid = stores.stores_of_assumed_currency();
    if source.currency.is_none()
        && let Some(first) = unsaid.first()
    {
        tracing::warn!(
            "{} without a currency in a meta.json, among them {first}: their prices are assumed to be in {assumed}; \
             set another currency with --currency CODE",
            counted(unsaid.len(), "recorded store")
        );
    }
    Ok(stores)
}
