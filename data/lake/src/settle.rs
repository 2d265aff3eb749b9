//! What a process does about ticks that others began or ended.

use crate::delta::Table;
use crate::lake::{State, versions};
use crate::tick::TickEnd;
use crate::{Lake, LakeError};

impl Lake {
    /// A tick that was begun, by whomever, and that this process tried to finish and could not; the log tells why.
    pub async fn unfinished_tick(&self) -> Option<u64> {
        self.state().await.unfinished
    }

    /// Takes in what others did, and finishes what nobody finished.
    pub(crate) async fn settle(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            let head = self.inner.ticks.head(state.ended).await?;
            state.ended = head.ended;
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
            let rows = match self.inner.ticks.staged(&record).await {
                Err(_) if self.inner.ticks.end(record.tick).await?.is_some() => continue,
                rows => rows?,
            };
            // Another process may have written the record and not yet made it durable. Asking for its number
            // again does so on local disk; without it a power cut could take the record of a tick that is in tables.
            self.inner.ticks.begin(&record).await?;
            tracing::info!(tick = record.tick, "finishing a tick that was begun and not ended");
            state.tables = None;
            self.finish_tick(state, &record, rows).await?;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Goes on with the last tick that ended, what was begun after it being left to whoever commits next.
    pub(crate) async fn leave_unsettled(&self, state: &mut State, error: &LakeError) -> Result<(), LakeError> {
        tracing::warn!(
            error = error as &dyn std::error::Error,
            "a tick that was begun cannot be finished now; the lake is as it was before it"
        );
        let head = self.inner.ticks.head(0).await?;
        state.unfinished = (head.recorded > head.ended).then_some(head.ended + 1);
        state.ended = head.ended;
        state.tables = None;
        Ok(())
    }

    /// Where the records of ticks were lost but not the tables, goes on from what the tables say. Without this,
    /// tables that have the numbers of lost ticks would take new ticks of the same numbers for done.
    pub(crate) async fn recover_ticks(&self, state: &mut State) -> Result<(), LakeError> {
        let tables = self.tables(state).await?;
        let last = tables.values().map(Table::tick).max().unwrap_or(0);
        if last > 0 {
            tracing::warn!(
                tick = last,
                "the records of ticks are missing; going on from the tables"
            );
            let versions = versions(tables);
            self.inner
                .ticks
                .finish(TickEnd {
                    tick: last,
                    committed_at: self.inner.clock.now(),
                    versions,
                })
                .await?;
            (state.ended, state.loaded) = (last, last);
        }
        Ok(())
    }
}
