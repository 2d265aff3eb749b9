use std::cmp::Reverse;

use data_model::{CouponVerdict, StoreHost, TestedCode, Timestamp};
use data_storage::{ObjectPath, ObjectStore, Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;

use crate::CodesError;

/// The folder of the objects.
const PREFIX: &str = "discounts";
const EXTENSION: &str = ".json";
/// Most tests of one store that are kept; beyond, the oldest go.
pub const TESTS_MAX: usize = 200;
/// Most stores that are listed.
const STORES_MAX: usize = 50_000;
/// The age from which a test says nothing any more: 30 days.
const OLD_MS: i64 = 30 * 24 * 3_600_000;

/// The tests of one store, as a list shows their object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedStore {
    /// The store.
    pub store: StoreHost,
    /// Differs where the object does.
    pub version: String,
}

/// The path of the tests at a store.
#[must_use]
pub fn tested_at(store: &StoreHost) -> ObjectPath {
    ObjectPath::from_iter([PREFIX, &format!("{store}{EXTENSION}")])
}

/// True of a test that still says something.
#[must_use]
pub fn is_recent(test: &TestedCode, now: Timestamp) -> bool {
    !test.tested_at.is_past_by(now, OLD_MS)
}

/// The stores at which codes were tested.
///
/// # Errors
/// [`CodesError::Storage`].
pub async fn tested_stores(storage: &Storage) -> Result<Vec<TestedStore>, CodesError> {
    let failed = |source| StorageError::List {
        prefix: PREFIX.to_owned(),
        source,
    };
    let mut listed = storage.child(PREFIX).store().list(None);
    let mut stores = Vec::new();
    while let Some(meta) = listed.try_next().await.map_err(failed)? {
        let name = meta.location.filename().and_then(|name| name.strip_suffix(EXTENSION));
        let Some(store) = name.and_then(|name| name.parse().ok()) else {
            continue;
        };
        stores.push(TestedStore {
            store,
            version: format!("{} {} {:?}", meta.last_modified, meta.size, meta.e_tag),
        });
        if stores.len() == STORES_MAX {
            break;
        }
    }
    Ok(stores)
}

/// The tests at a store, the latest first; none, where the object is missing or cannot be understood.
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

/// Takes in what a store said: of two tests of a code on one variant the later one stays, and a code that the store has not
/// at all has none. Of two that write at the same moment one may lose its tests; they are made again when somebody asks.
///
/// # Errors
/// See [`CodesError`].
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
