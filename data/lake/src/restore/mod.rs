//! The way back: tables get the files again that they had at an earlier tick.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;

use crate::commit::Plan;
use crate::delta::{differences, restorations};
use crate::lake::State;
use crate::ticks::TickKind;
use crate::{AsOf, Lake, LakeError, TableName};

/// The result of a restore for one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredTable {
    /// The table.
    pub table: TableName,
    /// The version whose files it gets again.
    pub version: u64,
    /// The number of files that come back.
    pub files_added: usize,
    /// The number of files that go; they stay readable in versions of before, until vacuum removes them.
    pub files_removed: usize,
}

/// The result of [`Lake::restore`], or of a trial of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// The tables that change.
    pub tables: Vec<RestoredTable>,
    /// The tick that carries it; `None` where nothing changes, or on a dry run.
    pub tick: Option<u64>,
    /// The moment that is restored, as the tick of then tells; `None` where it was named by versions.
    pub restored_tick: Option<u64>,
}

impl Lake {
    /// Gives tables the rows again that they had at an earlier moment, in one tick of its own: a restore is undone by
    /// another one. All of `tables` change together; tables of histories only grow, and are refused.
    ///
    /// With `dry_run` it only says what would change; files that are gone are an error then too.
    ///
    /// # Errors
    /// No tick of that moment is known, a file is gone or damaged ([`LakeError::NotRestorable`]; nothing has changed then), a
    /// table is append-only ([`LakeError::OnlyGrows`]), the storage fails, or others commit without pause.
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
        let attempts = self.inner.config.attempts_max.max(1);
        for _ in 0..attempts {
            self.recover(&mut state).await?;
            // Others may have committed outside of any tick.
            state.tables = None;
            let mut report = self.plan_restore(&mut state, tables, then.versions()).await?;
            report.restored_tick = then.tick();
            if report.tables.is_empty() {
                return Ok(report);
            }
            if dry_run {
                return self.read_restored(&mut state, &report).await.map(|()| report);
            }
            let tick = state.ended + 1;
            let versions = report.tables.iter().map(|one| (one.table.to_string(), one.version));
            let plan = Plan {
                restored: versions.collect(),
                ..Plan::default()
            };
            // Every file that comes back is read before the tick is begun.
            if let Some((tick, _)) = self.run_tick(&mut state, tick, TickKind::Restore, None, plan).await? {
                report.tick = Some(tick);
                return Ok(report);
            }
        }
        Err(LakeError::Contended { attempts })
    }

    /// Reads every file that a restore brings back, and writes none.
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
            // One that was added to the lake since had nothing then; it stays as it is.
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
