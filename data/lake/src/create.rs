use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, get_bytes, keeps_conditions, put_new, put_over};
use deltalake::kernel::Action;
use deltalake::kernel::StructType;
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::operations::create::CreateBuilder;
use deltalake::protocol::SaveMode;
use serde::{Deserialize, Serialize};

use crate::apply::{compute, write};
use crate::delta::{add, failed, log_store};
use crate::facts::{FACTS, encoded};
use crate::{LakeConfig, LakeError, TableName};

/// What is fixed when a lake is created; it is written after the tables, so that where it is, they are.
#[derive(Debug, Serialize, Deserialize)]
struct Layout {
    buckets: u32,
    tables: Vec<String>,
    /// See [`SCHEMA`].
    #[serde(default)]
    schema: u32,
    /// See [`FACTS`].
    #[serde(default)]
    facts: u32,
}

/// Counts what was added to the tables' columns: 1 is `price_history.source` and `brands.crawl_country`, 2 what texts say in
/// `shipping_policies`, 3 what names and measures variants, and the brand in `quarantine` and `brands`.
const SCHEMA: u32 = 3;

const LAYOUT: &str = "_ticks/layout.json";
/// Written and removed to try the storage out.
const PROBE: &str = "_ticks/probe";

/// Creates the tables that are not there yet. `true` where the lake was made before one of them, or of their columns, was
/// thought of: only when it has them, the layout says so ([`complete`]).
pub(crate) async fn create(lake: &Storage, config: &LakeConfig, now: Timestamp) -> Result<bool, LakeError> {
    let path = ObjectPath::from(LAYOUT);
    if let Some(bytes) = get_bytes(lake, &path).await? {
        let layout = check(&bytes, config)?;
        let is_absent = |table: &&TableName| !layout.tables.iter().any(|name| name == table.as_str());
        let absent: Vec<TableName> = TableName::ALL.iter().filter(is_absent).copied().collect();
        for table in &absent {
            create_table(lake, *table, config, now).await?;
        }
        return Ok(!absent.is_empty() || layout.schema < SCHEMA || layout.facts < FACTS);
    }
    // Of a name of its own: who creates it beside this one tries the storage out too.
    let probe = ObjectPath::from(format!("{PROBE}-{}", uuid::Uuid::new_v4()));
    if !keeps_conditions(lake, &probe).await? {
        return Err(LakeError::Unconditional);
    }
    for table in TableName::ALL {
        create_table(lake, table, config, now).await?;
    }
    if !put_new(lake, &path, layout(config)?).await?
        && let Some(bytes) = get_bytes(lake, &path).await?
    {
        check(&bytes, config)?;
    }
    Ok(false)
}

/// Notes that the lake has every table and column.
pub(crate) async fn complete(lake: &Storage, config: &LakeConfig) -> Result<(), LakeError> {
    Ok(put_over(lake, &ObjectPath::from(LAYOUT), layout(config)?).await?)
}

fn layout(config: &LakeConfig) -> Result<Vec<u8>, LakeError> {
    let tables = TableName::ALL.iter().map(|table| table.as_str().to_owned()).collect();
    let layout = Layout {
        buckets: config.buckets,
        tables,
        schema: SCHEMA,
        facts: FACTS,
    };
    serde_json::to_vec(&layout).map_err(|source| LakeError::TickRecord {
        path: LAYOUT.to_owned(),
        source,
    })
}

fn check(bytes: &[u8], config: &LakeConfig) -> Result<Layout, LakeError> {
    let layout: Layout = serde_json::from_slice(bytes).map_err(|source| LakeError::TickRecord {
        path: LAYOUT.to_owned(),
        source,
    })?;
    if layout.buckets == config.buckets {
        Ok(layout)
    } else {
        Err(LakeError::Buckets {
            lake: layout.buckets,
            config: config.buckets,
        })
    }
}

async fn create_table(lake: &Storage, table: TableName, config: &LakeConfig, now: Timestamp) -> Result<(), LakeError> {
    let log_store = log_store(lake, table);
    let exists = || async {
        let exists = log_store.is_delta_table_location().await;
        exists.map_err(failed(table, "look-up"))
    };
    if exists().await? {
        return Ok(());
    }
    let spec = table.spec();
    let schema: StructType = spec
        .schema
        .as_ref()
        .try_into_kernel()
        .map_err(|source| LakeError::Columns {
            table: table.as_str(),
            source,
        })?;
    let hours = config.log_retention.as_secs().div_ceil(3600);
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
        .with_actions(facts(lake, table, config, now).await?)
        .with_configuration(properties.into_iter().map(|(key, value)| (key, Some(value))))
        .await;
    match created {
        Ok(_) => Ok(()),
        // Another process may have been first.
        Err(_) if exists().await? => Ok(()),
        Err(error) => Err(failed(table, "creation")(error)),
    }
}

/// What the table holds from the beginning.
async fn facts(
    lake: &Storage,
    table: TableName,
    config: &LakeConfig,
    now: Timestamp,
) -> Result<Option<Action>, LakeError> {
    if !TableName::FACTS.contains(&table) {
        return Ok(None);
    }
    let config = config.clone();
    let Some(encoded) = compute(move || encoded(table, &config)).await? else {
        return Ok(None);
    };
    let path = write(&lake.child(table.as_str()), table, None, &encoded).await?;
    Ok(Some(add(table, &path, None, &encoded, now, true)))
}
