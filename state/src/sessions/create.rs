use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::guest::take_along;
use super::record::{IssuedSession, NewSession, SessionGrant, SessionId, client_line};
use super::token::SessionToken;
use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;
use crate::keys::AccountId;

/// Sessions of one account that there are at most; beyond, the oldest end.
const PER_ACCOUNT_MAX: i64 = 20;

impl State {
    /// Begins a session of an account that signed in, ends the one that it replaces, and writes the sign-in down.
    ///
    /// # Errors
    /// [`StateError`]; then nobody was given a session.
    #[boxed]
    pub async fn create_session(
        &self,
        account: &AccountId,
        new: NewSession,
        now: Timestamp,
    ) -> Result<IssuedSession, StateError> {
        let mut writing = self.begin().await?;
        let issued = begin_session(&mut writing, account, new, now).await?;
        writing.commit().await?;
        Ok(issued)
    }
}

/// Begins a session within a change.
pub(crate) async fn begin_session(
    writing: &mut WriteTransaction,
    account: &AccountId,
    new: NewSession,
    now: Timestamp,
) -> Result<IssuedSession, StateError> {
    forget_over(writing, now).await?;
    if let Some(replaced) = &new.replaces {
        take_along(writing, replaced, account).await?;
        let hash = vec![Value::Bytes(replaced.as_bytes().to_vec())];
        writing.execute("DELETE FROM sessions WHERE hash = $1", hash).await?;
    }
    let issued = IssuedSession {
        token: SessionToken::generate()?,
        grant: grant(account, &new, now)?,
    };
    insert(writing, &issued, &new, now).await?;
    let sql = "DELETE FROM sessions WHERE account = $1 AND hash NOT IN \
               (SELECT hash FROM sessions WHERE account = $1 ORDER BY created_at DESC, id LIMIT $2)";
    let values = vec![Value::text(account.as_str()), Value::integer(PER_ACCOUNT_MAX)];
    writing.execute(sql, values).await?;
    let detail = json!({ "session": issued.grant.id, "method": new.method });
    let entry = Entry::of_account(AuditAction::SessionStarted, account, detail);
    let actor = Actor::Account(account.clone());
    entry.append(writing, &actor, now).await?;
    Ok(issued)
}

/// Forgets sessions that are over.
pub(super) async fn forget_over(writing: &mut WriteTransaction, now: Timestamp) -> Result<(), StateError> {
    let over = vec![Value::integer(now.micros())];
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
    let values = vec![
        Value::Bytes(issued.token.hash().as_bytes().to_vec()),
        Value::text(grant.id.as_str()),
        Value::text(grant.account.as_str()),
        Value::text(grant.method.as_str()),
        Value::text(&grant.client),
        Value::integer(now.micros()),
        Value::integer(millis(new.limits.idle_ms)),
        Value::integer(now.plus_millis(millis(new.limits.total_ms)).micros()),
        Value::integer(grant.ends_at.micros()),
    ];
    writing.execute(sql, values).await.map(|_| ())
}

/// Milliseconds that fit a moment: a century at most.
fn millis(time: u64) -> i64 {
    const CENTURY: i64 = 100 * 365 * 86_400_000;
    i64::try_from(time).unwrap_or(CENTURY).min(CENTURY)
}
