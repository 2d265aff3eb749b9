//! Repairs a lake with lost files. Objects that can be derived are written again, and the others are dropped. A dry run
//! reports both beforehand.

mod damage;
mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, Clock, StoreHost};
use data_storage::Storage;
use serde::Serialize;

use self::log::LogRepairPlan;
use crate::commit::{Attempts, Plan};
use crate::delta::{Losses, Table, TableFile, lost_files};
use crate::setup::facts;
use crate::setup::layout::{self, LayoutFinding};
use crate::ticks::TickKind;
use crate::{BrandRow, Lake, LakeConfig, LakeError, TableName};

/// Kind of repair of a log object or of a commit batch record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// A checkpoint of a table's log is written again from the complete log. No data is lost.
    Checkpoint,
    /// The end record of the last commit batch is written again from the tables. No data is lost.
    End,
    /// The record of the lake's creation is written again from the tables. No data is lost.
    Layout,
    /// The record of a commit batch that was begun and not ended is removed. The next crawl brings the batch's data
    /// again.
    Record,
}

/// A missing or damaged log object or commit batch record, and its repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogRepair {
    /// Path of the object in the lake.
    pub path: String,
    /// Kind of repair that the object needs.
    pub how: RepairKind,
}

/// An object that cannot be repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnrepairableObject {
    /// Path of the object in the lake.
    pub path: String,
    /// Table whose log contains the object. `None` for other objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<&'static str>,
    /// Table version of the log entry, if the object is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Reason, and the way to recover.
    pub reason: &'static str,
}

/// A missing or damaged data file that is removed from its table, and the rows lost with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostData {
    /// Path of the file in the lake.
    pub path: String,
    /// Name of the file's table.
    pub table: &'static str,
    /// Value of the table's partition column, if it has one.
    pub partition: Option<String>,
    /// Number of rows in the file, if the log states it.
    pub rows: Option<u64>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Brands in the file's bucket, if they can be determined and the table has buckets.
    pub brands: Vec<BrandSlug>,
    /// `true` if the next crawl of these brands restores the rows, or they are built into the program.
    pub comes_back: bool,
}

/// Findings of [`Lake::repair`], and the repairs that were made or would be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Log objects and commit batch records that were repaired.
    pub repaired: Vec<LogRepair>,
    /// Data files whose rows are given up.
    pub lost: Vec<LostData>,
    /// Objects that could not be repaired and stay as they are.
    pub stuck: Vec<UnrepairableObject>,
    /// `true` if every table could be checked. Otherwise there may be lost files that the report does not list.
    pub complete: bool,
    /// Brands of the lake whose rows can be read.
    #[serde(skip)]
    pub brands: Vec<BrandRow>,
    /// Number of the commit batch that removes lost files. `None` if there are none, or in a dry run.
    pub tick: Option<u64>,
}

/// Tables whose rows are restored by a crawl of their store.
const CRAWLED: [TableName; 4] = [
    TableName::Variants,
    TableName::Products,
    TableName::Reviews,
    TableName::Quarantine,
];

