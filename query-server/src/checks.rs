use std::sync::{Arc, OnceLock};

use api::Asset;
use data_checks::{CheckOutcome, Checks};
use data_index::Release;
use sha2::{Digest, Sha256};

/// Cached responses that depend on a release and on the last checks of stores. The responses are rebuilt when the
/// release or the checks change.
#[derive(Debug)]
pub(crate) struct CheckedAnswers {
    pub(crate) checks: Arc<Checks>,
    /// Checks as recorded, before brands that the release holds back are marked `HeldBack`.
    pub(crate) recorded: Arc<Checks>,
    /// Digest that changes when answers about brands or totals change for the same release.
    stamp: [u8; 32],
    /// Totals of the catalogue, computed at the first request.
    pub(crate) stats: OnceLock<Arc<Asset>>,
    /// First page of brands, built at the first request because its cursor is signed with the server's key.
    brands_head: OnceLock<Arc<Asset>>,
}

impl CheckedAnswers {
    pub(crate) fn of(release: &Release, recorded: Arc<Checks>) -> Self {
        let checks = with_held(release, Arc::clone(&recorded));
        Self {
            stamp: stamp(&checks),
            checks,
            recorded,
            stats: OnceLock::new(),
            brands_head: OnceLock::new(),
        }
    }

    /// Returns the digest of the checks, which is part of the entity tags of answers about brands.
    pub(crate) const fn stamp(&self) -> &[u8] {
        &self.stamp
    }

    /// Returns the first page of brands if it was already built.
    pub(crate) fn made_brands_head(&self) -> Option<&Arc<Asset>> {
        self.brands_head.get()
    }

    /// Returns the first page of brands, and builds it with `make` at the first call.
    pub(crate) fn brands_head(&self, make: impl FnOnce() -> Arc<Asset>) -> &Arc<Asset> {
        self.brands_head.get_or_init(make)
    }
}

/// Returns the checks with the outcome `HeldBack` for brands that the release holds back. The displayed catalogue of
/// these stores is older than their last successful check.
fn with_held(release: &Release, mut checks: Arc<Checks>) -> Arc<Checks> {
    for brand in &release.manifest().held {
        if let Some(check) = Arc::make_mut(&mut checks).brands.get_mut(&brand.store)
            && check.outcome.is_good()
        {
            check.outcome = CheckOutcome::HeldBack;
        }
    }
    checks
}

/// Computes a digest of all check data in answers. Servers with the same record get the same digest. Events that change
/// no brand's check do not change it.
fn stamp(checks: &Checks) -> [u8; 32] {
    let mut digest = Sha256::new();
    for (store, check) in &checks.brands {
        // Hosts and outcomes contain no zero byte, so zero can separate them.
        digest.update(store.as_str());
        digest.update([0]);
        digest.update(check.outcome.as_str());
        digest.update([0]);
        digest.update(check.checked_at.micros().to_le_bytes());
    }
    digest.finalize().into()
}
