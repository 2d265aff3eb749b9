//! Recovery: a process loads commit batches that others ended, and finishes batches that others began.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use futures::future::try_join_all;

use super::apply::{ApplyOutcome, DECIDING, is_applied, is_given_up};
use super::batch::versions;
use crate::config::ATTEMPTS_MAX;
use crate::delta::{CommitOutcome, Log, Table};
use crate::error::lost_file;
use crate::lake::State;
use crate::ticks::{TickEnd, TickKind, TickRecord, staged};
use crate::{Lake, LakeError, LakeSnapshot, TableName};

impl Lake {
    /// Returns a commit batch that any process began and this process failed to finish. The log has the reason.
    #[boxed]
    pub async fn unfinished_tick(&self) -> Option<u64> {
        self.state().await.unfinished
    }

    /// Returns the state after the newest commit batch that was recorded at the time of the call. Releases are built
    /// from it. A batch that was begun and not ended is finished first. The tables' logs are checked where they were
    /// not before.
    ///
    /// # Errors
    /// A batch cannot be finished, a log entry is missing or damaged, or the storage fails.
    #[boxed]
    pub async fn newest_snapshot(&self) -> Result<LakeSnapshot, LakeError> {
        let mut state = self.state().await;
        if let Err(error) = self.recover(&mut state).await {
            let head = self.inner.ticks.head(0).await?;
            if head.recorded <= head.ended {
                return Err(error);
            }
            return Err(LakeError::Unfinished {
                tick: head.ended + 1,
                source: Box::new(error),
            });
        }
        self.check_logs(&mut state).await?;
        // Tables with a commit batch whose record was lost are newer than the records state.
        self.tables(&mut state).await?;
        let newest = state.ended;
        drop(state);
        self.snapshot_of(newest).await
    }

    /// Checks the log entries that each table's state depends on: all after the last checkpoint, at least up to the
    /// version in the end record of the last commit batch. Entries that were already checked are not read again.
    ///
    /// # Errors
    /// An entry is missing, empty or truncated, or the storage fails.
    pub(crate) async fn check_logs(&self, state: &mut State) -> Result<(), LakeError> {
        let named = match self.inner.ticks.end(state.ended).await {
            Ok(end) => end.map(|end| end.versions).unwrap_or_default(),
            // A reader of a damaged end record gets the error, but a writer ignores the record.
            Err(LakeError::TickRecord { .. }) => std::collections::BTreeMap::new(),
            Err(error) => return Err(error),
        };
        let checks = TableName::ALL.map(|table| {
            let log = Log {
                lake: &self.inner.storage,
                table,
                named: named.get(table.as_str()).copied(),
                checked: state.checked.get(&table).copied(),
            };
            async move { Ok::<_, LakeError>((table, log.check().await?)) }
        });
        let checked = try_join_all(checks).await?;
        let checked = checked.into_iter();
        state
            .checked
            .extend(checked.filter_map(|(table, last)| Some((table, last?))));
        Ok(())
    }