impl Lake {
    /// Repairs the lake in `storage`. Every data file is read. The repair
    /// - reports lost or altered log entries, which only a backup or a new crawl can bring back,
    /// - rewrites lost checkpoints from the logs, and
    /// - removes missing or damaged data files from their tables, in one commit batch.
    ///
    /// With `dry_run`, it reports exactly the same, and changes nothing.
    ///
    /// # Errors
    /// The storage fails, the lake was created with another number of buckets, or other processes keep committing
    /// first.
    #[boxed]
    pub async fn repair(
        storage: &Storage,
        config: LakeConfig,
        clock: Arc<dyn Clock>,
        dry_run: bool,
    ) -> Result<RepairReport, LakeError> {
        let shadow = Storage::memory();
        let mending = LogRepairPlan::plan(storage, &shadow).await?;
        let mut report = RepairReport {
            repaired: mending.repaired.clone(),
            stuck: mending.stuck.clone(),
            ..RepairReport::default()
        };
        let mut tables = BTreeMap::new();
        for name in TableName::ALL.into_iter().filter(|name| !mending.broken.contains(name)) {
            match Table::open(&shadow, name).await {
                Ok(table) => {
                    tables.insert(name, table);
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(table = %name, error, "a table cannot be opened");
                }
            }
        }
        report.complete = tables.len() == TableName::ALL.len();
        let losses = Losses::new(storage, &tables);
        let (lost, marked) = lost_data(storage, &tables, &losses).await?;
        report.lost = lost;
        if let Some(table) = tables.get(&TableName::Brands) {
            let brands = layout::brands(storage, table).await?.into_iter();
            report.brands = brands.map(|brand| brand.row).collect();
            let found = layout::find(storage, &shadow, config).await?;
            if report.complete && matches!(found, LayoutFinding::Lost { .. }) {
                report.repaired.push(LogRepair {
                    path: layout::LAYOUT.to_owned(),
                    how: RepairKind::Layout,
                });
            }
        }
        if dry_run {
            return Ok(report);
        }
        mending.apply(storage).await?;
        if !report.complete {
            return Ok(report);
        }
        // Opening also finishes commit batches of others, so that the future is large.
        let lake = Box::pin(Self::open(storage.clone(), config, clock)).await?;
        let mut state = lake.state().await;
        let opened = lake.tables(&mut state).await?;
        for table in opened
            .values()
            .filter(|table| mending.checkpoints.contains(&table.name))
        {
            table.checkpoint_now().await?;
        }
        drop(state);
        if !report.lost.is_empty() {
            report.tick = lake.give_up_files(&report.lost, marked).await?;
            lake.forget_damage().await?;
        }
        Ok(report)
    }

    /// Removes lost files from their tables in one commit batch. The rows of built-in reference tables are rewritten
    /// immediately.
    async fn give_up_files(&self, lost: &[LostData], marked: BTreeSet<StoreHost>) -> Result<Option<u64>, LakeError> {
        let mut dropped: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in lost {
            let path = file.path.strip_prefix(file.table).unwrap_or(&file.path);
            let paths = dropped.entry(file.table.to_owned()).or_default();
            paths.push(path.trim_start_matches('/').to_owned());
        }
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            // Other processes may have committed outside of any commit batch.
            state.tables = None;
            let rows = TableName::FACTS
                .into_iter()
                .filter(|table| dropped.contains_key(table.as_str()));
            let rows = rows.map(|table| Ok((table, facts::rows(table)?.into_iter().collect())));
            let plan = Plan {
                stores: marked.iter().cloned().collect(),
                rows: rows.collect::<Result<_, LakeError>>()?,
                dropped: dropped.clone(),
                ..Plan::default()
            };
            if let Some(landed) = self.run_tick(&mut state, TickKind::Repair, None, plan).await? {
                return Ok(Some(landed.tick));
            }
        }
    }
}

/// Returns the missing or damaged data files, and the stores whose crawl brings rows of them back.
async fn lost_data(
    storage: &Storage,
    tables: &BTreeMap<TableName, Table>,
    losses: &Losses,
) -> Result<(Vec<LostData>, BTreeSet<StoreHost>), LakeError> {
    let files = tables.values().flat_map(|table| {
        let of_table = |file| TableFile {
            table: table.name,
            storage: storage.child(table.name.as_str()),
            file,
        };
        table.files().into_iter().map(of_table)
    });
    let (mut lost, mut marked) = (Vec::new(), BTreeSet::new());
    for one in lost_files(files.collect()).await? {
        let held = match one.bucket() {
            Some(bucket) => losses.holders(bucket).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let (path, table) = (one.path(), one.table);
        let comes_back = CRAWLED.contains(&table) || table == TableName::Brands || TableName::FACTS.contains(&table);
        if CRAWLED.contains(&table) {
            marked.extend(held.iter().map(|(store, _)| store.clone()));
        }
        lost.push(LostData {
            path,
            table: table.as_str(),
            rows: one.file.rows,
            bytes: one.file.size,
            partition: one.file.partition,
            brands: held.into_iter().map(|(_, slug)| slug).collect(),
            comes_back,
        });
    }
    lost.sort_by(|left, right| left.path.cmp(&right.path));
    Ok((lost, marked))
}
