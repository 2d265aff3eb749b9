//! The way out of lost files: what can be written again is, and what cannot is given up, both said before it is done.

mod damage;
mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, Clock, StoreHost};
use data_storage::Storage;
use serde::Serialize;

use self::log::LogRepairPlan;
use crate::commit::Plan;
use crate::delta::{Losses, Table, TableFile, lost_files};
use crate::setup::facts;
use crate::setup::layout::{self, LayoutFinding};
use crate::ticks::TickKind;
use crate::{BrandRow, Lake, LakeConfig, LakeError, TableName};

/// The repair of an object of a log or of the ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// A checkpoint of a table's log; the log is whole without it, and a new one is written. Nothing is lost.
    Checkpoint,
    /// The end of the last tick, written again by what the tables have. Nothing is lost.
    End,
    /// The record of the lake's creation, written again as its tables tell it. Nothing is lost.
    Layout,
    /// The record of a tick that was begun and not ended, removed: what the tick was to bring comes with the next crawl.
    Record,
}

/// An object of a log or of the ticks that was missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogRepair {
    /// Its path in the lake.
    pub path: String,
    /// The kind of its repair.
    pub how: RepairKind,
}

/// An object that cannot be repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnrepairableObject {
    /// Its path in the lake.
    pub path: String,
    /// The table whose log it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<&'static str>,
    /// The version of the table that it is an entry of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The reason, and the way back.
    pub reason: &'static str,
}

/// A data file that is missing or damaged, and what it held: its table goes on without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostData {
    /// Its path in the lake.
    pub path: String,
    /// Its table.
    pub table: &'static str,
    /// The value of the table's partition column, where it has one.
    pub partition: Option<String>,
    /// The number of its rows, where the log tells.
    pub rows: Option<u64>,
    /// Its size.
    pub bytes: u64,
    /// The brands of its bucket, where that can be told and the table has buckets.
    pub brands: Vec<BrandSlug>,
    /// `true` where the next crawl of these brands brings the rows back, or the program itself.
    pub comes_back: bool,
}

/// The findings of [`Lake::repair`], and the repairs that it did or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Objects of logs and ticks that are written again.
    pub repaired: Vec<LogRepair>,
    /// Data files whose rows are given up.
    pub lost: Vec<LostData>,
    /// The objects that stay as they are.
    pub stuck: Vec<UnrepairableObject>,
    /// `true` where every table could be looked at; where not, files may be lost of which nothing is said here.
    pub complete: bool,
    /// The brands of the lake, as far as their rows can be read.
    #[serde(skip)]
    pub brands: Vec<BrandRow>,
    /// The tick that gives the rows up; `None` where there are none, or on a dry run.
    pub tick: Option<u64>,
}

/// The tables whose rows come back with a crawl of their store.
const CRAWLED: [TableName; 4] = [
    TableName::Variants,
    TableName::Products,
    TableName::Reviews,
    TableName::Quarantine,
];

impl Lake {
    /// Repairs the lake in `storage`: names lost or altered entries of the tables' logs, which only a backup or a new crawl
    /// bring back; writes lost checkpoints again from the logs; and gives up the rows of data files that are missing or
    /// damaged, in one tick of its own. Every data file is read.
    ///
    /// With `dry_run` it only says what it would do, which is what it then does.
    ///
    /// # Errors
    /// The storage fails, the lake was created with another number of buckets, or others commit without pause.
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
            let found = layout::find(storage, &shadow, &config).await?;
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
        // Boxed: opening finishes what others began.
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

    /// Takes lost files out of their tables, in one tick, which brings those of facts back at once.
    async fn give_up_files(&self, lost: &[LostData], marked: BTreeSet<StoreHost>) -> Result<Option<u64>, LakeError> {
        let mut dropped: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in lost {
            let path = file.path.strip_prefix(file.table).unwrap_or(&file.path);
            let paths = dropped.entry(file.table.to_owned()).or_default();
            paths.push(path.trim_start_matches('/').to_owned());
        }
        let mut state = self.state().await;
        let attempts = self.inner.config.attempts_max.max(1);
        for _ in 0..attempts {
            self.recover(&mut state).await?;
            // Others may have committed outside of any tick.
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
            let tick = state.ended + 1;
            if let Some((tick, _)) = self.run_tick(&mut state, tick, TickKind::Repair, None, plan).await? {
                return Ok(Some(tick));
            }
        }
        Err(LakeError::Contended { attempts })
    }
}

/// The data files that are missing or damaged, and the stores whose crawl brings rows of them back.
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
