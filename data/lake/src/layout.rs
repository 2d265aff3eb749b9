//! What is fixed when a lake is created, and how it is told by the tables where it is lost.

use std::collections::BTreeSet;

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, keep_aside, put_new, put_over};
use futures::TryStreamExt;
use object_store::ObjectStore;
use serde::{Deserialize, Serialize};

use crate::apply::{compute, read};
use crate::delta::Table;
use crate::facts::FACTS;
use crate::files::Wanted;
use crate::lost::lost_file;
use crate::plan::bucket;
use crate::replace::load;
use crate::rows::brands::{BrandRow, brand_rows};
use crate::tick::Ticks;
use crate::{LakeConfig, LakeError, TableName};

/// It is written after the tables, so that where it is, they are.
#[derive(Debug, Default, Serialize, Deserialize)]
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
/// `shipping_policies`, 3 what names and measures variants, and the brand in `quarantine` and `brands`, 4
/// `shipping_policies.model_facts`.
const SCHEMA: u32 = 4;

pub(crate) const LAYOUT: &str = "_ticks/layout.json";

/// What is known of how a lake was made.
#[derive(Debug)]
pub(crate) enum LayoutFinding {
    /// There is no lake yet.
    New,
    /// A lake with these tables, and whether it lacks columns or facts of this version.
    Made {
        tables: BTreeSet<TableName>,
        is_earlier: bool,
    },
    /// A lake with these tables, whose layout is missing or damaged: whatever it lacks is looked for.
    Lost { tables: BTreeSet<TableName> },
}

/// Looks at the layout and, where it does not tell, at the tables. The log of `brands` is read from `logs`.
///
/// # Errors
/// The lake was made with another number of buckets than is configured, or the storage fails.
pub(crate) async fn find(lake: &Storage, logs: &Storage, config: &LakeConfig) -> Result<LayoutFinding, LakeError> {
    let bytes = get_bytes(lake, &ObjectPath::from(LAYOUT)).await?;
    let stated: Option<Layout> = bytes.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
    if let Some(layout) = stated.as_ref().filter(|layout| layout.buckets == config.buckets) {
        let is_listed = |table: &TableName| layout.tables.iter().any(|name| name == table.as_str());
        return Ok(LayoutFinding::Made {
            tables: TableName::ALL.into_iter().filter(is_listed).collect(),
            is_earlier: layout.schema < SCHEMA || layout.facts < FACTS,
        });
    }
    let tables = tables(lake).await?;
    if bytes.is_none() && tables.is_empty() {
        return Ok(LayoutFinding::New);
    }
    let placed = if tables.contains(&TableName::Brands) {
        brands(lake, &Table::open(logs, TableName::Brands).await?).await?
    } else {
        Vec::new()
    };
    let fits = |buckets| placed.iter().all(|brand| brand.is_placed_by(buckets));
    match stated.map(|layout| layout.buckets) {
        // Of two numbers that may be altered, the one counts by which the rows lie.
        Some(lake) if placed.is_empty() || fits(lake) || !fits(config.buckets) => Err(LakeError::Buckets {
            lake,
            config: config.buckets,
        }),
        None if !fits(config.buckets) => Err(LakeError::BucketsUnknown { config: config.buckets }),
        _ => Ok(LayoutFinding::Lost { tables }),
    }
}

/// Notes that a new lake was made; where another process was first, what it noted stands.
pub(crate) async fn note(lake: &Storage, config: &LakeConfig) -> Result<(), LakeError> {
    if !put_new(lake, &ObjectPath::from(LAYOUT), encoded(config)?).await? {
        find(lake, lake, config).await?;
    }
    Ok(())
}

/// Notes that the lake has every table and column.
pub(crate) async fn complete(lake: &Storage, config: &LakeConfig) -> Result<(), LakeError> {
    let path = ObjectPath::from(LAYOUT);
    let stated = get_bytes(lake, &path)
        .await?
        .map(|bytes| serde_json::from_slice(&bytes));
    if !stated.is_some_and(|stated| stated.is_ok_and(|layout: Layout| layout.buckets == config.buckets)) {
        keep_aside(lake, &path).await?;
    }
    Ok(put_over(lake, &path, encoded(config)?).await?)
}

fn encoded(config: &LakeConfig) -> Result<Vec<u8>, LakeError> {
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

/// The tables that have a log, and those whose log is lost as a whole: the end of a tick names them.
async fn tables(lake: &Storage) -> Result<BTreeSet<TableName>, LakeError> {
    let ticks = Ticks::new(lake);
    let mut named = BTreeSet::new();
    for tick in ticks.ended().await?.into_iter().rev() {
        match ticks.end(tick).await {
            Ok(Some(end)) => {
                named = end.versions.into_keys().collect();
                break;
            }
            Ok(None) | Err(LakeError::TickRecord { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let mut tables = BTreeSet::new();
    for table in TableName::ALL {
        let folder = ObjectPath::from(format!("{table}/_delta_log"));
        let first = lake.store().list(Some(&folder)).try_next().await;
        let first = first.map_err(|source| StorageError::List {
            prefix: folder.to_string(),
            source,
        })?;
        if first.is_some() || named.contains(table.as_str()) {
            tables.insert(table);
        }
    }
    Ok(tables)
}

/// A brand, and the bucket that its row lies in.
#[derive(Debug, Clone)]
pub(crate) struct PlacedBrand {
    pub(crate) row: BrandRow,
    bucket: Option<i32>,
}

impl PlacedBrand {
    fn is_placed_by(&self, buckets: u32) -> bool {
        self.bucket
            .is_none_or(|found| found == bucket(&self.row.brand.store, buckets))
    }
}

/// The brands of all files that can be read.
pub(crate) async fn brands(lake: &Storage, table: &Table) -> Result<Vec<PlacedBrand>, LakeError> {
    let (name, mut placed) = (table.name, Vec::new());
    let storage = lake.child(name.as_str());
    for file in table.files() {
        let decoded = match read(&storage, name, std::slice::from_ref(&file)).await {
            Ok(bytes) => compute(move || load(name, bytes, Wanted::default())).await,
            Err(error) => Err(error),
        };
        let batches = match decoded {
            Err(error) if lost_file(&error).is_some() => continue,
            decoded => decoded?,
        };
        let bucket = file.partition.as_deref().and_then(|bucket| bucket.parse().ok());
        for batch in batches {
            let rows = brand_rows(&batch)?.into_iter();
            placed.extend(rows.map(|row| PlacedBrand { row, bucket }));
        }
    }
    Ok(placed)
}
