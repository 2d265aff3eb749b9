//! The parts of the log that are written again, and their sources. Damaged bytes are kept under `damaged/`.

use async_recursion::async_recursion as boxed;
use data_model::ReleaseId;
use data_storage::{FaultyObject, keep_aside};
use serde::Serialize;

use super::refused::path as refusal_path;
use super::{ReleaseStore, storage};
use crate::error::ReleaseError;

const ACTION: &str = "repair the release log";

/// The way in which a damaged object was, or would be, mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogRepair {
    /// An event or its copy, written again from the other. Nothing is lost.
    Copy,
    /// The newest event, lost with its copy: the only newer manifest that no event names tells what it published.
    Manifest(ReleaseId),
    /// The newest event, lost with its copy, and no manifest tells of a publication: what was current before it is current.
    /// That it went to another release, or set or took off a pin, is possible.
    Unknown(ReleaseId),
    /// An event, lost with its copy, that later ones made history of: removed.
    Removed,
    /// The record of a refused build: removed. The next build writes one where it is refused.
    Refusal,
    /// The newest event, lost with its copy, and nothing tells of any release: it stays. The next build is published after it.
    Nothing,
}

/// A damaged object of the store, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MendedObject {
    /// Its path in the store.
    pub path: String,
    /// The way in which it is mended.
    pub how: LogRepair,
}

impl ReleaseStore {
    /// Writes what is lost or damaged of the log again, and removes a record of a refused build that cannot be read. With
    /// `dry_run` it only says what it would do. Manifests are what the next build writes.
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
                // An event that was given up before.
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
