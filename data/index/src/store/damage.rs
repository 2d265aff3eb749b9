use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use async_recursion::async_recursion as boxed;
use data_model::{ReleaseId, StoreHost};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;

use super::fetch::{FILES_AT_ONCE, hash_local};
use super::{ReleaseStore, file_path};
use crate::digest::{Hasher, Sha256Hex};
use crate::error::ReleaseError;
use crate::manifest::{FileEntry, Manifest, PartId};

/// A file of a release that the store does not hold as the manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, by the hash it should have: `files/{sha256}` in the store.
    pub sha256: Sha256Hex,
    /// Its name within its parts: `cards.arrow`, `text.idx`, and so on.
    pub name: String,
    /// The parts that it belongs to; none where it is a brand's.
    pub parts: Vec<PartId>,
    /// The stores whose products the release serves from those parts, or whose file it is, sorted.
    pub stores: Vec<StoreHost>,
    /// The kind of damage.
    pub kind: DamageKind,
}

/// The kinds of damage to a file in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// It is not there.
    Missing,
    /// It is longer or shorter than the manifest says.
    Size {
        /// Its size in bytes.
        found: u64,
        /// Its size in bytes by the manifest.
        expected: u64,
    },
    /// It has its size, but other bytes.
    Content {
        /// The hash of the bytes it has.
        found: Sha256Hex,
    },
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Size { found, expected } => write!(f, "has {found} bytes, not {expected}"),
            Self::Content { found } => write!(f, "has other bytes, of hash {found}"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sha256, name, kind, .. } = self;
        let (parts, stores) = (listed(&self.parts), listed(&self.stores));
        if self.parts.is_empty() {
            return write!(f, "file {sha256} {kind} ({name} of the stores {stores})");
        }
        write!(f, "file {sha256} {kind} ({name} of {parts} with the stores {stores})")
    }
}

/// Most files of a kind that a message names.
const NAMED_MAX: usize = 3;

fn listed<T: fmt::Display>(items: &[T]) -> String {
    let named: Vec<String> = items.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match items.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The text of a message about damage.
pub(crate) fn text(damage: &[Damage]) -> String {
    listed(damage)
}

impl Damage {
    pub(super) fn new(manifest: &Manifest, file: &FileEntry, kind: DamageKind) -> Self {
        let concerned = || {
            let held = |part: &&crate::PartEntry| part.files.iter().any(|held| held.sha256 == file.sha256);
            manifest.parts.iter().filter(held)
        };
        let live = |part: &crate::PartEntry| part.stores.clone().into_iter().filter(|held| held.live);
        let mut stores: BTreeSet<StoreHost> = concerned().flat_map(live).map(|held| held.store).collect();
        let of_brands = manifest.brands.iter().map(|entry| &entry.facts);
        let of_brands = of_brands.filter(|facts| {
            let own = facts
                .delivery
                .iter()
                .chain(facts.reviews.iter().map(|reviews| &reviews.file));
            own.into_iter().any(|own| own.sha256 == file.sha256)
        });
        stores.extend(of_brands.map(|facts| facts.brand.store.clone()));
        Self {
            sha256: file.sha256,
            name: file.name.clone(),
            parts: concerned().map(|part| part.id).collect(),
            stores: stores.into_iter().collect(),
            kind,
        }
    }
}

/// The damage of a file that was read; `None` when it is whole.
pub(super) fn kind_of(file: &FileEntry, found: Sha256Hex, size_bytes: u64) -> Option<DamageKind> {
    if size_bytes != file.size_bytes {
        let (found, expected) = (size_bytes, file.size_bytes);
        Some(DamageKind::Size { found, expected })
    } else if found != file.sha256 {
        Some(DamageKind::Content { found })
    } else {
        None
    }
}

impl ReleaseStore {
    /// Reads every file of a release from the store, past all caches, and tells which ones are missing or not what
    /// the manifest says; empty when the release is whole. Reads as much as the release is large.
    ///
    /// # Errors
    /// The store failed; damage is no error.
    #[boxed]
    pub async fn verify(&self, manifest: &Manifest) -> Result<Vec<Damage>, ReleaseError> {
        let damage = self.verify_all(std::slice::from_ref(manifest)).await?;
        Ok(damage.into_iter().map(|(_, damage)| damage).collect())
    }

    /// The same of several releases. A file that several have is read once, and told of the first of them.
    ///
    /// # Errors
    /// As [`ReleaseStore::verify`].
    #[boxed]
    pub async fn verify_all(&self, manifests: &[Manifest]) -> Result<Vec<(ReleaseId, Damage)>, ReleaseError> {
        let mut files: BTreeMap<Sha256Hex, (&Manifest, &FileEntry)> = BTreeMap::new();
        for manifest in manifests {
            for file in manifest.files() {
                files.entry(file.sha256).or_insert((manifest, file));
            }
        }
        // Boxed, or the compiler cannot tell that this future is `Send`.
        let read: Vec<BoxFuture<'_, _>> = files
            .into_values()
            .map(|(manifest, file)| {
                let damage = async move {
                    let kind = self.damage_of(file).await?;
                    Ok::<_, ReleaseError>(kind.map(|kind| (manifest.id, Damage::new(manifest, file, kind))))
                };
                damage.boxed()
            })
            .collect();
        futures::stream::iter(read)
            .buffered(FILES_AT_ONCE)
            .try_filter_map(|damage| std::future::ready(Ok(damage)))
            .try_collect()
            .await
    }

    /// The damage of a file in the store, which is read whole; `None` when it is whole.
    pub(super) async fn damage_of(&self, file: &FileEntry) -> Result<Option<DamageKind>, ReleaseError> {
        let path = file_path(file.sha256);
        if let Some(root) = self.storage.local_dir() {
            return match hash_local(root.join(path.as_ref())).await {
                Ok((found, size_bytes)) => Ok(kind_of(file, found, size_bytes)),
                Err(ReleaseError::Local { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    Ok(Some(DamageKind::Missing))
                }
                Err(error) => Err(error),
            };
        }
        let failed = |source| ReleaseError::Object {
            action: "read",
            path: path.to_string(),
            source,
        };
        let stored = match self.storage.store().get(&path).await {
            Ok(stored) => stored,
            Err(object_store::Error::NotFound { .. }) => return Ok(Some(DamageKind::Missing)),
            Err(source) => return Err(failed(source)),
        };
        let (found, expected) = (stored.meta.size, file.size_bytes);
        if found != expected {
            return Ok(Some(DamageKind::Size { found, expected }));
        }
        let mut chunks = stored.into_stream();
        let mut hasher = Hasher::default();
        while let Some(chunk) = chunks.try_next().await.map_err(failed)? {
            hasher.update(&chunk);
        }
        let (found, size_bytes) = hasher.finish();
        Ok(kind_of(file, found, size_bytes))
    }

    /// The damage of a file in the store as far as its size tells.
    pub(super) async fn size_damage_of(&self, file: &FileEntry) -> Result<Option<DamageKind>, ReleaseError> {
        let path = file_path(file.sha256);
        match self.storage.store().head(&path).await {
            Ok(meta) if meta.size == file.size_bytes => Ok(None),
            Ok(meta) => Ok(Some(DamageKind::Size {
                found: meta.size,
                expected: file.size_bytes,
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(Some(DamageKind::Missing)),
            Err(source) => Err(ReleaseError::Object {
                action: "look up",
                path: path.to_string(),
                source,
            }),
        }
    }
}
