use std::collections::{BTreeSet, HashMap};

use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, keeps_conditions};
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::CommitData;
use deltalake::kernel::{Action, MetadataExt, Protocol, StructType, new_metadata};
use deltalake::logstore::CommitOrBytes;
use deltalake::protocol::{DeltaOperation, SaveMode};
use serde_json::json;
use uuid::Uuid;

use super::facts::encoded;
use super::layout::{self, LayoutFinding};
use crate::config::LOG_RETENTION;
use crate::delta::{add, failed, log_store};
use crate::error::unfit_columns;
use crate::files::{compute, write};
use crate::{LakeConfig, LakeError, TableName};

/// Path prefix of an object that is written and removed to test the storage.
const PROBE: &str = "_ticks/probe";

/// If the layout record is lost, only missing tables are created.
pub(crate) async fn create(lake: &Storage, config: LakeConfig, now: Timestamp) -> Result<(), LakeError> {
    let present = match layout::find(lake, lake, config).await? {
        LayoutFinding::Made => return Ok(()),
        LayoutFinding::Lost { tables } => {
            let path = layout::LAYOUT;
            tracing::warn!(
                path,
                "the record of the lake's layout is lost; it is recreated from the tables"
            );
            tables
        }
        LayoutFinding::New => {
            // Another process may create the lake at the same time and test the storage too, so that the name is
            // unique.
            let probe = ObjectPath::from(format!("{PROBE}-{}", Uuid::new_v4()));
            if !keeps_conditions(lake, &probe).await? {
                return Err(LakeError::Unconditional);
            }
            BTreeSet::new()
        }
    };
    for table in TableName::ALL.into_iter().filter(|table| !present.contains(table)) {
        create_table(lake, table, config, now).await?;
    }
    layout::note(lake, config).await
}

async fn create_table(lake: &Storage, table: TableName, config: LakeConfig, now: Timestamp) -> Result<(), LakeError> {
    let log_store = log_store(lake, table);
    let exists = || async {
        let exists = log_store.is_delta_table_location().await;
        exists.map_err(failed(table, "look-up"))
    };
    if exists().await? {
        return Ok(());
    }
    let spec = table.spec();
    let schema: StructType = spec.schema.as_ref().try_into_kernel().map_err(unfit_columns(table))?;
    let hours = LOG_RETENTION.as_secs().div_ceil(3600);
    let mut properties = vec![
        ("delta.dataSkippingStatsColumns", spec.stats.join(",")),
        ("delta.checkpointInterval", config.checkpoint_every.max(1).to_string()),
        ("delta.logRetentionDuration", format!("interval {hours} hours")),
        ("delta.deletedFileRetentionDuration", format!("interval {hours} hours")),
    ];
    if spec.append_only {
        properties.push(("delta.appendOnly", "true".to_owned()));
    }
    let metadata = new_metadata(&schema, spec.partition, properties)
        .and_then(|metadata| metadata.with_name(table.to_string()))
        .and_then(|metadata| metadata.with_description(spec.comment.to_owned()))
        .map_err(|error| failed(table, "creation")(error.into()))?;
    let protocol: Protocol = serde_json::from_value(json!({ "minReaderVersion": 1, "minWriterVersion": 2 }))
        .map_err(|error| failed(table, "creation")(error.into()))?;
    let operation = DeltaOperation::Create {
        mode: SaveMode::ErrorIfExists,
        location: log_store.root_url().clone(),
        protocol: protocol.clone(),
        metadata: metadata.clone(),
    };
    let facts = facts(lake, table, now).await?;
    let mut actions = vec![Action::Protocol(protocol), Action::Metadata(metadata)];
    actions.extend(facts);
    // The library's builder would also load the new table, twice.
    let entry = CommitData::new(actions, operation, HashMap::new(), Vec::new()).get_bytes();
    let entry = entry.map_err(|source| failed(table, "creation")(source.into()))?;
    let entry = CommitOrBytes::LogBytes(entry);
    match log_store.write_commit_entry(0, entry, Uuid::new_v4()).await {
        Ok(()) => Ok(()),
        // Another process may have created the table first.
        Err(_) if exists().await? => Ok(()),
        Err(source) => Err(failed(table, "creation")(source.into())),
    }
}

async fn facts(lake: &Storage, table: TableName, now: Timestamp) -> Result<Option<Action>, LakeError> {
    if !TableName::FACTS.contains(&table) {
        return Ok(None);
    }
    let Some(encoded) = compute(move || encoded(table)).await? else {
        return Ok(None);
    };
    let path = write(&lake.child(table.as_str()), table, None, &encoded).await?;
    Ok(Some(add(table, &path, None, &encoded, now, true)))
}
