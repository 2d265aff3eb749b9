//! A run's word on each store that it asked, recorded beside the registry: an unchanged store brings no commit, and must still
//! show that it was asked.

use data_checks::{CheckOutcome, CheckReport, LastRun, RunEnd};
use data_model::{RunId, Timestamp};
use data_storage::Storage;
use pipeline_crawl::Registry;

use crate::RefreshError;
use crate::error::with_causes;
use crate::ledger::read_run;
use crate::summary::{Outcome, RunReport, RunState, StoreSummary};

/// Records how a run ended, and what came of its stores. What cannot be recorded is a warning: the run is over either way,
/// and the checks that are known grow old visibly.
pub(crate) async fn record_end(
    storage: &Storage,
    registry: &Registry,
    run: &RunId,
    now: Timestamp,
    ended: Result<&RunReport, &RefreshError>,
) {
    let (stores, last) = match ended {
        Ok(report) => {
            let end = match report.state {
                RunState::Interrupted => RunEnd::Interrupted,
                RunState::Running | RunState::Finished | RunState::Abandoned => RunEnd::Finished,
            };
            (report.stores.clone(), last_run(run, report.ended_at, end, None))
        }
        Err(error) => {
            // The ledger has what was through before the run broke off.
            let report = read_run(storage, run).await.ok().flatten();
            let stores = report.map(|report| report.stores).unwrap_or_default();
            let last = last_run(run, now, RunEnd::Failed, Some(with_causes(error)));
            (stores, last)
        }
    };
    let registry = caught_up(storage, registry).await;
    let checked = checked(&stores);
    let recorded = data_checks::record(storage, &last, &checked, |store| registry.may_have(store));
    warn(recorded.await);
}

/// Records what came of stores so far, while the run is at work.
pub(crate) async fn record_so_far(storage: &Storage, registry: &Registry, report: &RunReport) {
    let checked = checked(&report.stores);
    if checked.is_empty() {
        return;
    }
    let registry = caught_up(storage, registry).await;
    let recorded = data_checks::record_stores(storage, &report.run, report.ended_at, &checked, |store| {
        registry.may_have(store)
    });
    warn(recorded.await);
}

fn last_run(run: &RunId, ended_at: Timestamp, end: RunEnd, error: Option<String>) -> LastRun {
    LastRun {
        run: run.clone(),
        ended_at,
        end,
        error,
    }
}

/// Brands that were added meanwhile are registered too, and may have been crawled by another run.
async fn caught_up(storage: &Storage, registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if let Err(error) = registry.catch_up(storage).await {
        tracing::warn!(
            error = with_causes(&error),
            "brands that were added or removed meanwhile are not known"
        );
    }
    registry
}

fn checked(stores: &[StoreSummary]) -> Vec<CheckReport> {
    let checked = stores.iter().filter_map(|store| {
        let (outcome, code) = match &store.outcome {
            Outcome::Changed => (CheckOutcome::Changed, None),
            Outcome::Unchanged => (CheckOutcome::Unchanged, None),
            Outcome::HeldBack { .. } => (CheckOutcome::HeldBack, None),
            Outcome::Failed { code, .. } => (CheckOutcome::Failed, Some(code.clone())),
            // The store was not asked.
            Outcome::Skipped => return None,
        };
        let detail = match &store.outcome {
            Outcome::Failed { reason, .. } => Some(reason.clone()),
            other => other.detail(),
        };
        Some(CheckReport {
            store: store.store.clone(),
            slug: store.slug.clone(),
            // A page says what the store had when it was read, however long after that the run was through with it.
            checked_at: store.read_at.unwrap_or(store.ended_at),
            outcome,
            code,
            detail,
        })
    });
    checked.collect()
}

fn warn<T>(recorded: Result<T, data_checks::ChecksError>) {
    if let Err(error) = recorded {
        tracing::warn!(
            error = with_causes(&error),
            "the times of the stores' last checks were not recorded"
        );
    }
}
