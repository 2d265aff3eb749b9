use std::sync::{Arc, OnceLock};

use api::Asset;
use data_checks::{CheckOutcome, Checks};
use data_index::Release;
use sha2::{Digest, Sha256};

/// Cached answers that depend on a release and on the last checks of stores. The cache is replaced when either changes.
#[derive(Debug)]
pub(crate) struct CheckedAnswers {
    pub(crate) checks: Arc<Checks>,
    /// Checks as recorded, without the outcome `HeldBack`, which the release decides.
    pub(crate) recorded: Arc<Checks>,
    /// Digest of the checks in answers. The digest changes if answers about brands or totals change for the same
    /// release.
    stamp: [u8; 32],
    /// Totals of the catalogue, computed at the first request.
    pub(crate) stats: OnceLock<Arc<Asset>>,
    /// First page of brands, built at the first request because this server's key signs its cursor.
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

    pub(crate) const fn stamp(&self) -> &[u8] {
        &self.stamp
    }

    pub(crate) fn made_brands_head(&self) -> Option<&Arc<Asset>> {
        self.brands_head.get()
    }

    /// Returns the first page of brands. The first call builds it with `make`.
    pub(crate) fn brands_head(&self, make: impl FnOnce() -> Arc<Asset>) -> &Arc<Asset> {
        self.brands_head.get_or_init(make)
    }
}

/// Returns the checks with the outcome `HeldBack` for brands that the release holds back. The catalogue of these brands
/// is older than their last successful check.
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

/// Computes a digest of all check data in answers. The digest is the same on all servers, and changes only if a brand's
/// check changes.
fn stamp(checks: &Checks) -> [u8; 32] {
    let mut digest = Sha256::new();
    for (store, check) in &checks.brands {
        // The digest separates hosts and outcomes with zero bytes, which neither contains.
        digest.update(store.as_str());
        digest.update([0]);
        digest.update(check.outcome.as_str());
        digest.update([0, u8::from(check.is_incomplete)]);
        digest.update(check.checked_at.micros().to_le_bytes());
    }
    digest.finalize().into()
}
