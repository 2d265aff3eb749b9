//! Accounts of those who may sign in: one for each subject of a provider.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, Value, WriteTransaction};
use crate::day::Day;
use crate::error::StateError;
use crate::keys::UsageEntry;
use crate::names::AccountId;
use crate::random;

const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_CHARS: usize = 16;

/// The issuer of accounts that sign in with the operator's links. No OpenID provider is called so: theirs are URLs.
pub const LOCAL_ISSUER: &str = "local";

/// The issuer of accounts of people who sign in with a link that was mailed to them: the subject is their address. It is told
/// as their address once they came with such a link.
pub const MAIL_ISSUER: &str = "mail";

/// Somebody who signed in, or may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Names it; `acc_` and sixteen characters.
    pub id: AccountId,
    /// The one who knows its owner: the address of a provider, or [`LOCAL_ISSUER`].
    pub issuer: String,
    /// The issuer's name for the owner; never given to anybody else.
    pub subject: String,
    /// The owner's address as it was last stated. It may be shown, and decides nothing.
    pub email: Option<String>,
    /// The moment at which the account was first known.
    pub created_at: Timestamp,
}

type AccountRow = (String, String, String, Option<String>, i64);

/// A new account's id.
pub(crate) fn new_account_id() -> Result<AccountId, StateError> {
    let id: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
    let id = format!("acc_{}", String::from_utf8_lossy(&id));
    id.parse().map_err(|_| StateError::Damaged { what: "account" })
}

impl State {
    /// The account of a provider's subject, made where there is none. An address that is stated now replaces an older
    /// one.
    ///
    /// Issuer and subject alone distinguish accounts: an address can change hands.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn find_or_create_account(
        &self,
        issuer: &str,
        subject: &str,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Account, StateError> {
        let mut writing = self.begin().await?;
        let account = find_or_create(&mut writing, issuer, subject, email, now).await?;
        writing.commit().await?;
        Ok(account)
    }

    /// One account; `None` where there is none of that id.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        let sql = "SELECT id, issuer, subject, email, created_at FROM accounts WHERE id = $1";
        let rows: Vec<AccountRow> = self.rows(sql, vec![Value::text(id.as_str())]).await?;
        rows.into_iter().next().map(account).transpose()
    }

    /// Requests that were counted of all keys of an account from one day to another, both included, oldest first.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn usage_of_account(&self, id: &AccountId, from: Day, to: Day) -> Result<Vec<UsageEntry>, StateError> {
        let sql = "SELECT usage.key_id, usage.day, usage.route, usage.requests FROM usage \
                   JOIN keys ON keys.id = usage.key_id WHERE keys.account = $1 AND usage.day BETWEEN $2 AND $3 \
                   ORDER BY usage.day, usage.route, usage.key_id";
        let values = vec![
            Value::text(id.as_str()),
            Value::integer(from.number()),
            Value::integer(to.number()),
        ];
        let rows: Vec<(String, i64, String, i64)> = self.rows(sql, values).await?;
        let read = |(key, day, route, requests): (String, i64, String, i64)| {
            Ok(UsageEntry {
                key: key.parse().map_err(|_| StateError::Damaged { what: "key id" })?,
                day: Day::from_number(day),
                route,
                requests: requests.unsigned_abs(),
            })
        };
        rows.into_iter().map(read).collect()
    }
}

impl Account {
    /// The address whose mail its owner reads, as they proved by signing in with a link that was mailed to it.
    #[must_use]
    pub fn proved_email(&self) -> Option<&str> {
        self.email.as_deref().filter(|_| self.issuer == MAIL_ISSUER)
    }

    /// The name of its owner where they are shown: their address, else what the provider calls them.
    #[must_use]
    pub fn name(&self) -> &str {
        self.email.as_deref().unwrap_or(&self.subject)
    }
}

/// The account of a provider's subject, within a change. The audit, which forgets nothing, has no address of a mailbox.
pub(crate) async fn find_or_create(
    writing: &mut WriteTransaction,
    issuer: &str,
    subject: &str,
    email: Option<&str>,
    now: Timestamp,
) -> Result<Account, StateError> {
    let id = new_account_id()?;
    let sql = "INSERT INTO accounts (id, issuer, subject, email, created_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (issuer, subject) DO UPDATE SET email = COALESCE(excluded.email, accounts.email) \
               RETURNING id, issuer, subject, email, created_at";
    let values = vec![
        Value::text(id.as_str()),
        Value::text(issuer),
        Value::text(subject),
        Value::Text(email.map(str::to_owned)),
        Value::integer(now.micros()),
    ];
    let row: Option<AccountRow> = writing.row(sql, values).await?;
    let account = account(row.ok_or(StateError::Damaged { what: "account" })?)?;
    if account.id == id {
        let audited = (issuer != MAIL_ISSUER).then_some(subject);
        let detail = json!({ "issuer": issuer, "subject": audited });
        let entry = Entry::of_account(AuditAction::AccountCreated, &account.id, detail);
        let actor = Actor::Account(account.id.clone());
        entry.append(writing, &actor, now).await?;
    }
    Ok(account)
}

fn account(row: AccountRow) -> Result<Account, StateError> {
    let (id, issuer, subject, email, created_at) = row;
    Ok(Account {
        id: id.parse().map_err(|_| StateError::Damaged { what: "account" })?,
        issuer,
        subject,
        email,
        created_at: Timestamp::from_micros(created_at),
    })
}
