//! Restores tables to the files that they had at an earlier commit batch.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;

use crate::commit::{Attempts, Plan};
use crate::delta::{differences, restorations};
use crate::lake::State;
use crate::ticks::TickKind;
use crate::{AsOf, Lake, LakeError, TableName};

/// Result of a restore for one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredTable {
    /// Table that is restored.
    pub table: TableName,
    /// Version whose files the table gets again.
    pub version: u64,
    /// Number of files that are added again.
    pub files_added: usize,
    /// Number of files that are removed from the table. Earlier versions can still read them until vacuum deletes them.
    pub files_removed: usize,
}

/// Result of [`Lake::restore`], or of a dry run of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Tables that change.
    pub tables: Vec<RestoredTable>,
    /// Number of the commit batch of the restore. `None` if nothing changes, or in a dry run.
    pub tick: Option<u64>,
    /// Commit batch whose state is restored. `None` if the state was given by versions.
    pub restored_tick: Option<u64>,
}

impl Lake {
    /// Restores the rows that tables had at an earlier time, in a new commit batch. Another restore can undo it. All of
    /// `tables` change together. Histories are append-only and are refused. With `dry_run`, the changes are only
    /// reported, but missing files are an error too.
    ///
    /// # Errors
    /// No batch of that time is known, a file is missing or damaged ([`LakeError::NotRestorable`], and nothing has
    /// changed), a table is append-only ([`LakeError::OnlyGrows`]), the storage fails, or other processes keep
    /// committing first.
    #[boxed]
    pub async fn restore(
        &self,
        tables: &BTreeSet<TableName>,
        as_of: &AsOf,
        dry_run: bool,
    ) -> Result<RestoreReport, LakeError> {
        if let Some(table) = tables.iter().find(|table| table.spec().append_only) {
            return Err(LakeError::OnlyGrows { table: table.as_str() });
        }
        let then = self.snapshot_at(as_of).await?;
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            // Other processes may have committed outside of any commit batch.
            state.tables = None;
            let mut report = self.plan_restore(&mut state, tables, then.versions()).await?;
            report.restored_tick = then.tick();
            if report.tables.is_empty() {
                return Ok(report);
            }
            if dry_run {
                return self.read_restored(&mut state, &report).await.map(|()| report);
            }
            let versions = report.tables.iter().map(|one| (one.table.to_string(), one.version));
            let plan = Plan {
                restored: versions.collect(),
                ..Plan::default()
            };
            // All files that are added again are read before the commit batch begins.
            if let Some(landed) = self.run_tick(&mut state, TickKind::Restore, None, plan).await? {
                report.tick = Some(landed.tick);
                return Ok(report);
            }
        }
    }

    /// Reads every file that a restore adds again, and writes nothing.
    async fn read_restored(&self, state: &mut State, report: &RestoreReport) -> Result<(), LakeError> {
        let (tables, now) = (self.tables(state).await?, self.inner.clock.now());
        for one in &report.tables {
            if let Some(table) = tables.get(&one.table) {
                restorations(table, one.version, now, &mut Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn plan_restore(
        &self,
        state: &mut State,
        tables: &BTreeSet<TableName>,
        versions: &BTreeMap<String, u64>,
    ) -> Result<RestoreReport, LakeError> {
        let mut report = RestoreReport::default();
        let present = self.tables(state).await?;
        for table in present.values().filter(|table| tables.contains(&table.name)) {
            // A table that was added to the lake later had no version then, and stays as it is.
            let Some(version) = versions.get(table.name.as_str()) else {
                continue;
            };
            let (back, gone) = differences(table, *version).await?;
            if !back.is_empty() || !gone.is_empty() {
                report.tables.push(RestoredTable {
                    table: table.name,
                    version: *version,
                    files_added: back.len(),
                    files_removed: gone.len(),
                });
            }
        }
        Ok(report)
    }
}
