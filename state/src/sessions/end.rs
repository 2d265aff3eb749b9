use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::record::SessionId;
use super::token::SessionHash;
use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, Value, values};
use crate::error::StateError;
use crate::names::AccountId;

impl State {
    /// Ends the session with this hash and audits the sign-out. Returns true if there was such a session.
    #[boxed]
    pub async fn end_session(&self, hash: &SessionHash, now: Timestamp) -> Result<bool, StateError> {
        let sql = "DELETE FROM sessions WHERE hash = $1 RETURNING id, account";
        let values = values![hash.as_bytes()];
        self.end_one(sql, values, now).await
    }

    /// Ends one of an account's sessions by its id. Returns true if the account had this session.
    #[boxed]
    pub async fn end_session_of(
        &self,
        account: &AccountId,
        id: &SessionId,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let sql = "DELETE FROM sessions WHERE id = $1 AND account = $2 RETURNING id, account";
        let values = values![id.as_str(), account.as_str()];
        self.end_one(sql, values, now).await
    }

    /// Ends every session of an account and returns their number.
    #[boxed]
    pub async fn end_sessions_of(&self, account: &AccountId, actor: &Actor, now: Timestamp) -> Result<u64, StateError> {
        let mut writing = self.begin().await?;
        let sql = "DELETE FROM sessions WHERE account = $1";
        let ended = writing.execute(sql, values![account.as_str()]).await?;
        let detail = json!({ "sessions": ended });
        let entry = Entry::of_account(AuditAction::SessionsEnded, account, detail);
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        Ok(ended)
    }

    async fn end_one(&self, sql: &'static str, values: Vec<Value>, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let ended: Option<(String, String)> = writing.row(sql, values).await?;
        let Some((id, account)) = ended else {
            return Ok(false);
        };
        let account: AccountId = account.parse().map_err(|_| StateError::Damaged { what: "account" })?;
        let entry = Entry::of_account(AuditAction::SessionEnded, &account, json!({ "session": id }));
        let actor = Actor::Account(account.clone());
        entry.append(&mut writing, &actor, now).await?;
        writing.commit().await?;
        Ok(true)
    }
}
