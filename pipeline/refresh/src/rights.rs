//! Ensures that only one process at a time queries a store of a run.

use std::sync::Arc;

use pipeline_crawl::RegisteredBrand;
use storefront::NotAsked;
use tokio::sync::mpsc;

use crate::store::{Event, RunContext};
use crate::summary::Outcome;

/// Calls [`RunContext::refresh_store`] for a store, while holding the right to it if rights are configured.
pub(crate) async fn refresh_alone(shared: Arc<RunContext>, brand: RegisteredBrand, events: mpsc::Sender<Event>) {
    let rights = shared.rights.clone();
    let work = Arc::clone(&shared).refresh_store(brand.clone(), events.clone());
    let stop = shared.cancel.cancelled();
    let mut summary = shared.blank(&brand);
    match storefront::under(rights.as_deref(), &brand.store, stop, work).await {
        Ok(()) => return,
        Err(told @ (NotAsked::ByAnother(_) | NotAsked::Stopped)) => {
            tracing::warn!(brand.slug = %brand.slug, "the store is skipped: {told}");
        }
        Err(told @ NotAsked::Lost) => {
            let code = "lease".to_owned();
            let reason = told.to_string();
            summary.outcome = Outcome::Failed { code, reason };
        }
        Err(NotAsked::Unknown(reason)) => {
            let code = "state".to_owned();
            summary.outcome = Outcome::Failed { code, reason };
        }
    }
    summary.ended_at = shared.clock.now();
    // The receiver is gone if the run was abandoned.
    let _ = events.send(Event::Through(Box::new(summary))).await;
}
