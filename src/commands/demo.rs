mod history;

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use data_model::BrandSlug;
use data_storage::Storage;
use emulator::EmulatorConfig;
use pipeline_probe::{PROBES_MAX, ProbeOptions, probe};
use pipeline_task::StoreDeps;
use serde_json::json;
use state::{Actor, LOCAL_ISSUER, NewKey, Plan, State};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{brands, emulate, query_server, release, shipping};
use crate::cli::DemoArgs;
use crate::exit::{Outcome, plain};
use crate::wiring::{Context, shutdown_signal};

const DEMO_PRODUCT_PAGES: u32 = 8;
const LINK_LIFETIME: Duration = Duration::from_secs(12 * 3600);

/// Runs `haat demo`: stores, crawl, lake, release and both servers in one process, until a stop signal.
pub(crate) async fn run(args: DemoArgs, mut context: Context) -> anyhow::Result<Outcome> {
    // The stores are on this machine, so requests need no rate limit.
    let polite = std::mem::take(&mut context.config.storefront);
    context.config.storefront = storefront::StorefrontConfig {
        allow_loopback: true,
        rate_start_per_s: f64::INFINITY,
        ..polite
    };
    // The demo has ratings and reviews of a few products per store.
    context.config.refresh.product_pages_max = context.config.refresh.product_pages_max.max(DEMO_PRODUCT_PAGES);
    // The search page sends a request for every typed letter, so one person would exceed the anonymous limits.
    let plenty = access::PlanLimits {
        per_second: 1_000,
        burst: 2_000,
        per_day: 0,
    };
    context.config.limits.anonymous = plenty;
    context.config.limits.free = plenty;
    // Users of the demo read its mails in the browser.
    context.config.dashboard.mail.outbox = true;
    // A home that the operator configured stays. A temporary home is removed at the end.
    if context.home_is_default {
        let folder = tempfile::tempdir().context("folder for the demo")?;
        context.config.home = folder.path().to_string_lossy().into_owned();
        let _ = context.scratch.set(folder);
    }
    let storage = context.storage_new()?;
    history::possible(&storage, args.days, &context.config.home).await?;
    let server = query_server::start(&context, &storage, &args.listen, query_server::Parts::All).await?;
    let address = server.address.clone();
    // Users of the demo may change what its stores sell.
    let emulated = EmulatorConfig {
        control: true,
        varied_shipping: true,
        categories: true,
        ..EmulatorConfig::new(emulate::source(&args.source))
    };
    let stores = emulate::start(emulated, &args.source).await?;
    let mut told = std::pin::pin!(shutdown_signal());
    let opened = async {
        fill(&context, &storage, &stores, args.days).await?;
        server.refresh().await?;
        examples(&address, &storage, &context).await
    };
    // The future is boxed because it is large and would take much stack space.
    let examples = tokio::select! {
        opened = Box::pin(opened) => opened?,
        () = &mut told => {
            closed(&context, "the demo was stopped before its server had started").await?;
            return Ok(Outcome::Partial);
        }
    };
    server.follow();
    let visitor = visitor(&context, server.state(), &address).await?;
    opened_on(&context, &address, &examples, &visitor)?;
    let stop = CancellationToken::new();
    let served = async {
        let served = server.until(told).await;
        stop.cancel();
        served
    };
    // The future is boxed because it is large and would take much stack space.
    let (served, asked) = tokio::join!(served, Box::pin(delivery(context.clone(), &storage, &stop)));
    if let Err(error) = asked {
        tracing::warn!("the delivery of the demo's stores could not be read: {}", plain(&error));
    }
    served?;
    stores.shutdown().await;
    closed(&context, "the demo has ended").await?;
    Ok(Outcome::Done)
}

/// Prints the addresses and examples for a first visit.
fn opened_on(context: &Context, address: &str, examples: &Examples, visitor: &Visitor) -> anyhow::Result<()> {
    let mails = mails_page(context, address);
    context.output.print(
        &json!({
            "address": address, "home": context.config.home, "examples": examples.reads, "change": examples.change,
            "key": visitor.key, "dashboard": visitor.dashboard, "mcp": format!("{address}/v1/mcp"),
            "docs": format!("{address}/docs/"), "mails": mails,
        }),
        |out| {
            writeln!(out, "\n  The market is open: {address}\n")?;
            for example in &examples.reads {
                writeln!(out, "  curl '{example}'")?;
            }
            writeln!(
                out,
                "\n  Change what a store sells; the live price follows within 15 s:\n\n  {}",
                examples.change
            )?;
            writeln!(
                out,
                "\n  Your key, for operations that require one:\n\n  {}\n",
                visitor.key
            )?;
            writeln!(out, "  curl -H 'X-Service-Key: {}' '{address}/v1/me'\n", visitor.key)?;
            writeln!(out, "  Every operation, with a console: {address}/docs/\n")?;
            writeln!(out, "  For agents, over MCP: {address}/v1/mcp\n")?;
            writeln!(
                out,
                "  Sign in (link works once) to create keys and keep a cart: {}",
                visitor.dashboard
            )?;
            if let Some(mails) = &mails {
                writeln!(
                    out,
                    "\n  Or sign in by e-mail at {mails}, where the e-mails are shown: {address}/dashboard/"
                )?;
            }
            let fate = if context.scratch.get().is_some() {
                "stops the demo and removes its data; --home DIR keeps it"
            } else {
                "stops the demo and keeps its data"
            };
            writeln!(out, "\n  All data is under {} · Ctrl-C {fate}", context.config.home)
        },
    )
}

