use std::collections::BTreeSet;
use std::fmt;

use async_recursion::async_recursion as boxed;
use data_index::{Counts, Manifest};
use data_model::{ReleaseId, Timestamp};
use data_storage::{EventFault, FaultyObject, StorageError};
use serde::Serialize;

use super::events::lineage;
use super::{Current, LogEvent, Pin, ReleaseStore, manifest_id, manifest_path, storage};
use crate::error::ReleaseError;

/// A release that can be fetched or rolled back to.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRelease {
    /// Id of the release.
    pub id: ReleaseId,
    /// Time at which the release last became current.
    pub published_at: Timestamp,
    /// Time at which the release was built.
    pub built_at: Timestamp,
    /// `true` for the current release.
    pub current: bool,
    /// Pin that prevents publishing over the release. Only the current release can have one.
    pub pinned: Option<Pin>,
    /// Totals of the release.
    pub counts: Counts,
    /// Number of parts in the release.
    pub parts: usize,
    /// Total size of the release's files in bytes, with each content counted once.
    pub size_bytes: u64,
}

/// An object of the store that exists but is damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Path of the object in the store: `log/{seq}.json` or `manifests/{id}.json`.
    pub object: String,
    /// Description of the fault.
    pub reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "releases/{} is damaged: {}", self.object, self.reason)
    }
}

impl Unreadable {
    fn entry(seq: u64, error: &StorageError) -> Self {
        let cause = std::error::Error::source(error);
        Self {
            object: format!("log/{seq:020}.json"),
            reason: cause.map_or_else(|| error.to_string(), ToString::to_string),
        }
    }

    /// Returns the damaged object of an event and its copy, if the other one is intact.
    fn of_whole_event(fault: &EventFault) -> Option<Self> {
        (fault.object != FaultyObject::Both).then(|| Self {
            object: fault.path.clone(),
            reason: "the event is read from its other copy".to_owned(),
        })
    }

    pub(super) fn manifest(id: ReleaseId, reason: String) -> Self {
        Self {
            object: manifest_path(id).to_string(),
            reason,
        }
    }
}

/// Releases of a store, and its unreadable objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Releases that can be fetched, ordered by the time at which they last became current, newest first.
    pub releases: Vec<ListedRelease>,
    /// Current release, which is missing in `releases` if its manifest is lost or damaged.
    pub current: Option<Current>,
    /// Default target of a rollback: the release that was current before, if it still exists.
    pub back: Option<ReleaseId>,
    /// Damaged manifests and log entries. Their releases are not listed.
    pub unreadable: Vec<Unreadable>,
}

/// A release that was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RolledBack {
    /// Release that was published last.
    pub release: ReleaseId,
    /// Time at which another release was made current instead.
    pub at: Timestamp,
}

#[derive(Default)]
pub(super) struct Events {
    pub(super) read: Vec<(u64, LogEvent)>,
    pub(super) damaged: Vec<(u64, Unreadable)>,
}

/// Maximum number of log entries that are read to find the release that was published last.
const ROLL_BACKS_MAX: usize = 1_000;

