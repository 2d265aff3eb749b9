use std::cmp::Reverse;

use data_model::{CouponVerdict, StoreHost, TestedCode, Timestamp};
use data_storage::{ObjectPath, Storage, get_bytes, list_all, put_over};

use crate::CodesError;

const PREFIX: &str = "discounts";
const EXTENSION: &str = ".json";
/// Maximum number of tests stored per store. The oldest tests are removed.
pub const TESTS_MAX: usize = 200;
const STORES_MAX: usize = 50_000;
/// Age after which a test is no longer used: 30 days.
const OLD_MS: i64 = 30 * 24 * 3_600_000;

/// A listed object with the tests of one store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedStore {
    /// Store at which the codes were tested.
    pub store: StoreHost,
    /// Version of the object, which changes with its content.
    pub version: String,
}

/// Returns the storage path of a store's tested codes.
#[must_use]
pub fn tested_at(store: &StoreHost) -> ObjectPath {
    ObjectPath::from_iter([PREFIX, &format!("{store}{EXTENSION}")])
}

/// Returns `true` if a test is recent enough to be used.
#[must_use]
pub fn is_recent(test: &TestedCode, now: Timestamp) -> bool {
    !test.tested_at.is_past_by(now, OLD_MS)
}

/// Lists the stores at which codes were tested.
///
/// # Errors
/// [`CodesError::Storage`].
pub async fn tested_stores(storage: &Storage) -> Result<Vec<TestedStore>, CodesError> {
    let listed = list_all(&storage.child(PREFIX), None).await?.into_iter();
    let stores = listed.filter_map(|meta| {
        let name = meta.location.filename().and_then(|name| name.strip_suffix(EXTENSION));
        Some(TestedStore {
            store: name?.parse().ok()?,
            version: format!("{} {} {:?}", meta.last_modified, meta.size, meta.e_tag),
        })
    });
    Ok(stores.take(STORES_MAX).collect())
}

/// Loads the tests of a store, the latest first. Returns none if the object is missing or invalid.
///
/// # Errors
/// [`CodesError::Storage`].
pub async fn load_tested(storage: &Storage, store: &StoreHost) -> Result<Vec<TestedCode>, CodesError> {
    let json = get_bytes(storage, &tested_at(store)).await?;
    let tests: Option<Vec<TestedCode>> = json.and_then(|json| serde_json::from_slice(&json).ok());
    let mut tests = tests.unwrap_or_default();
    tests.truncate(TESTS_MAX);
    Ok(tests)
}

/// Merges new verdicts of a store. Of two tests of a code on one variant, the later one stays. Codes that the store
/// does not have are removed. If two callers write concurrently, the tests of one may be lost. Lost tests are repeated
/// on demand.
pub async fn take_tested(
    storage: &Storage,
    store: &StoreHost,
    tests: &[TestedCode],
    now: Timestamp,
) -> Result<(), CodesError> {
    let before = load_tested(storage, store).await?;
    let after = merged(before.clone(), tests, now);
    if after == before {
        return Ok(());
    }
    let json = serde_json::to_vec(&after).map_err(CodesError::Json)?;
    Ok(put_over(storage, &tested_at(store), json).await?)
}

fn merged(mut kept: Vec<TestedCode>, tests: &[TestedCode], now: Timestamp) -> Vec<TestedCode> {
    for test in tests {
        let is_absent = test.verdict == CouponVerdict::UnknownCode;
        let is_same = |one: &TestedCode| one.code == test.code && (is_absent || one.variant == test.variant);
        let is_late = kept.iter().any(|one| is_same(one) && one.tested_at > test.tested_at);
        kept.retain(|one| !is_same(one) || one.tested_at > test.tested_at);
        if !is_absent && !is_late {
            kept.push(test.clone());
        }
    }
    kept.retain(|one| is_recent(one, now));
    kept.sort_by(|one, other| {
        let key = |one: &TestedCode| (Reverse(one.tested_at), one.variant);
        key(one).cmp(&key(other)).then_with(|| one.code.cmp(&other.code))
    });
    kept.truncate(TESTS_MAX);
    kept
}
