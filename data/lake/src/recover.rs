//! Recovery: a process takes in ticks that others ended, and finishes those that others began.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;

use crate::apply::{ApplyOutcome, DECIDING, is_applied, is_given_up};
use crate::delta::{CommitOutcome, Table};
use crate::lake::{State, versions};
use crate::lost::lost_file;
use crate::staging::staged;
use crate::tick::{TickEnd, TickKind, TickRecord};
use crate::{Lake, LakeError, TableName};

impl Lake {
    /// A tick that was begun, by whomever, and that this process tried to finish and could not; the log tells why.
    #[boxed]
    pub async fn unfinished_tick(&self) -> Option<u64> {
        self.state().await.unfinished
    }

    /// Takes in what others did, and finishes what nobody finished.
    pub(crate) async fn recover(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            let head = self.inner.ticks.head(state.ended).await?;
            state.ended = head.ended;
            // Before anything is written: what a log lost would be written over.
            if state.checked.is_empty() {
                self.check_logs(state).await?;
            }
            if head.recorded <= head.ended {
                state.unfinished = None;
                return Ok(());
            }
            // Numbers count without gaps: a tick is recorded only when the one before it has ended.
            let Some(record) = self.inner.ticks.record(head.ended + 1).await? else {
                continue;
            };
            // Between the list and here its own process may have ended it and dropped the staged rows.
            if self.inner.ticks.end(record.tick).await?.is_some() {
                continue;
            }
            let tables = self.load().await?;
            let rows = match staged(&self.inner.storage, &record, &tables).await {
                Err(_) if self.inner.ticks.end(record.tick).await?.is_some() => continue,
                rows => rows,
            };
            // Another process may have written the record and not yet made it durable. Asking for its number
            // again does so on local disk; without it a power cut could take the record of a tick that is in tables.
            self.inner.ticks.begin(&record).await?;
            tracing::info!(tick = record.tick, "finishing a tick that was begun and not ended");
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
            // They may have ticks whose records are lost: that is looked for when they are read.
            state.tables = None;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Ends a tick that can never be finished, if no table has it, or every table. Comes back without having done so where another
    /// process came first: then there is something new to look at.
    async fn give_up(&self, state: &mut State, record: &TickRecord, error: LakeError) -> Result<(), LakeError> {
        if self.inner.ticks.end(record.tick).await?.is_some() {
            return Ok(());
        }
        let mut tables = self.load().await?;
        if !is_given_up(&tables, record.tick).await? {
            if is_applied(&tables, record) {
                tracing::warn!(
                    tick = record.tick,
                    "a tick is in every table and its end was lost; it is ended again"
                );
                return self.end_tick(state, record, tables, ApplyOutcome::Done).await;
            }
            let is_begun = record.kind == TickKind::Compact || tables.values().any(|table| table.tick() >= record.tick);
            let Some(deciding) = tables.get_mut(&DECIDING).filter(|_| !is_begun) else {
                return Err(error);
            };
            // Its own process may still be at work. It comes to this table first, and finds its place taken.
            if deciding.give_up(record.tick, self.inner.clock.now()).await? == CommitOutcome::Lost {
                return Ok(());
            }
            tracing::warn!(
                tick = record.tick,
                error = &error as &dyn std::error::Error,
                "a tick that was begun can never be finished and is given up; nothing of it was in any table, and the next crawl does it again"
            );
        }
        self.end_tick(state, record, tables, ApplyOutcome::GivenUp).await
    }

    /// Goes on with the last tick that ended, what was begun after it being left to whoever commits next.
    ///
    /// # Errors
    /// The rows of that tick are not whole, so that there is nothing to go on with; or the storage fails.
    pub(crate) async fn leave_unrecovered(&self, state: &mut State, error: LakeError) -> Result<(), LakeError> {
        if matches!(error, LakeError::Log { .. } | LakeError::EndMissing { .. }) {
            return Err(error);
        }
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "a tick that was begun cannot be finished now; the lake is as it was before it"
        );
        let head = self.inner.ticks.head(0).await?;
        state.unfinished = (head.recorded > head.ended).then_some(head.ended + 1);
        state.ended = head.ended;
        state.tables = None;
        Ok(())
    }

    /// Goes on from the tables where the records of the last ticks were lost but not the tables. Without this, tables
    /// that have the numbers of lost ticks would take new ticks of the same numbers for done.
    ///
    /// The tables were read up to the tick that ended last; more is to be read where another ended meanwhile.
    pub(crate) async fn recover_ticks(
        &self,
        state: &mut State,
        tables: &BTreeMap<TableName, Table>,
    ) -> Result<(), LakeError> {
        let last = tables.values().map(Table::tick).max().unwrap_or(0);
        if last <= state.ended {
            return Ok(());
        }
        // Looked for after the tables were read: no table has a tick before its record is there.
        let head = self.inner.ticks.head(state.ended).await?;
        if head.recorded.max(head.ended) >= last {
            // Another process is at work on it, or was.
            state.ended = head.ended;
            return Ok(());
        }
        tracing::warn!(
            tick = last,
            "the records of ticks are missing; going on from the tables"
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

/// `true` where trying again can never help: the rows of the tick are gone.
fn is_for_good(kind: TickKind, error: &LakeError) -> bool {
    match error {
        LakeError::Lost { .. } | LakeError::NotRestorable { .. } | LakeError::Staged { .. } => true,
        // Rows are changed one by one: nothing but a repair can do without a file that held some.
        _ if kind == TickKind::Reviews && lost_file(error).is_some() => true,
        _ => false,
    }
}
