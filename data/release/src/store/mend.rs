//! Repairs the release log by rewriting lost objects from other objects. Damaged bytes are moved to `damaged/`.

use async_recursion::async_recursion as boxed;
use data_model::ReleaseId;
use data_storage::{FaultyObject, keep_aside};
use serde::Serialize;

use super::refused::path as refusal_path;
use super::{ReleaseStore, storage};
use crate::error::ReleaseError;

const ACTION: &str = "repair the release log";

/// Repair of a damaged object. A dry run only plans it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogRepair {
    /// An event or its copy is rewritten from the other. No data is lost.
    Copy,
    /// The newest event is lost with its copy, and is derived from the only newer manifest that no event names.
    Manifest(ReleaseId),
    /// The newest event is lost with its copy, and no manifest shows a publication. The release of the event before it
    /// becomes current. The lost event may have been a rollback, or may have set or removed a pin.
    Unknown(ReleaseId),
    /// An event that is lost with its copy is removed, because later events made it irrelevant.
    Removed,
    /// The damaged record of a refused build is removed. The next refused build writes a new one.
    Refusal,
    /// The newest event is lost with its copy, and stays because no event or manifest names a release. The next build
    /// is published after it.
    Nothing,
}

/// A damaged object of the store, and its repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MendedObject {
    /// Path of the object in the store.
    pub path: String,
    /// Repair of the object.
    pub how: LogRepair,
}

impl ReleaseStore {
    /// Rewrites lost or damaged objects of the log, and removes an unreadable record of a refused build. With
    /// `dry_run`, only reports the repairs. The next build rewrites damaged manifests.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn mend(&self, dry_run: bool) -> Result<Vec<MendedObject>, ReleaseError> {
        let newest = self.log.latest_seq().await.map_err(storage(ACTION))?;
        let mut mended = Vec::new();
        for fault in self.log.faults().await.map_err(storage(ACTION))? {
            let how = match fault.object {
                FaultyObject::Event | FaultyObject::Copy => {
                    if !dry_run {
                        self.log.mend(&fault).await.map_err(storage(ACTION))?;
                    }
                    LogRepair::Copy
                }
                FaultyObject::Both if Some(fault.seq) == newest => self.mend_newest(fault.seq, dry_run).await?,
                // An earlier repair already gave this event up.
                FaultyObject::Both if fault.is_missing => continue,
                FaultyObject::Both => {
                    if !dry_run {
                        self.log.remove_damaged(fault.seq).await.map_err(storage(ACTION))?;
                    }
                    LogRepair::Removed
                }
            };
            mended.push(MendedObject { path: fault.path, how });
        }
        let is_damage = |error| matches!(error, ReleaseError::Storage { source, .. } if source.is_damage());
        if self.refused().await.is_err_and(is_damage) {
            if !dry_run {
                let aside = keep_aside(&self.storage, &refusal_path()).await;
                aside.map_err(storage(ACTION))?;
                self.forget_refusal().await;
            }
            mended.push(MendedObject {
                path: refusal_path().to_string(),
                how: LogRepair::Refusal,
            });
        }
        Ok(mended)
    }

    async fn mend_newest(&self, seq: u64, dry_run: bool) -> Result<LogRepair, ReleaseError> {
        let events = self.events().await?.read;
        let Some((_, event)) = events.last() else {
            return Ok(LogRepair::Nothing);
        };
        if !dry_run {
            self.log.replace_lost(seq, event).await.map_err(storage(ACTION))?;
        }
        Ok(match event {
            super::LogEvent::Publish { release, .. } => LogRepair::Manifest(*release),
            event => LogRepair::Unknown(event.release()),
        })
    }
}
