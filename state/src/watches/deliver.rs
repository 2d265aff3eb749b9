use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{EventState, WatchEventRow};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;
use crate::lease::Lease;

/// Maximum delay of an event. A later due time comes from a server whose clock was ahead, and is ignored.
const PAUSE_MS_MAX: i64 = 3 * 24 * 3_600_000;
/// Length limit of a stored failure reason.
const LETTER_CHARS_MAX: usize = 200;

/// An event that is due for delivery, with the data needed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEvent {
    /// Id of the event.
    pub id: String,
    /// Id of the watch.
    pub watch: String,
    /// The owner of the watch.
    pub caller: String,
    /// The message to deliver.
    pub body: String,
    /// Creation time of the event.
    pub created_at: Timestamp,
    /// Number of attempts, including this one.
    pub attempt: u32,
    /// The watch's target, sealed.
    pub target: Vec<u8>,
}

/// The outcome of an attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver accepted the event.
    Delivered,
    /// The delivery is retried at `at`.
    Again {
        /// Time of the next attempt.
        at: Timestamp,
        /// Reason for the failure.
        reason: String,
    },
    /// The delivery is not retried any more.
    Dead {
        /// Reason for the failure.
        reason: String,
    },
}

/// Selects due events in order of their due time, without those that another server is about to take.
macro_rules! to_take {
    ($locking:literal) => {
        concat!(
            "SELECT e.id, e.watch, w.caller, e.body, e.created_at, e.attempts, w.target FROM watch_events e \
             JOIN watches w ON w.id = e.watch WHERE e.state = 'waiting' AND (e.due_at <= $1 OR e.due_at > $3) AND w.paused_at IS NULL \
             ORDER BY e.due_at, e.id LIMIT $2",
            $locking
        )
    };
}

type DueCells = (String, String, String, String, i64, i64, Vec<u8>);
type EventCells = (String, String, String, i64, i64, i64, Option<String>);

fn event(cells: EventCells) -> Result<WatchEventRow, StateError> {
    let (id, body, state, attempts, created_at, due_at, letter) = cells;
    Ok(WatchEventRow {
        id,
        body,
        state: EventState::read(&state)?,
        attempts: count(attempts),
        created_at: Timestamp::from_micros(created_at),
        due_at: Timestamp::from_micros(due_at),
        letter,
    })
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl State {
    /// Takes at most `limit` due events until the end of `lease`. Later, other processes may take the events whose
    /// outcome was not reported.
    ///
    /// # Errors
    /// [`StateError`]. After [`StateError::Unavailable`], events may have been taken. Such events are due again when
    /// the lease ends.
    #[boxed]
    pub async fn take_watch_events(
        &self,
        limit: u32,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<Vec<DueEvent>, StateError> {
        let mut writing = self.begin().await?;
        let sql = match writing {
            #[cfg(feature = "postgres")]
            WriteTransaction::Postgres(_) => to_take!(" FOR UPDATE OF e SKIP LOCKED"),
            // SQLite has only one writer, so no rows need to be skipped.
            WriteTransaction::Sqlite(_) => to_take!(""),
        };
        let values = values![now, limit, now.latest_believed(PAUSE_MS_MAX)];
        let rows: Vec<DueCells> = writing.rows(sql, values).await?;
        let mut due = Vec::with_capacity(rows.len());
        for (id, watch, caller, body, created_at, attempts, target) in rows {
            let sql = "UPDATE watch_events SET attempts = attempts + 1, due_at = $2, token = $3 WHERE id = $1";
            let values = values![&id, lease.until(), lease.token()];
            writing.execute(sql, values).await?;
            due.push(DueEvent {
                id,
                watch,
                caller,
                body,
                created_at: Timestamp::from_micros(created_at),
                attempt: count(attempts.saturating_add(1)),
                target,
            });
        }
        writing.commit().await?;
        Ok(due)
    }

    /// Replaces the message of an event taken under `lease`. Returns `false` if another server took the event
    /// meanwhile.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn replace_watch_event_body(&self, id: &str, lease: &Lease, body: &str) -> Result<bool, StateError> {
        let sql = "UPDATE watch_events SET body = $3 WHERE id = $1 AND token = $2 AND state = 'waiting'";
        let values = values![id, lease.token(), body];
        let mut writing = self.begin().await?;
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }

    /// Stores the outcome of an event taken under `lease`. Returns `false` and changes nothing if another server took
    /// the event meanwhile.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn end_watch_attempt(
        &self,
        id: &str,
        lease: &Lease,
        outcome: &AttemptOutcome,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let (state, due_at, reason) = match outcome {
            AttemptOutcome::Delivered => (EventState::Done, now, None),
            AttemptOutcome::Again { at, reason } => (EventState::Waiting, *at, Some(reason)),
            AttemptOutcome::Dead { reason } => (EventState::Dead, now, Some(reason)),
        };
        let sql = "UPDATE watch_events SET state = $3, due_at = $4, letter = $5, token = NULL \
                   WHERE id = $1 AND token = $2 AND state = 'waiting'";
        let values = values![
            id,
            lease.token(),
            state.as_str(),
            due_at,
            reason.map(|reason| reason.chars().take(LETTER_CHARS_MAX).collect::<String>())
        ];
        let mut writing = self.begin().await?;
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }

    /// Returns the latest events of a watch, up to a limit.
    #[boxed]
    pub async fn watch_events(&self, watch: &str, limit: u32) -> Result<Vec<WatchEventRow>, StateError> {
        let sql = "SELECT id, body, state, attempts, created_at, due_at, letter FROM watch_events WHERE watch = $1 \
                   ORDER BY created_at DESC, id LIMIT $2";
        let values = values![watch, limit];
        let rows: Vec<EventCells> = self.rows(sql, values).await?;
        rows.into_iter().map(event).collect()
    }

    /// Deletes delivered and dead events up to the time `oldest`, and returns their number.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn purge_watch_events(&self, oldest: Timestamp) -> Result<u64, StateError> {
        let sql = "DELETE FROM watch_events WHERE created_at <= $1 AND state <> 'waiting'";
        let mut writing = self.begin().await?;
        let purged = writing.execute(sql, values![oldest]).await?;
        writing.commit().await?;
        Ok(purged)
    }
}
