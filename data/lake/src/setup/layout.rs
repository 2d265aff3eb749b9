//! Layout that is fixed when a lake is created. If its record is lost, it is derived from the tables.

use std::collections::BTreeSet;

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, keep_aside, put_new, put_over};
use futures::TryStreamExt;
use object_store::ObjectStore;
use serde::{Deserialize, Serialize};

use crate::delta::{Table, folder_of, scan};
use crate::error::lost_file;
use crate::files::{Scan, bucket};
use crate::rows::brands::{BrandRow, brand_rows};
use crate::ticks::Ticks;
use crate::{LakeConfig, LakeError, TableName};

/// The record is written after the tables, so that all tables exist if it exists.
#[derive(Debug, Serialize, Deserialize)]
struct Layout {
    buckets: u32,
}

pub(crate) const LAYOUT: &str = "_ticks/layout.json";

#[derive(Debug)]
pub(crate) enum LayoutFinding {
    /// The lake does not exist yet.
    New,
    /// The lake exists and has all tables.
    Made,
    /// The lake has these tables, but its layout record is missing or damaged.
    Lost { tables: BTreeSet<TableName> },
}

/// Reads the layout record or, if it is unusable, checks the tables. The log of `brands` is read from `logs`.
///
/// # Errors
/// The lake was created with another number of buckets than configured, or the storage fails.
pub(crate) async fn find(lake: &Storage, logs: &Storage, config: LakeConfig) -> Result<LayoutFinding, LakeError> {
    let bytes = get_bytes(lake, &ObjectPath::from(LAYOUT)).await?;
    let stated: Option<Layout> = bytes.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
    if stated.as_ref().is_some_and(|layout| layout.buckets == config.buckets) {
        return Ok(LayoutFinding::Made);
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
        // If the recorded and the configured number differ, the number that matches the rows' actual buckets counts.
        Some(lake) if placed.is_empty() || fits(lake) || !fits(config.buckets) => Err(LakeError::Buckets {
            lake,
            config: config.buckets,
        }),
        None if !fits(config.buckets) => Err(LakeError::BucketsUnknown { config: config.buckets }),
        _ => Ok(LayoutFinding::Lost { tables }),
    }
}

/// Writes the layout record of a lake with all tables. Moves a damaged record aside. If another process wrote a record
/// first, that one stays.
pub(crate) async fn note(lake: &Storage, config: LakeConfig) -> Result<(), LakeError> {
    let (path, buckets) = (ObjectPath::from(LAYOUT), config.buckets);
    let bytes = serde_json::to_vec(&Layout { buckets }).map_err(|source| LakeError::TickRecord {
        path: LAYOUT.to_owned(),
        source,
    })?;
    if !put_new(lake, &path, bytes.clone()).await?
        && matches!(find(lake, lake, config).await?, LayoutFinding::Lost { .. })
    {
        keep_aside(lake, &path).await?;
        put_over(lake, &path, bytes).await?;
    }
    Ok(())
}

/// Returns the tables that have a log, and the tables of the last readable commit batch end, whose whole log may be
/// lost.
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
        let first = lake.store().list(Some(&folder_of(table))).try_next().await;
        let first = first.map_err(|source| StorageError::List {
            prefix: table.to_string(),
            source,
        })?;
        if first.is_some() || named.contains(table.as_str()) {
            tables.insert(table);
        }
    }
    Ok(tables)
}

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

pub(crate) async fn brands(lake: &Storage, table: &Table) -> Result<Vec<PlacedBrand>, LakeError> {
    let (name, mut placed) = (table.name, Vec::new());
    let storage = lake.child(name.as_str());
    for file in table.files() {
        let read = scan(&storage, name, std::slice::from_ref(&file), Scan::default(), brand_rows).await;
        let rows = match read {
            Err(error) if lost_file(&error).is_some() => continue,
            rows => rows?,
        };
        let bucket = file.partition.as_deref().and_then(|bucket| bucket.parse().ok());
        placed.extend(rows.into_iter().map(|row| PlacedBrand { row, bucket }));
    }
    Ok(placed)
}
