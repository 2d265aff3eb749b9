use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use data_model::{Clock, StoreHost};
use data_storage::Storage;
use futures::future::try_join_all;
use tokio::sync::{Mutex, MutexGuard};

use crate::delta::Table;
use crate::rows::brands::BrandState;
use crate::ticks::Ticks;
use crate::{LakeConfig, LakeError, TableName};

/// The lake: a set of Delta tables that change together, one commit batch after another.
///
/// Clones share one state, and only one clone commits at a time. Any number of processes may work on the same storage.
#[derive(Debug, Clone)]
pub struct Lake {
    pub(crate) inner: Arc<Inner>,
    /// Fence under which this handle commits. `None` for unfenced commits.
    pub(crate) fence: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) storage: Storage,
    pub(crate) config: LakeConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    pub(crate) state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Tables, loaded on first use. A failed operation drops them, because its changes are unknown.
    pub(crate) tables: Option<BTreeMap<TableName, Table>>,
    /// Number of the last commit batch that is known to have ended.
    pub(crate) ended: u64,
    /// For each table, the log version up to which all entries that its state depends on were found intact.
    pub(crate) checked: BTreeMap<TableName, u64>,
    /// Number of a commit batch that could not be finished.
    pub(crate) unfinished: Option<u64>,
    /// Number of the last commit batch that `tables` is known to include.
    pub(crate) loaded: u64,
    /// Rows of the `brands` table, by file path.
    pub(crate) brands: HashMap<String, HashMap<StoreHost, BrandState>>,
    /// Products that `product_history` lists as gone, by file path and store.
    pub(crate) gone: HashMap<String, HashMap<String, HashSet<u64>>>,
    /// Stores to be rewritten even if their content is unchanged, because their stored rows are damaged.
    pub(crate) damaged: BTreeSet<StoreHost>,
}

impl Lake {
    pub(crate) async fn load(&self) -> Result<BTreeMap<TableName, Table>, LakeError> {
        let tables = try_join_all(TableName::ALL.map(|table| Table::open(&self.inner.storage, table))).await?;
        Ok(tables.into_iter().map(|table| (table.name, table)).collect())
    }

    pub(crate) async fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().await
    }
}

impl Inner {
    /// Returns `None` while the committer has the lock.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&State) -> T) -> Option<T> {
        self.state.try_lock().ok().map(|state| look(&state))
    }
}
