//! Shared code of the commands that query stores.

use anyhow::Context as _;
use data_model::BrandSlug;
use pipeline_task::{StoreDeps, TaskError};
use tokio_util::task::AbortOnDropHandle;

use super::jobs::Rights;
use crate::exit::usage;
use crate::wiring::{Context, until_signal};

pub(super) fn slugs(texts: &[String]) -> anyhow::Result<Vec<BrandSlug>> {
    let parsed = texts
        .iter()
        .map(|text| text.parse().with_context(|| format!("{text:?}")).map_err(usage));
    parsed.collect()
}

/// Marks an unknown brand as the caller's fault.
pub(super) fn refused(error: TaskError) -> anyhow::Error {
    match error {
        TaskError::Brand(_) => usage(error.into()),
        error => error.into(),
    }
}

/// Stores of a home for one command, which queries them until a signal stops it.
#[derive(Debug)]
pub(super) struct StoreSession {
    pub(super) deps: StoreDeps,
    rights: Rights,
    _listener: AbortOnDropHandle<()>,
}

impl StoreSession {
    pub(super) async fn open(context: &Context) -> anyhow::Result<Self> {
        if let Some(warning) = context.unnamed_crawler() {
            tracing::warn!("{warning}");
        }
        let rights = Rights::open(context).await?;
        let deps = context.store_deps(&context.storage()?).await?;
        let (cancel, listener) = until_signal();
        Ok(Self {
            deps: StoreDeps {
                rights: rights.given.clone(),
                cancel,
                ..deps
            },
            rights,
            _listener: listener,
        })
    }

    pub(super) async fn close(self) {
        self.rights.close().await;
    }
}
