use std::sync::Arc;
use std::time::Duration;

use data_lake::LakeConfig;
use jobs::{Clocks, JobName, Market, ProcessTime, Scheduler, SchedulerDeps, StoreLeases, ops_router, works};
use serde_json::json;
use state::State;
use storefront::StoreRights;
use tokio_util::sync::CancellationToken;

use crate::exit::{Outcome, usage};
use crate::listen::ListenAddress;
use crate::listeners::{SideListener, listen_aside};
use crate::watch;
use crate::wiring::{Context, shutdown_signal};

/// Runs `haat jobs run`: due jobs until a stop signal.
pub(super) async fn run(context: &Context, ops_listen: Option<ListenAddress>) -> anyhow::Result<Outcome> {
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    let configured = &context.config.jobs.ops_listen;
    let listener = listen_aside(ops_listen, configured, "jobs.ops_listen").await?;
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let (state, _) = context.served_state().await?;
    let scheduler = scheduler(context, &state)?;
    let stop = CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    watch::start(context, &context.storage()?, stop.clone());
    let server = context.server_config()?;
    let ops =
        listener.map(|listener| SideListener::serve(listener, ops_router(scheduler.readiness(), metrics), &server));
    let ops = ops.transpose()?;
    let told = shutdown_signal();
    let address = ops.as_ref().map(SideListener::address);
    let document = json!({ "ops_address": address, "worker": worker(), "jobs": JobName::ALL });
    context.output.print(&document, |out| {
        if let Some(address) = address {
            writeln!(out, "health probes and metrics on {address}")?;
        }
        writeln!(out, "running jobs of {}; Ctrl-C stops it", context.config.home)
    })?;
    let until = stop.clone();
    let running = tokio::spawn(async move { Box::pin(scheduler.run(until)).await });
    told.await;
    tracing::info!("stopping: running jobs may still finish");
    stop.cancel();
    running.await?;
    if let Some(ops) = ops {
        ops.end().await?;
    }
    state.close().await;
    Ok(Outcome::Done)
}

/// Creates a scheduler for all jobs of the configured home.
pub(super) fn scheduler(context: &Context, state: &State) -> anyhow::Result<Scheduler> {
    let queue = context.config.queue.refresh_catalogue.then(|| state.clone());
    let deps = SchedulerDeps {
        state: state.clone(),
        works: works(&Arc::new(Market {
            rights: Some(rights(context, state)),
            ..market(context, queue)?
        })),
        clock: Arc::clone(&context.clock),
        elapsed: Arc::new(ProcessTime::start()),
        zone: context.config.market_time_zone,
        worker: worker(),
    };
    Scheduler::new(deps, &context.config.jobs).map_err(|error| usage(error.into()))
}

/// Creates the market of jobs and workers. With `queue`, the job refresh-catalogue puts brands into the queue.
pub(in crate::commands) fn market(context: &Context, queue: Option<State>) -> anyhow::Result<Market> {
    let config = &context.config;
    let storage = context.storage()?;
    Ok(Market {
        queue,
        rights: None,
        lake: LakeConfig {
            buckets: config.lake.buckets,
            ..LakeConfig::default()
        },
        storefront: context.storefront()?,
        widgets: context.widgets()?,
        clock: Arc::clone(&context.clock),
        delivery: config.delivery.clone(),
        refresh: config.refresh.clone(),
        cadence: config.jobs.cadence.clone(),
        embedder: context.embedder()?,
        terms_model: context.terms_model()?,
        collapse_share: config.release.collapse_share,
        quality: config.quality.clone(),
        cache_dir: context.cache_dir(&storage),
        build_dir: context.build_dir(&storage),
        releases_kept: config.release.keep,
        gc_min_age: Duration::from_secs(config.release.gc_min_age_s),
        lake_retention: Duration::from_secs(config.lake.retention_hours.saturating_mul(3600)),
        check_age_max: Duration::from_secs(config.doctor.check_age_s_max),
        storage,
    })
}

/// Creates the right to query stores, which depends on the leases of queue workers.
fn rights(context: &Context, state: &State) -> Arc<dyn StoreRights> {
    let clocks = Clocks {
        clock: Arc::clone(&context.clock),
        elapsed: Arc::new(ProcessTime::start()),
    };
    StoreLeases::new(state.clone(), context.config.queue.clone(), clocks, worker())
}

/// Right of one command to query stores, if the home has a state. Without a state no worker queries them.
#[derive(Debug)]
pub(in crate::commands) struct Rights {
    state: Option<State>,
    pub(in crate::commands) given: Option<Arc<dyn StoreRights>>,
}

impl Rights {
    pub(in crate::commands) async fn open(context: &Context) -> anyhow::Result<Self> {
        let state = context.state_if_there().await?;
        let given = state.as_ref().map(|state| rights(context, state));
        Ok(Self { state, given })
    }

    pub(in crate::commands) async fn close(self) {
        if let Some(state) = self.state {
            state.close().await;
        }
    }
}

/// Returns a readable name of this process.
pub(in crate::commands) fn worker() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "this machine",
        host => host,
    };
    format!("process {} on {host}", std::process::id())
}
