//! Changes of tables that are written and not committed yet.

use std::collections::BTreeMap;

use data_storage::{ObjectPath, Storage};
use deltalake::kernel::Action;
use object_store::ObjectStoreExt;

use crate::TableName;

/// The changes of a tick in one table. The files are written.
#[derive(Debug)]
pub(crate) struct PreparedTable {
    /// The version that was looked at.
    pub(crate) version: u64,
    pub(crate) actions: Vec<Action>,
}

/// The changes of a tick by table.
pub(crate) type PreparedActions = BTreeMap<TableName, PreparedTable>;

/// Removes files that were written for a tick that is not begun. Those that stay are found by vacuum.
pub(crate) async fn discard(lake: &Storage, prepared: &PreparedActions) {
    for (table, PreparedTable { actions, .. }) in prepared {
        let storage = lake.child(table.as_str());
        for action in actions {
            let Action::Add(add) = action else { continue };
            let Ok(path) = ObjectPath::parse(&add.path) else {
                continue;
            };
            if let Err(error) = storage.store().delete(&path).await {
                tracing::debug!(%table, %path, %error, "a file of a tick that was not begun is left");
            }
        }
    }
}