/// Returns the page of the demo's mails, if mails are not sent and only this machine reaches the page.
fn mails_page(context: &Context, address: &str) -> Option<String> {
    let local = address.strip_prefix("http://")?.parse().ok()?;
    let is_shown = context.config.dashboard.mail.smtp_url.is_empty() && crate::access::shows_mails(context, local);
    is_shown.then(|| format!("{address}/demo/mail"))
}

/// Maximum number of attempts to remove a folder to which a process still writes.
const REMOVALS_MAX: u32 = 100;

/// Removes a temporary home and reports the result.
async fn closed(context: &Context, how: &str) -> anyhow::Result<()> {
    let home = &context.config.home;
    let told = match context.scratch.get() {
        Some(scratch) => {
            removed(scratch.path())
                .await
                .with_context(|| format!("the demo's folder {home} cannot be removed"))?;
            format!("{how}; its folder {home} was removed (`haat demo --home DIR` keeps it)")
        }
        None => format!("{how}; its data is kept under {home}"),
    };
    // Standard error may be closed, and there is no other output.
    let _ = writeln!(std::io::stderr(), "haat: {told}");
    Ok(())
}

async fn removed(folder: &Path) -> std::io::Result<()> {
    let mut tried = 0;
    loop {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if tried == REMOVALS_MAX => return Err(error),
            Err(_) => tried += 1,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// User of the demo: an account with a key, and a sign-in link.
struct Visitor {
    key: String,
    dashboard: String,
}

async fn visitor(context: &Context, state: Option<&State>, address: &str) -> anyhow::Result<Visitor> {
    let state = state.context("the demo has no state")?;
    let (now, actor) = (context.clock.now(), Actor::Operator("demo".to_owned()));
    let account = state.find_or_create_account(LOCAL_ISSUER, "demo", None, now).await?.id;
    let new = NewKey {
        name: "demo".parse()?,
        plan: Plan::Free,
        account: Some(account.clone()),
    };
    let issued = state.create_key(new, &actor, now).await?;
    let link = state.create_sign_in_link(&account, LINK_LIFETIME, &actor, now).await?;
    Ok(Visitor {
        key: issued.key.expose().to_owned(),
        dashboard: dashboard::link_address(address, &link)?,
    })
}

async fn fill(context: &Context, storage: &Storage, stores: &emulator::RunningStores, days: u32) -> anyhow::Result<()> {
    let urls = stores
        .stores()
        .iter()
        .map(|store| Url::parse(&store.base_url).map(brands::Address::from))
        .collect::<Result<Vec<_>, _>>()?;
    let findings = brands::register(
        &history::days_ago(context, days - 1),
        storage,
        urls,
        brands::Registration {
            moved: true,
            ..Default::default()
        },
    )
    .await?;
    let slugs: Vec<BrandSlug> = findings
        .into_iter()
        .filter_map(|finding| Some(finding.added?.1.slug))
        .collect();
    anyhow::ensure!(!slugs.is_empty(), "no store could be registered");
    history::crawl_days(context, storage, stores, slugs, days).await?;
    shipping::read_terms(context, storage).await?;
    release::build(context, storage, &release::Build::default()).await?;
    Ok(())
}

/// Queries the stores' delivery costs while the market is open, and releases the results. Does nothing if the operator
/// disabled the corresponding job.
async fn delivery(mut context: Context, storage: &Storage, stop: &CancellationToken) -> anyhow::Result<()> {
    // No progress is shown while the market is open.
    context.quiet = true;
    if !context.config.jobs.probe_delivery.enabled {
        return Ok(());
    }
    let deps = StoreDeps {
        cancel: stop.clone(),
        ..context.store_deps(storage).await?
    };
    // Stores on this machine may receive all requests in one day.
    let options = ProbeOptions {
        budget_per_day: PROBES_MAX,
        ..context.config.delivery.options()
    };
    let report = probe(&deps, &options).await?;
    tracing::info!(asked = report.asked(), "asked stores for delivery costs");
    if report.asked() > 0 && !stop.is_cancelled() {
        // The future is boxed because it is large and would take much stack space.
        Box::pin(release::build(&context, storage, &release::Build::default())).await?;
    }
    Ok(())
}

/// Example requests that return results, made from the release.
#[derive(Debug)]
struct Examples {
    reads: [String; 4],
    /// Command that changes the price of the example product.
    change: String,
}

async fn examples(address: &str, storage: &Storage, context: &Context) -> anyhow::Result<Examples> {
    let lake = context.lake_in(storage).await?;
    let mut rows = lake.snapshot().await?.brands().await?;
    rows.retain(|row| row.product_count > 0);
    let brand = rows
        .into_iter()
        .max_by_key(|row| row.product_count)
        .context("the stores list no products")?;
    let products = lake
        .snapshot()
        .await?
        .products(&[brand.brand.store.clone()].into())
        .await?;
    let mut products = std::pin::pin!(products);
    let product = futures::TryStreamExt::try_next(&mut products)
        .await?
        .context("the stores list no products")?;
    let word = product
        .title
        .split(|letter: char| !letter.is_alphanumeric())
        .max_by_key(|word| word.len())
        .unwrap_or_default();
    let query: String = url::form_urlencoded::byte_serialize(word.to_lowercase().as_bytes()).collect();
    let (id, base_url) = (product.key.id(), &brand.brand.base_url);
    Ok(Examples {
        reads: [
            format!("{address}/v1/search?q={query}&limit=5"),
            format!("{address}/v1/products/{id}"),
            format!("{address}/v1/products/{id}/price"),
            format!("{address}/v1/brands/{}", brand.brand.slug),
        ],
        change: format!(
            "curl -H 'content-type: application/json' {base_url}/emulator/change -d \
             '{{\"kind\": \"reprice\", \"item\": {}, \"price\": \"499.00\"}}'",
            product.key.platform_id
        ),
    })
}
