//! Rows of the table of sessions.

use data_model::Timestamp;

use super::record::{IssuedSession, NewSession, SessionGrant, SessionId, client_line};
use crate::database::{WriteTransaction, values};
use crate::error::StateError;
use crate::names::AccountId;

pub(super) async fn forget_over(writing: &mut WriteTransaction, now: Timestamp) -> Result<(), StateError> {
    let over = values![now];
    let sql = "DELETE FROM sessions WHERE idle_ends_at <= $1";
    writing.execute(sql, over).await.map(|_| ())
}

pub(super) fn grant(account: &AccountId, new: &NewSession, now: Timestamp) -> Result<SessionGrant, StateError> {
    Ok(SessionGrant {
        id: SessionId::generate()?,
        account: account.clone(),
        method: new.method,
        client: client_line(&new.client),
        created_at: now,
        seen_at: now,
        ends_at: now.plus_millis(millis(new.limits.idle_ms.min(new.limits.total_ms))),
    })
}

pub(super) async fn insert(
    writing: &mut WriteTransaction,
    issued: &IssuedSession,
    new: &NewSession,
    now: Timestamp,
) -> Result<(), StateError> {
    let sql = "INSERT INTO sessions \
               (hash, id, account, method, client, created_at, seen_at, idle_ms, ends_at, idle_ends_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)";
    let grant = &issued.grant;
    let values = values![
        issued.token.hash().as_bytes(),
        grant.id.as_str(),
        grant.account.as_str(),
        grant.method.as_str(),
        &grant.client,
        now,
        millis(new.limits.idle_ms),
        now.plus_millis(millis(new.limits.total_ms)),
        grant.ends_at
    ];
    writing.execute(sql, values).await.map(|_| ())
}

/// Converts milliseconds to a number that fits a timestamp: at most a century.
fn millis(time: u64) -> i64 {
    const CENTURY: i64 = 100 * 365 * 86_400_000;
    i64::try_from(time).unwrap_or(CENTURY).min(CENTURY)
}
