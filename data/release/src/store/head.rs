//! Reads the newest log event, and derives a replacement if the event and its copy are lost.

use std::collections::BTreeSet;

use data_index::Manifest;
use data_model::ReleaseId;

use super::list::Events;
use super::{LogEvent, ReleaseStore, manifest_id, storage};
use crate::error::ReleaseError;

const ACTION: &str = "read the release log";

impl ReleaseStore {
    pub(super) async fn head(&self) -> Result<Option<(u64, LogEvent)>, ReleaseError> {
        match self.log.latest().await {
            Err(error) if error.is_damage() => Ok(self.events().await?.read.pop()),
            latest => latest.map_err(storage(ACTION)),
        }
    }

    /// Returns the number of the newest event if it is lost and no other event or manifest names a release. The next
    /// event is appended after it.
    pub(super) async fn nameless_head(&self) -> Result<Option<u64>, ReleaseError> {
        match self.log.latest().await {
            Err(error) if error.is_damage() => self.log.latest_seq().await.map_err(storage(ACTION)),
            latest => latest.map(|_| None).map_err(storage(ACTION)),
        }
    }

    /// Derives a lost newest event from the events before it and from the manifests. A publication writes its manifest
    /// before its event, so that a newer manifest without an event belongs to the lost publication. If there is no such
    /// manifest, or more than one, or the previous release is pinned, nothing is assumed to have changed.
    pub(super) async fn stand_in(&self, before: &Events) -> Result<Option<LogEvent>, ReleaseError> {
        let last = before.read.last().map(|(_, event)| event);
        let named: BTreeSet<ReleaseId> = before.read.iter().map(|(_, event)| event.release()).collect();
        let mut unnamed: Vec<Manifest> = Vec::new();
        for meta in self.list_dir("manifests").await? {
            let id = manifest_id(&meta.location).filter(|id| !named.contains(id));
            let Some(id) = id else { continue };
            match self.find_manifest(id).await {
                Ok(manifest) => unnamed.extend(manifest),
                Err(ReleaseError::ManifestDamaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        unnamed.retain(|manifest| last.is_none_or(|last| manifest.built_at >= last.at()));
        Ok(match unnamed.as_slice() {
            // A publication does not replace a pinned release.
            [published] if last.is_none_or(|last| last.pin().is_none()) => Some(LogEvent::Publish {
                release: published.id,
                at: published.built_at,
            }),
            _ => last.map(unchanged),
        })
    }
}

const fn unchanged(event: &LogEvent) -> LogEvent {
    let (release, at, published_at) = (event.release(), event.at(), event.published_at());
    match event.pin() {
        Some(pin) => LogEvent::Pin {
            release,
            at,
            published_at,
            pin,
        },
        None => LogEvent::Unpin {
            release,
            at,
            published_at,
        },
    }
}
