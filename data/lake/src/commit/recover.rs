//! Recovery: a process takes in ticks that others ended, and finishes those that others began.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use futures::future::try_join_all;

use super::apply::{ApplyOutcome, DECIDING, is_applied, is_given_up};
use super::batch::versions;
use crate::delta::{CommitOutcome, Log, Table};
use crate::error::lost_file;
use crate::lake::State;
use crate::ticks::{TickEnd, TickKind, TickRecord, staged};
use crate::{Lake, LakeError, LakeSnapshot, TableName};

impl Lake {
    /// A tick that was begun, by whomever, and that this process tried to finish and could not; the log tells why.
    #[boxed]
    pub async fn unfinished_tick(&self) -> Option<u64> {
        self.state().await.unfinished
    }

    /// The state after the newest tick that was recorded when this was called: what a release is built of. A tick that
    /// was begun and not ended is finished first, and the tables' logs are checked as far as they were not before.
    ///
    /// # Errors
    /// A tick cannot be finished, an entry of a log is missing or damaged, or the storage fails.
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
        // Tables that have a tick whose record was lost are newer than all records say.
        self.tables(&mut state).await?;
        let newest = state.ended;
        drop(state);
        self.snapshot_of(newest).await
    }

    /// Reads the entries of each table's log that its state is made of: all behind the last checkpoint, at least up to the
    /// one that the end of the last tick names. Those that were found whole before are not read again.
    ///
    /// # Errors
    /// One is missing, empty or cut short, or the storage fails.
    pub(crate) async fn check_logs(&self, state: &mut State) -> Result<(), LakeError> {
        let named = match self.inner.ticks.end(state.ended).await {
            Ok(end) => end.map(|end| end.versions).unwrap_or_default(),
            // A reader of a damaged end gets the error; a writer leaves it behind.
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

    /// The tables, complete up to the last tick that ended. Where they have more than all records of ticks say, the last
    /// tick is theirs from here on.
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
