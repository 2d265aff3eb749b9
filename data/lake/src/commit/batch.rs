//! Runs one commit batch from its plan to its end.

use std::collections::{BTreeMap, BTreeSet};

use data_model::StoreHost;

use super::apply::{ApplyOutcome, Work, apply, is_given_up, prepare};
use super::plan::{CommitReport, LandedTick, Plan};
use crate::delta::{Losses, PreparedActions, Table, discard};
use crate::lake::State;
use crate::rows::runs::RunSummaryRow;
use crate::ticks::{Rows, TickEnd, TickKind, TickRecord, pack};
use crate::{Lake, LakeError, TableName};

impl Lake {
    /// Commits changes of some of `stores`. If there are none, nothing is written. Returns `None` if another process
    /// commits first.
    pub(crate) async fn commit_some(
        &self,
        state: &mut State,
        kind: TickKind,
        stores: &BTreeSet<StoreHost>,
        plan: Plan,
    ) -> Result<Option<CommitReport>, LakeError> {
        let unchanged = stores.iter().filter(|store| !plan.stores.contains(store));
        let mut report = CommitReport {
            unchanged: unchanged.cloned().collect(),
            ..CommitReport::default()
        };
        if plan.stores.is_empty() {
            return Ok(Some(report));
        }
        let landed = self.run_tick(state, kind, None, plan).await?;
        Ok(landed.map(|landed| {
            report.add(landed);
            report
        }))
    }

    /// Prepares, stages, records and applies a commit batch. Returns `None` if its number is taken, because another
    /// process used the number or because this batch was given up.
    pub(crate) async fn run_tick(
        &self,
        state: &mut State,
        kind: TickKind,
        run: Option<RunSummaryRow>,
        mut plan: Plan,
    ) -> Result<Option<LandedTick>, LakeError> {
        let (ticks, tick) = (&self.inner.ticks, state.ended + 1);
        let rows = std::mem::take(&mut plan.rows);
        let mut record = TickRecord {
            run,
            stores: plan.stores.clone(),
            counts: plan.counts,
            restored: std::mem::take(&mut plan.restored),
            dropped: std::mem::take(&mut plan.dropped),
            fence: self.fence,
            gone: std::mem::take(&mut plan.gone),
            ..TickRecord::new(tick, kind, self.inner.clock.now())
        };
        self.check_fence(state).await?;
        // A commit batch must not begin if the rows to be rewritten cannot be read, so that it is prepared before it is
        // recorded.
        let prepared = self.prepare(state, &record, &rows).await?;
        let (packed, rows) = pack(&record, rows, &prepared).await?;
        (record.token, record.staged) = ticks.stage(tick, packed).await?;
        if !ticks.begin(&record).await? {
            // The files that a restore adds existed before, and must not be discarded.
            if kind != TickKind::Restore {
                discard(&self.inner.storage, &prepared).await;
            }
            ticks.unstage(tick, &record.token).await?;
            return Ok(None);
        }
        let applied = self.finish_tick(state, &record, rows, Some(prepared)).await?;
        Ok((applied == ApplyOutcome::Done).then_some(LandedTick { tick, plan }))
    }

    fn work<'a>(
        &self,
        record: &'a TickRecord,
        rows: &'a Rows,
        tables: &BTreeMap<TableName, Table>,
    ) -> Result<Work<'a>, LakeError> {
        let losses = Losses::new(&self.inner.storage, tables);
        Work::new(record, rows, self.inner.config.buckets, self.inner.clock.now(), losses)
    }

    pub(crate) async fn prepare(
        &self,
        state: &mut State,
        record: &TickRecord,
        rows: &Rows,
    ) -> Result<PreparedActions, LakeError> {
        let storage = &self.inner.storage;
        let tables = self.tables(state).await?;
        let work = self.work(record, rows, tables)?;
        let prepared = prepare(storage, tables, &work).await;
        if prepared.is_err() {
            // Another process may have moved the files that were read.
            state.tables = None;
        }
        prepared
    }

    pub(crate) async fn finish_tick(
        &self,
        state: &mut State,
        record: &TickRecord,
        rows: Rows,
        prepared: Option<PreparedActions>,
    ) -> Result<ApplyOutcome, LakeError> {
        // After a failure from here on, the tables must be loaded again.
        let mut tables = state.tables.take().unwrap_or_default();
        if tables.is_empty() {
            tables = self.load().await?;
        }
        let work = self.work(record, &rows, &tables)?;
        let applied = match prepared {
            Some(prepared) => apply(&mut tables, &work, prepared).await?,
            None if is_given_up(&tables, record.tick).await? => ApplyOutcome::GivenUp,
            None => {
                let prepared = prepare(&self.inner.storage, &tables, &work).await?;
                apply(&mut tables, &work, prepared).await?
            }
        };
        self.end_tick(state, record, tables, applied).await?;
        Ok(applied)
    }

    /// The commit batch is in the tables, or never will be.
    pub(crate) async fn end_tick(
        &self,
        state: &mut State,
        record: &TickRecord,
        mut tables: BTreeMap<TableName, Table>,
        applied: ApplyOutcome,
    ) -> Result<(), LakeError> {
        let digest = |table: &mut Table| Some((table.name.to_string(), table.landed.take()?));
        let end = TickEnd {
            tick: record.tick,
            committed_at: record.committed_at,
            versions: versions(&tables),
            digests: tables.values_mut().filter_map(digest).collect(),
            given_up: applied == ApplyOutcome::GivenUp,
        };
        self.inner.ticks.finish(end).await?;
        for table in tables.values() {
            // Checkpoints and the removal of staged rows only save time and space: the commit batch has already landed.
            if let Err(error) = table.checkpoint(self.inner.config.checkpoint_every).await {
                tracing::warn!(table = %table.name, %error, "a checkpoint could not be written");
            }
        }
        if let Err(error) = self.inner.ticks.clear(record.tick).await {
            tracing::warn!(tick = record.tick, %error, "staged rows could not be removed");
        }
        if applied == ApplyOutcome::Done
            && matches!(record.kind, TickKind::Refresh | TickKind::Backfill | TickKind::Remove)
        {
            state.damaged.retain(|store| !record.stores.contains(store));
        }
        (state.ended, state.loaded, state.tables) = (record.tick, record.tick, Some(tables));
        Ok(())
    }
}

pub(crate) fn versions(tables: &BTreeMap<TableName, Table>) -> BTreeMap<String, u64> {
    tables
        .values()
        .map(|table| (table.name.to_string(), table.version()))
        .collect()
}
