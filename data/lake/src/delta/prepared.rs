//! Changes of tables whose files are written but not committed yet.

use std::collections::BTreeMap;

use data_storage::{ObjectPath, Storage};
use deltalake::kernel::Action;
use object_store::ObjectStoreExt;

use crate::TableName;

#[derive(Debug)]
pub(crate) struct PreparedTable {
    /// Table version on which the changes were computed.
    pub(crate) version: u64,
    pub(crate) actions: Vec<Action>,
}

pub(crate) type PreparedActions = BTreeMap<TableName, PreparedTable>;

/// Removes files of a commit batch that did not begin. Vacuum later removes those that cannot be removed here.
pub(crate) async fn discard(lake: &Storage, prepared: &PreparedActions) {
    for (table, PreparedTable { actions, .. }) in prepared {
        let storage = lake.child(table.as_str());
        for action in actions {
            let Action::Add(add) = action else { continue };
            let Ok(path) = ObjectPath::parse(&add.path) else {
                continue;
            };
            if let Err(error) = storage.store().delete(&path).await {
                tracing::debug!(%table, %path, %error, "a file of a commit batch that was not begun could not be deleted");
            }
        }
    }
}
