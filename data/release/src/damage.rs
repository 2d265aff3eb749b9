use std::collections::BTreeSet;
use std::fmt;

use data_index::{FileEntry, Manifest, PartEntry, PartId, Sha256Hex};
use data_model::StoreHost;

/// A file of a release that is missing or differs from the manifest in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Expected hash of the file, which is stored at `files/{sha256}`.
    pub sha256: Sha256Hex,
    /// Name of the file within its parts, such as `cards.arrow` or `terms.bin`.
    pub name: String,
    /// Parts with the file. Empty for a file of a brand.
    pub parts: Vec<PartId>,
    /// Sorted stores whose products the release serves from these parts, or the store of the file.
    pub stores: Vec<StoreHost>,
    /// Kind of damage to the file.
    pub kind: DamageKind,
}

/// Kind of damage to a file in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// The file does not exist.
    Missing,
    /// The size of the file differs from the manifest.
    Size {
        /// Actual size of the file in bytes.
        found: u64,
        /// Expected size in bytes from the manifest.
        expected: u64,
    },
    /// The file has the right size but different bytes.
    Content {
        /// Hash of the actual bytes.
        found: Sha256Hex,
    },
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Size { found, expected } => write!(f, "has {found} bytes, not {expected}"),
            Self::Content { found } => write!(f, "has different content, with hash {found}"),
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

const NAMED_MAX: usize = 3;

fn listed<T: fmt::Display>(items: &[T]) -> String {
    let named: Vec<String> = items.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match items.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

pub(crate) fn text(damage: &[Damage]) -> String {
    listed(damage)
}

impl Damage {
    pub(crate) fn new(manifest: &Manifest, file: &FileEntry, kind: DamageKind) -> Self {
        let concerned = || {
            let held = |part: &&PartEntry| part.files.iter().any(|held| held.sha256 == file.sha256);
            manifest.parts.iter().filter(held)
        };
        let live = |part: &PartEntry| part.stores.clone().into_iter().filter(|held| held.live);
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

pub(crate) fn kind_of(file: &FileEntry, found: Sha256Hex, size_bytes: u64) -> Option<DamageKind> {
    if size_bytes != file.size_bytes {
        let (found, expected) = (size_bytes, file.size_bytes);
        Some(DamageKind::Size { found, expected })
    } else if found != file.sha256 {
        Some(DamageKind::Content { found })
    } else {
        None
    }
}
