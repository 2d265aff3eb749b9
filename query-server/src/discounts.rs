//! Tested discount codes of stores, shown with products. A release does not contain them, because codes change more
//! often than catalogues.

use std::sync::Arc;

use data_codes::{CodesError, TestedStore, is_recent, load_tested, tested_stores};
use data_model::{CouponVerdict, StoreHost, TestedCode, Timestamp};
use data_storage::Storage;
use futures::future::try_join_all;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

/// Number of stores whose tests are read concurrently.
const READ_AT_ONCE: usize = 16;

/// Latest discount code tests of all stores.
#[derive(Debug, Default)]
pub(crate) struct KnownDiscounts {
    stores: FxHashMap<StoreHost, Arc<StoreTests>>,
}

/// Tests of a store's codes that applied to some product.
#[derive(Debug)]
struct StoreTests {
    version: String,
    tests: Vec<TestedCode>,
    stamp: [u8; 32],
}

impl StoreTests {
    fn of(version: String, mut tests: Vec<TestedCode>, now: Timestamp) -> Self {
        tests.retain(|test| is_recent(test, now));
        let applied = tests
            .iter()
            .filter(|test| matches!(test.verdict, CouponVerdict::Applicable(_)));
        let applied: FxHashSet<String> = applied.map(|test| test.code.clone()).collect();
        tests.retain(|test| applied.contains(&test.code));
        let stamp = Sha256::digest(serde_json::to_vec(&tests).unwrap_or_default()).into();
        Self { version, tests, stamp }
    }
}

impl KnownDiscounts {
    /// Returns the tests of a store, latest first.
    pub(crate) fn of(&self, store: &StoreHost) -> &[TestedCode] {
        self.stores.get(store).map_or(&[], |known| &known.tests)
    }

    /// Returns the digest of a store's tests. Answers that show the store's codes have it in their entity tags.
    pub(crate) fn stamp(&self, store: &StoreHost) -> &[u8] {
        self.stores.get(store).map_or(&[], |known| &known.stamp)
    }

    /// Reads the current tests. Tests that have not changed are not read again.
    pub(crate) async fn newer(&self, storage: &Storage, now: Timestamp) -> Result<Self, CodesError> {
        let mut stores = FxHashMap::default();
        let mut changed = Vec::new();
        for listed in tested_stores(storage).await? {
            let known = self.stores.get(&listed.store);
            let is_same = |known: &&Arc<StoreTests>| {
                known.version == listed.version && known.tests.iter().all(|test| is_recent(test, now))
            };
            match known.filter(is_same) {
                Some(known) => drop(stores.insert(listed.store, Arc::clone(known))),
                None => changed.push(listed),
            }
        }
        for some in changed.chunks(READ_AT_ONCE) {
            let read = some.iter().map(|listed| load_tested(storage, &listed.store));
            for (TestedStore { store, version }, tests) in some.iter().zip(try_join_all(read).await?) {
                let tests = StoreTests::of(version.clone(), tests, now);
                stores.insert(store.clone(), Arc::new(tests));
            }
        }
        Ok(Self { stores })
    }
}
