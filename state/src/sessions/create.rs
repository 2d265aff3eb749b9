use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::guest::take_along;
use super::record::{IssuedSession, NewSession};
use super::row::{forget_over, grant, insert};
use super::token::SessionToken;
use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;
use crate::names::AccountId;

/// Maximum number of sessions per account. The oldest sessions end.
const PER_ACCOUNT_MAX: i64 = 20;

impl State {
    /// Creates a session for an account that signed in, ends the session that it replaces, and audits the sign-in.
    ///
    /// # Errors
    /// [`StateError`]. The caller then has no session.
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

pub(crate) async fn begin_session(
    writing: &mut WriteTransaction,
    account: &AccountId,
    new: NewSession,
    now: Timestamp,
) -> Result<IssuedSession, StateError> {
    forget_over(writing, now).await?;
    if let Some(replaced) = &new.replaces {
        take_along(writing, replaced, account).await?;
        let hash = values![replaced.as_bytes()];
        writing.execute("DELETE FROM sessions WHERE hash = $1", hash).await?;
    }
    let issued = IssuedSession {
        token: SessionToken::generate()?,
        grant: grant(account, &new, now)?,
    };
    insert(writing, &issued, &new, now).await?;
    let sql = "DELETE FROM sessions WHERE account = $1 AND hash NOT IN \
               (SELECT hash FROM sessions WHERE account = $1 ORDER BY created_at DESC, id LIMIT $2)";
    let values = values![account.as_str(), PER_ACCOUNT_MAX];
    writing.execute(sql, values).await?;
    let detail = json!({ "session": issued.grant.id, "method": new.method });
    let entry = Entry::of_account(AuditAction::SessionStarted, account, detail);
    let actor = Actor::Account(account.clone());
    entry.append(writing, &actor, now).await?;
    Ok(issued)
}