    /// Returns the tables, complete up to the last commit batch that ended. If the tables are ahead of the batch
    /// records, the state continues from the tables.
    pub(crate) async fn tables<'a>(
        &self,
        state: &'a mut State,
    ) -> Result<&'a mut BTreeMap<TableName, Table>, LakeError> {
        loop {
            let tables = match state.tables.take() {
                None => self.load().await?,
                Some(mut tables) if state.loaded < state.ended => {
                    try_join_all(tables.values_mut().map(Table::refresh)).await?;
                    tables
                }
                Some(tables) => return Ok(state.tables.insert(tables)),
            };
            state.loaded = state.ended;
            self.recover_ticks(state, &tables).await?;
            if state.loaded == state.ended {
                return Ok(state.tables.insert(tables));
            }
            state.tables = Some(tables);
        }
    }

    /// Loads the commits of other processes, and finishes the commit batch that no process finished.
    pub(crate) async fn recover(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..ATTEMPTS_MAX {
            let head = self.inner.ticks.head(state.ended).await?;
            state.ended = head.ended;
            // A commit would overwrite entries that a log lost, so that the check comes before it.
            if state.checked.is_empty() {
                self.check_logs(state).await?;
            }
            if head.recorded <= head.ended {
                state.unfinished = None;
                return Ok(());
            }
            // Commit batch numbers have no gaps: a batch is recorded only after the one before it has ended.
            let Some(record) = self.inner.ticks.record(head.ended + 1).await? else {
                continue;
            };
            // Between the listing and this read, the commit batch's own process may have ended it and removed its
            // staged rows.
            if self.inner.ticks.end(record.tick).await?.is_some() {
                continue;
            }
            let tables = self.load().await?;
            let rows = match staged(&self.inner.storage, &record, &tables).await {
                Err(_) if self.inner.ticks.end(record.tick).await?.is_some() => continue,
                rows => rows,
            };
            // The record of another process may not be durable yet. On a local disk, creating the record again makes it
            // durable. Otherwise a power failure could lose the record of a commit batch that is in tables.
            self.inner.ticks.begin(&record).await?;
            tracing::info!(
                tick = record.tick,
                "finishing a commit batch that was begun but not ended"
            );
            state.tables = None;
            let finished = match rows {
                Ok(rows) => {
                    state.tables = Some(tables);
                    self.finish_tick(state, &record, rows, None).await.map(drop)
                }
                Err(error) => Err(error),
            };
            match finished {
                Err(error) if is_for_good(record.kind, &error) => self.give_up(state, &record, error).await?,
                finished => finished?,
            }
            // The tables may contain commit batches whose records are lost. Reading the tables detects this.
            state.tables = None;
        }
        Err(LakeError::Contended)
    }

    /// Ends a commit batch that can never be finished, if no table or every table has it. If another process acted
    /// first, returns without ending the batch, and the caller looks again.
    async fn give_up(&self, state: &mut State, record: &TickRecord, error: LakeError) -> Result<(), LakeError> {
        if self.inner.ticks.end(record.tick).await?.is_some() {
            return Ok(());
        }
        let mut tables = self.load().await?;
        if !is_given_up(&tables, record.tick).await? {
            if is_applied(&tables, record) {
                tracing::warn!(
                    tick = record.tick,
                    "every table has a commit batch whose end record is lost; the end is recorded again"
                );
                return self.end_tick(state, record, tables, ApplyOutcome::Done).await;
            }
            let is_begun = record.kind == TickKind::Compact || tables.values().any(|table| table.tick() >= record.tick);
            let Some(deciding) = tables.get_mut(&DECIDING).filter(|_| !is_begun) else {
                return Err(error);
            };
            // The commit batch's own process may still be running. It commits to this table first, and fails because
            // the version is taken.
            if deciding.give_up(record.tick, self.inner.clock.now()).await? == CommitOutcome::Lost {
                return Ok(());
            }
            tracing::warn!(
                tick = record.tick,
                error = &error as &dyn std::error::Error,
                "an unfinished commit batch can never be finished and is abandoned; no table has any of it, and the next crawl repeats it"
            );
        }
        self.end_tick(state, record, tables, ApplyOutcome::GivenUp).await
    }

    /// Continues from the last commit batch that ended, and leaves unfinished batches to the next committer.
    ///
    /// # Errors
    /// The rows of that batch are incomplete, so that there is no state to continue from, or the storage fails.
    pub(crate) async fn leave_unrecovered(&self, state: &mut State, error: LakeError) -> Result<(), LakeError> {
        if matches!(error, LakeError::Log { .. } | LakeError::EndMissing { .. }) {
            return Err(error);
        }
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "an unfinished commit batch cannot be finished now; the lake stays in the state before it"
        );
        let head = self.inner.ticks.head(0).await?;
        state.unfinished = (head.recorded > head.ended).then_some(head.ended + 1);
        state.ended = head.ended;
        state.tables = None;
        Ok(())
    }

    /// Continues from the tables if the records of the last commit batches were lost. Otherwise the tables, which have
    /// these batch numbers, would treat new batches with the same numbers as done.
    ///
    /// The tables were read up to the last batch that ended. Later batches must be read if another process ended a
    /// batch meanwhile.
    pub(crate) async fn recover_ticks(
        &self,
        state: &mut State,
        tables: &BTreeMap<TableName, Table>,
    ) -> Result<(), LakeError> {
        let last = tables.values().map(Table::tick).max().unwrap_or(0);
        if last <= state.ended {
            return Ok(());
        }
        // No table has a commit batch before its record exists, so that the record is read after the tables.
        let head = self.inner.ticks.head(state.ended).await?;
        if head.recorded.max(head.ended) >= last {
            // Another process is or was working on the next commit batch.
            state.ended = head.ended;
            return Ok(());
        }
        tracing::warn!(
            tick = last,
            "the records of commit batches are missing; continuing from the tables"
        );
        let end = TickEnd {
            tick: last,
            committed_at: self.inner.clock.now(),
            versions: versions(tables),
            digests: BTreeMap::new(),
            given_up: false,
        };
        self.inner.ticks.finish(end).await?;
        (state.ended, state.loaded) = (last, last);
        Ok(())
    }
}

/// Returns `true` if a retry can never succeed, because the rows of the commit batch are gone.
fn is_for_good(kind: TickKind, error: &LakeError) -> bool {
    match error {
        LakeError::Lost { .. } | LakeError::NotRestorable { .. } | LakeError::Staged { .. } => true,
        // Review rows are changed one by one, so that a lost file with such rows needs a repair.
        _ if kind == TickKind::Reviews && lost_file(error).is_some() => true,
        _ => false,
    }
}
