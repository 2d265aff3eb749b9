use std::sync::{Arc, OnceLock};

use api::Asset;
use data_checks::{CheckOutcome, Checks};
use data_index::Release;
use sha2::{Digest, Sha256};

/// The answers that follow from a release and from the stores' last checks. They are made anew when either changes.
#[derive(Debug)]
pub(crate) struct CheckedAnswers {
    pub(crate) checks: Arc<Checks>,
    /// The same as they were recorded, without what the release holds.
    pub(crate) recorded: Arc<Checks>,
    /// Differs where an answer of brands or totals over the same release differs.
    stamp: [u8; 32],
    /// The totals, from the first time that somebody asks for them.
    pub(crate) stats: OnceLock<Arc<Asset>>,
    /// The first page of brands, made when it is first asked for: its cursor is signed with the server's key.
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

    /// Goes into entity tags of answers about brands, besides the release and the request.
    pub(crate) const fn stamp(&self) -> &[u8] {
        &self.stamp
    }

    /// The first page of brands, once it was made.
    pub(crate) fn made_brands_head(&self) -> Option<&Arc<Asset>> {
        self.brands_head.get()
    }

    /// The first page of brands, which `make` makes once.
    pub(crate) fn brands_head(&self, make: impl FnOnce() -> Arc<Asset>) -> &Arc<Asset> {
        self.brands_head.get_or_init(make)
    }
}

/// The checks, of which those of brands that the release holds say so: what is shown is of before their last good one.
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

/// A digest of all that answers state of checks. Servers that have read the same record have the same, and an event that
/// changes no brand's check changes no tag.
fn stamp(checks: &Checks) -> [u8; 32] {
    let mut digest = Sha256::new();
    for (store, check) in &checks.brands {
        // Neither a host nor an outcome holds a zero.
        digest.update(store.as_str());
        digest.update([0]);
        digest.update(check.outcome.as_str());
        digest.update([0]);
        digest.update(check.checked_at.micros().to_le_bytes());
    }
    digest.finalize().into()
}
