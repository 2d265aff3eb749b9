use std::collections::BTreeSet;

use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, keeps_conditions};
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::{Action, StructType};
use deltalake::operations::create::CreateBuilder;
use deltalake::protocol::SaveMode;

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
            let probe = ObjectPath::from(format!("{PROBE}-{}", uuid::Uuid::new_v4()));
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
    let created = CreateBuilder::new()
        .with_log_store(std::sync::Arc::clone(&log_store))
        .with_table_name(table.as_str())
        .with_comment(spec.comment)
        .with_columns(schema.fields().cloned())
        .with_partition_columns(spec.partition)
        .with_save_mode(SaveMode::ErrorIfExists)
        .with_actions(facts(lake, table, now).await?)
        .with_configuration(properties.into_iter().map(|(key, value)| (key, Some(value))))
        .await;
    match created {
        Ok(_) => Ok(()),
        // Another process may have created the table first.
        Err(_) if exists().await? => Ok(()),
        Err(error) => Err(failed(table, "creation")(error)),
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