impl ReleaseStore {
    /// Returns the releases of [`ReleaseStore::listing`].
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::listing`].
    #[boxed]
    pub async fn list(&self) -> Result<Vec<ListedRelease>, ReleaseError> {
        Ok(self.listing().await?.releases)
    }

    /// Returns the releases that can be fetched or rolled back to, and the damaged objects of the store.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn listing(&self) -> Result<Listing, ReleaseError> {
        Ok(self.listing_of_manifests().await?.0)
    }

    /// Returns the listing with the manifests of the listed releases in the same order.
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::listing`].
    #[boxed]
    pub async fn listing_of_manifests(&self) -> Result<(Listing, Vec<Manifest>), ReleaseError> {
        let Events { read, damaged } = self.events().await?;
        let line = lineage(read.iter().map(|(_, event)| event));
        let current = read.last().map(|(seq, event)| Current::of(*seq, event));
        let mut listing = Listing {
            current,
            unreadable: damaged.into_iter().map(|(_, unreadable)| unreadable).collect(),
            ..Listing::default()
        };
        let (mut seen, mut manifests) = (BTreeSet::new(), Vec::new());
        for (seq, event) in read.into_iter().rev() {
            let id = event.release();
            if !seen.insert(id) {
                continue;
            }
            let manifest = match self.find_manifest(id).await {
                Ok(Some(manifest)) => manifest,
                Ok(None) => continue,
                Err(ReleaseError::ManifestDamaged { reason, .. }) => {
                    listing.unreadable.push(Unreadable::manifest(id, reason));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let is_current = current.is_some_and(|current| current.seq == seq);
            listing.releases.push(listed(&manifest, &event, is_current));
            manifests.push(manifest);
        }
        let current_id = current.map(|current| current.id);
        let is_there = |id: &ReleaseId| listing.releases.iter().any(|release| release.id == *id);
        let mut before = line.into_iter().rev().filter(|id| Some(*id) != current_id);
        listing.back = before.find(is_there);
        Ok((listing, manifests))
    }

    /// Returns the release that was rolled back: the last published one, if it is not current. A release whose content
    /// came back with a new build is published, not rolled back.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn rolled_back(&self) -> Result<Option<RolledBack>, ReleaseError> {
        const ACTION: &str = "read the release log";
        let Some((newest, event)) = self.head().await? else {
            return Ok(None);
        };
        let (current, at) = (event.release(), event.published_at());
        for seq in (1..=newest).rev().take(ROLL_BACKS_MAX) {
            match self.log.read(seq).await {
                Ok(Some(LogEvent::Publish { release, .. })) => {
                    return Ok((release != current).then_some(RolledBack { release, at }));
                }
                Ok(_) => {}
                // The release of a damaged entry is unknown.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(storage(ACTION)(error)),
            }
        }
        Ok(None)
    }

    /// Returns every damaged log entry, entry copy and manifest, including manifests that no entry names. The files of
    /// releases are not checked.
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::listing`].
    #[boxed]
    pub async fn unreadable(&self) -> Result<Vec<Unreadable>, ReleaseError> {
        let damaged = self.events().await?.damaged;
        let mut unreadable: Vec<Unreadable> = damaged.into_iter().map(|(_, unreadable)| unreadable).collect();
        let faults = self.log.faults().await.map_err(storage("read the release log"))?;
        unreadable.extend(faults.iter().filter_map(Unreadable::of_whole_event));
        for meta in self.list_dir("manifests").await? {
            let Some(id) = manifest_id(&meta.location) else {
                continue;
            };
            match self.find_manifest(id).await {
                Ok(_) => {}
                Err(ReleaseError::ManifestDamaged { reason, .. }) => unreadable.push(Unreadable::manifest(id, reason)),
                Err(error) => return Err(error),
            }
        }
        Ok(unreadable)
    }

    pub(super) async fn events(&self) -> Result<Events, ReleaseError> {
        let entries = self.log.read_each_from(0).await;
        let entries = entries.map_err(storage("read the release log"))?;
        let mut events = Events::default();
        for (seq, entry) in entries {
            match entry {
                Ok(event) => events.read.push((seq, event)),
                Err(error) => events.damaged.push((seq, Unreadable::entry(seq, &error))),
            }
        }
        // Only the newest lost entry gets a derived replacement.
        let last = events.read.last().map(|(seq, _)| *seq);
        let lost = events.damaged.last().map(|(seq, _)| *seq);
        if let Some(seq) = lost.filter(|seq| last.is_none_or(|last| last < *seq)) {
            let event = self.stand_in(&events).await?;
            events.read.extend(event.map(|event| (seq, event)));
        }
        Ok(events)
    }
}

fn listed(manifest: &Manifest, event: &LogEvent, current: bool) -> ListedRelease {
    let files: BTreeSet<_> = manifest.files().map(|file| (file.sha256, file.size_bytes)).collect();
    ListedRelease {
        id: manifest.id,
        published_at: event.published_at(),
        built_at: manifest.built_at,
        current,
        pinned: event.pin().filter(|_| current),
        parts: manifest.parts.len(),
        size_bytes: files.iter().map(|(_, size)| size).sum(),
        counts: manifest.counts.clone(),
    }
}
