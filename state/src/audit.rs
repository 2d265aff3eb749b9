//! Append-only audit of changes to keys and accounts, with the actor of each.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

/// The actor of a change. The operator may change all keys, an account its own keys, a key only itself, and an unknown
/// person none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Actor {
    /// The operator, with the interface: `cli` or `demo`.
    Operator(String),
    /// A signed-in account.
    Account(AccountId),
    /// The holder of a key.
    Key(KeyId),
    /// An unknown person who tried to sign in.
    Nobody,
}

data_model::named! {
    /// The kind of change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    pub enum AuditAction {
        /// A key was created.
        #[serde(rename = "key.created")]
        KeyCreated = "key.created",
        /// A key was renamed.
        #[serde(rename = "key.renamed")]
        KeyRenamed = "key.renamed",
        /// A key was revoked with immediate effect.
        #[serde(rename = "key.revoked")]
        KeyRevoked = "key.revoked",
        /// A key was replaced by a new one.
        #[serde(rename = "key.rotated")]
        KeyRotated = "key.rotated",
        /// A key restored from a backup was confirmed and is accepted again.
        #[serde(rename = "key.confirmed")]
        KeyConfirmed = "key.confirmed",
        /// Somebody signed in for the first time, or got a sign-in link.
        #[serde(rename = "account.created")]
        AccountCreated = "account.created",
        /// A sign-in link was created.
        #[serde(rename = "link.created")]
        LinkCreated = "link.created",
        /// Somebody signed in.
        #[serde(rename = "session.started")]
        SessionStarted = "session.started",
        /// Somebody signed out, or ended one of their sessions.
        #[serde(rename = "session.ended")]
        SessionEnded = "session.ended",
        /// Every session of an account was ended.
        #[serde(rename = "session.all_ended")]
        SessionsEnded = "session.all_ended",
        /// A sign-in attempt was refused.
        #[serde(rename = "session.refused")]
        SignInRefused = "session.refused",
        /// A request was sent to a brand's store to sign somebody in, or to create an account.
        #[serde(rename = "store_account.asked")]
        StoreAccountAsked = "store_account.asked",
    }
}

/// One entry of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEvent {
    /// Sequence number, which increases with gaps.
    pub seq: i64,
    /// Time of the change.
    pub at: Timestamp,
    /// The actor of the change.
    pub actor: Actor,
    /// The kind of change.
    pub action: AuditAction,
    /// The key that was changed.
    pub key: Option<KeyId>,
    /// The account that was changed.
    pub account: Option<AccountId>,
    /// Further fields, depending on the action. The fields never contain a key.
    pub detail: serde_json::Value,
}

/// A filter for audit entries.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Includes only entries about this key.
    pub key: Option<KeyId>,
    /// Includes only entries about this account.
    pub account: Option<AccountId>,
    /// Includes only entries with a lower `seq`, for paging.
    pub before: Option<i64>,
}

impl Actor {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Operator(_) => "operator",
            Self::Account(_) => "account",
            Self::Key(_) => "key",
            Self::Nobody => "nobody",
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Operator(through) => through,
            Self::Account(account) => account.as_str(),
            Self::Key(key) => key.as_str(),
            Self::Nobody => "",
        }
    }

    fn read(kind: &str, name: String) -> Option<Self> {
        match kind {
            "operator" => Some(Self::Operator(name)),
            "account" => name.parse().ok().map(Self::Account),
            "key" => name.parse().ok().map(Self::Key),
            "nobody" => Some(Self::Nobody),
            _ => None,
        }
    }

    pub(crate) fn may_touch(&self, id: &KeyId, account: Option<&AccountId>) -> bool {
        match self {
            Self::Operator(_) => true,
            Self::Account(own) => account == Some(own),
            Self::Key(own) => id == own,
            Self::Nobody => false,
        }
    }
}

/// An entry that is written with a change, in the same transaction.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    action: AuditAction,
    key: Option<&'a KeyId>,
    account: Option<&'a AccountId>,
    detail: serde_json::Value,
}

impl<'a> Entry<'a> {
    pub(crate) const fn of_key(
        action: AuditAction,
        key: &'a KeyId,
        account: Option<&'a AccountId>,
        detail: serde_json::Value,
    ) -> Self {
        Self {
            action,
            key: Some(key),
            account,
            detail,
        }
    }

    pub(crate) const fn of_account(action: AuditAction, account: &'a AccountId, detail: serde_json::Value) -> Self {
        Self {
            action,
            key: None,
            account: Some(account),
            detail,
        }
    }

    pub(crate) async fn append(
        self,
        writing: &mut WriteTransaction,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let sql = "INSERT INTO audit (at, actor_kind, actor_name, action, key_id, account, detail) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = values![
            now,
            actor.kind(),
            actor.name(),
            self.action.as_str(),
            self.key.map(|key| key.as_str()),
            self.account.map(|account| account.as_str()),
            self.detail.to_string()
        ];
        writing.execute(sql, values).await.map(|_| ())
    }
}

type AuditRow = (i64, i64, String, String, String, Option<String>, Option<String>, String);

impl State {
    /// Returns at most `limit` entries, newest first.
    #[boxed]
    pub async fn audit(&self, query: &AuditQuery, limit: u32) -> Result<Vec<AuditEvent>, StateError> {
        // The casts give PostgreSQL the type of a parameter that is not compared with a column.
        let sql = "SELECT seq, at, actor_kind, actor_name, action, key_id, account, detail FROM audit \
                   WHERE (CAST($1 AS TEXT) IS NULL OR key_id = $1) AND (CAST($2 AS TEXT) IS NULL OR account = $2) \
                   AND seq < $3 ORDER BY seq DESC LIMIT $4";
        let values = values![
            query.key.as_ref().map(|key| key.as_str()),
            query.account.as_ref().map(|account| account.as_str()),
            query.before.unwrap_or(i64::MAX),
            limit
        ];
        let rows: Vec<AuditRow> = self.rows(sql, values).await?;
        let damaged = StateError::Damaged {
            what: "entry of the audit",
        };
        let events: Option<Vec<_>> = rows.into_iter().map(event).collect();
        events.ok_or(damaged)
    }

    /// Records a request to a brand's store to sign somebody in. `detail` must not contain an e-mail address.
    #[boxed]
    pub async fn audit_store_account(
        &self,
        actor: &Actor,
        detail: serde_json::Value,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let (key, account) = match actor {
            Actor::Key(key) => (Some(key), None),
            Actor::Account(account) => (None, Some(account)),
            Actor::Operator(_) | Actor::Nobody => (None, None),
        };
        let entry = Entry {
            action: AuditAction::StoreAccountAsked,
            key,
            account,
            detail,
        };
        let mut writing = self.begin().await?;
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        Ok(())
    }
}

fn event(row: AuditRow) -> Option<AuditEvent> {
    let (seq, at, kind, name, action, key, account, detail) = row;
    Some(AuditEvent {
        seq,
        at: Timestamp::from_micros(at),
        actor: Actor::read(&kind, name)?,
        action: AuditAction::named(&action)?,
        key: key.map(|key| key.parse()).transpose().ok()?,
        account: account.map(|account| account.parse()).transpose().ok()?,
        detail: serde_json::from_str(&detail).ok()?,
    })
}
