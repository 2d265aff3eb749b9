//! Records a run's result for each queried store next to the registry. An unchanged store causes no commit, so that
//! this record is the only evidence of the query.

use data_checks::{CheckOutcome, CheckReport, LastRun, RunEnd};
use data_model::{RunId, Timestamp};
use data_storage::Storage;
use pipeline_crawl::Registry;

use crate::RefreshError;
use crate::error::with_causes;
use crate::ledger::read_run;
use crate::summary::{Outcome, RunReport, RunState, StoreSummary};

/// Records the end of a run and the results of its stores. A failure is only a warning, because the run is over and the
/// old check times are visible to users.
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
            // The ledger contains the stores that were finished before the run failed.
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

/// Records the results so far of a run in progress.
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

/// Reloads the registry, because brands may have been added during the run and crawled by another run.
async fn caught_up(storage: &Storage, registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if let Err(error) = registry.catch_up(storage).await {
        tracing::warn!(
            error = with_causes(&error),
            "it is unknown which brands were added or removed meanwhile"
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
            // No request was sent to the store.
            Outcome::Skipped => return None,
        };
        let detail = match &store.outcome {
            Outcome::Failed { reason, .. } => Some(reason.clone()),
            other => other.detail(),
        };
        Some(CheckReport {
            store: store.store.clone(),
            slug: store.slug.clone(),
            // A page shows the store's state at its reading, even if the run finished the store much later.
            checked_at: store.read_at.unwrap_or(store.ended_at),
            outcome,
            code,
            detail,
            is_incomplete: store.truncated,
        })
    });
    checked.collect()
}

fn warn<T>(recorded: Result<T, data_checks::ChecksError>) {
    if let Err(error) = recorded {
        tracing::warn!(
            error = with_causes(&error),
            "the times of the stores' last checks could not be recorded"
        );
    }
}
