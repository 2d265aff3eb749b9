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

/// The lake: Delta tables that change together, tick by tick.
///
/// Clones share one state; one of them commits at a time. Any number of processes may work on the same storage.
#[derive(Debug, Clone)]
pub struct Lake {
    pub(crate) inner: Arc<Inner>,
    /// The right under which this handle commits; `None`: under none.
    pub(crate) fence: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) storage: Storage,
    pub(crate) config: Arc<LakeConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    pub(crate) state: Mutex<State>,
}

/// The memory of the committer.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Loaded when first needed; dropped when an operation failed, because what it changed is not known.
    pub(crate) tables: Option<BTreeMap<TableName, Table>>,
    /// The last tick that is known to have ended.
    pub(crate) ended: u64,
    /// Of each table the last entry of its log up to which all that its state is made of was found to be whole.
    pub(crate) checked: BTreeMap<TableName, u64>,
    /// A tick that could not be finished.
    pub(crate) unfinished: Option<u64>,
    /// The last tick up to which `tables` is known to be complete.
    pub(crate) loaded: u64,
    /// The rows of the files of `brands`, by the files' paths.
    pub(crate) brands: HashMap<String, HashMap<StoreHost, BrandState>>,
    /// The products that the files of `product_history` tell as gone, by the files' paths and by store.
    pub(crate) gone: HashMap<String, HashMap<String, HashSet<u64>>>,
    /// Stores that are to be written anew though their content is the stored content.
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
    /// Looks at what the committer knows, unless it is at work.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&State) -> T) -> Option<T> {
        self.state.try_lock().ok().map(|state| look(&state))
    }
}
