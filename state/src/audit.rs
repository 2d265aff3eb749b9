//! Changes of keys and accounts with the one who made them, append-only.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

/// The one who acts. The things that an actor may touch follow from it: an account its own keys, all others every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Actor {
    /// The operator, and through what: `cli`, `demo`.
    Operator(String),
    /// Somebody who signed in.
    Account(AccountId),
    /// Whoever holds a key.
    Key(KeyId),
    /// Somebody who is not known: they tried to sign in.
    Nobody,
}

/// The deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum AuditAction {
    /// A key was made.
    #[serde(rename = "key.created")]
    KeyCreated,
    /// A key was given another name.
    #[serde(rename = "key.renamed")]
    KeyRenamed,
    /// A key was ended at once.
    #[serde(rename = "key.revoked")]
    KeyRevoked,
    /// A key was replaced by a new one.
    #[serde(rename = "key.rotated")]
    KeyRotated,
    /// A key that came back from a backup is taken again.
    #[serde(rename = "key.confirmed")]
    KeyConfirmed,
    /// Somebody signed in for the first time, or was given a link for it.
    #[serde(rename = "account.created")]
    AccountCreated,
    /// A link to sign in with was made.
    #[serde(rename = "link.created")]
    LinkCreated,
    /// Somebody signed in.
    #[serde(rename = "session.started")]
    SessionStarted,
    /// Somebody signed out, or ended one of their sessions.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// Every session of an account was ended.
    #[serde(rename = "session.all_ended")]
    SessionsEnded,
    /// Somebody tried to sign in and was refused.
    #[serde(rename = "session.refused")]
    SignInRefused,
    /// A brand's store was asked to let somebody in, or to make an account.
    #[serde(rename = "store_account.asked")]
    StoreAccountAsked,
}

/// One entry of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEvent {
    /// Its number; later entries have higher ones, and numbers may be left out.
    pub seq: i64,
    /// Its moment.
    pub at: Timestamp,
    /// The one who did it.
    pub actor: Actor,
    /// The deed.
    pub action: AuditAction,
    /// The key that the action was about.
    pub key: Option<KeyId>,
    /// The account that the action was about.
    pub account: Option<AccountId>,
    /// Further members, by action: never a key.
    pub detail: serde_json::Value,
}

/// A choice of entries of the audit.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Of this key alone.
    pub key: Option<KeyId>,
    /// Of this account alone.
    pub account: Option<AccountId>,
    /// Older than this entry: the `seq` of the last one that was read.
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

    /// True where the actor may touch the key of this id and account.
    pub(crate) fn may_touch(&self, id: &KeyId, account: Option<&AccountId>) -> bool {
        match self {
            Self::Operator(_) => true,
            Self::Account(own) => account == Some(own),
            Self::Key(own) => id == own,
            Self::Nobody => false,
        }
    }
}

impl AuditAction {
    const ALL: [Self; 12] = [
        Self::KeyCreated,
        Self::KeyRenamed,
        Self::KeyRevoked,
        Self::KeyRotated,
        Self::KeyConfirmed,
        Self::AccountCreated,
        Self::LinkCreated,
        Self::SessionStarted,
        Self::SessionEnded,
        Self::SessionsEnded,
        Self::SignInRefused,
        Self::StoreAccountAsked,
    ];

    /// The action as answers and the database spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KeyCreated => "key.created",
            Self::KeyRenamed => "key.renamed",
            Self::KeyRevoked => "key.revoked",
            Self::KeyRotated => "key.rotated",
            Self::KeyConfirmed => "key.confirmed",
            Self::AccountCreated => "account.created",
            Self::LinkCreated => "link.created",
            Self::SessionStarted => "session.started",
            Self::SessionEnded => "session.ended",
            Self::SessionsEnded => "session.all_ended",
            Self::SignInRefused => "session.refused",
            Self::StoreAccountAsked => "store_account.asked",
        }
    }
}

/// The entry that is written with a change, in its transaction.
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
        let values = vec![
            Value::integer(now.micros()),
            Value::text(actor.kind()),
            Value::text(actor.name()),
            Value::text(self.action.as_str()),
            Value::Text(self.key.map(|key| key.as_str().to_owned())),
            Value::Text(self.account.map(|account| account.as_str().to_owned())),
            Value::text(self.detail.to_string()),
        ];
        writing.execute(sql, values).await.map(|_| ())
    }
}

type AuditRow = (i64, i64, String, String, String, Option<String>, Option<String>, String);

impl State {
    /// At most `limit` entries, newest first.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn audit(&self, query: &AuditQuery, limit: u32) -> Result<Vec<AuditEvent>, StateError> {
        // A member that is not asked for is NULL; the casts give PostgreSQL the type of a parameter that is compared
        // with nothing.
        let sql = "SELECT seq, at, actor_kind, actor_name, action, key_id, account, detail FROM audit \
                   WHERE (CAST($1 AS TEXT) IS NULL OR key_id = $1) AND (CAST($2 AS TEXT) IS NULL OR account = $2) \
                   AND seq < $3 ORDER BY seq DESC LIMIT $4";
        let values = vec![
            Value::Text(query.key.as_ref().map(|key| key.as_str().to_owned())),
            Value::Text(query.account.as_ref().map(|account| account.as_str().to_owned())),
            Value::integer(query.before.unwrap_or(i64::MAX)),
            Value::integer(i64::from(limit)),
        ];
        let rows: Vec<AuditRow> = self.rows(sql, values).await?;
        let damaged = StateError::Damaged {
            what: "entry of the audit",
        };
        let events: Option<Vec<_>> = rows.into_iter().map(event).collect();
        events.ok_or(damaged)
    }

    /// Takes down that somebody asked a brand's store to let them in; `detail` names no address.
    ///
    /// # Errors
    /// [`StateError`].
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
        action: AuditAction::ALL.into_iter().find(|known| known.as_str() == action)?,
        key: key.map(|key| key.parse()).transpose().ok()?,
        account: account.map(|account| account.parse()).transpose().ok()?,
        detail: serde_json::from_str(&detail).ok()?,
    })
}
