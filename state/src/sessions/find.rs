use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::record::{SessionGrant, SignInMethod};
use super::token::SessionHash;
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::AccountId;

/// Minimum time between two updates of a session's last use.
const SEEN_EVERY_MICROS: i64 = 60_000_000;

macro_rules! session_columns {
    () => {
        "id, account, method, client, created_at, seen_at, idle_ms, ends_at, idle_ends_at"
    };
}

type SessionRow = (String, String, String, String, i64, i64, i64, i64, i64);

impl State {
    /// Returns the grant of the session with this hash at `now`, or `None` if the session is unknown or has ended. The
    /// call is a use of the session and extends its idle timeout.
    #[boxed]
    pub async fn find_session(&self, hash: &SessionHash, now: Timestamp) -> Result<Option<SessionGrant>, StateError> {
        let sql = concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions WHERE hash = $1 AND idle_ends_at > $2"
        );
        let values = values![hash.as_bytes(), now];
        let rows: Vec<SessionRow> = self.rows(sql, values).await?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let (idle_ms, ends_at) = (row.6, row.7);
        let mut grant = grant(row)?;
        if now.micros() - grant.seen_at.micros() < SEEN_EVERY_MICROS {
            return Ok(Some(grant));
        }
        grant.seen_at = now;
        grant.ends_at = now.plus_millis(idle_ms).min(Timestamp::from_micros(ends_at));
        // Another request may have ended the session meanwhile. Nothing is updated then, and the next request is
        // refused.
        let sql = "UPDATE sessions SET seen_at = $2, idle_ends_at = $3 WHERE hash = $1 AND seen_at < $2";
        let values = values![hash.as_bytes(), grant.seen_at, grant.ends_at];
        let mut writing = self.begin().await?;
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(Some(grant))
    }

    /// Returns the sessions of an account that have not ended, newest first.
    #[boxed]
    pub async fn sessions_of(&self, account: &AccountId, now: Timestamp) -> Result<Vec<SessionGrant>, StateError> {
        let sql = concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions WHERE account = $1 AND idle_ends_at > $2 ORDER BY created_at DESC, id"
        );
        let values = values![account.as_str(), now];
        let rows: Vec<SessionRow> = self.rows(sql, values).await?;
        rows.into_iter().map(grant).collect()
    }
}

fn grant(row: SessionRow) -> Result<SessionGrant, StateError> {
    let (id, account, method, client, created_at, seen_at, _, _, idle_ends_at) = row;
    let damaged = |what| move |_| StateError::Damaged { what };
    Ok(SessionGrant {
        id: id.parse().map_err(damaged("session"))?,
        account: account.parse().map_err(damaged("account"))?,
        method: SignInMethod::read(&method)?,
        client,
        created_at: Timestamp::from_micros(created_at),
        seen_at: Timestamp::from_micros(seen_at),
        ends_at: Timestamp::from_micros(idle_ends_at),
    })
}
