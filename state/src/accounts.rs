//! Accounts of people who may sign in: one for each subject of an identity provider.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, WriteTransaction, values};
use crate::day::Day;
use crate::error::StateError;
use crate::keys::UsageEntry;
use crate::names::AccountId;
use crate::random;

const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_CHARS: usize = 16;

/// Issuer of accounts that sign in with the operator's links. The name cannot clash with an OpenID provider, whose
/// issuer is a URL.
pub const LOCAL_ISSUER: &str = "local";

/// Issuer of accounts that sign in with a mailed link. The subject is the e-mail address. The account's `email` is set
/// once such a link was used.
pub const MAIL_ISSUER: &str = "mail";

/// A person who has signed in, or may sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Id of the account: `acc_` and sixteen characters.
    pub id: AccountId,
    /// The identity provider: its URL, or [`LOCAL_ISSUER`] or [`MAIL_ISSUER`].
    pub issuer: String,
    /// The issuer's id of the owner. Issuers never reuse an id for another person.
    pub subject: String,
    /// The owner's e-mail address as last reported by the issuer, for display only.
    pub email: Option<String>,
    /// Time at which the account was created.
    pub created_at: Timestamp,
}

type AccountRow = (String, String, String, Option<String>, i64);

pub(crate) fn new_account_id() -> Result<AccountId, StateError> {
    let id: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
    let id = format!("acc_{}", String::from_utf8_lossy(&id));
    id.parse().map_err(|_| StateError::Damaged { what: "account" })
}

impl State {
    /// Finds the account of a provider's subject, or creates it. A given e-mail address replaces an older one.
    ///
    /// Only issuer and subject identify an account, because an address can change owners.
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

    /// Returns one account. `None` if the id is unknown.
    #[boxed]
    pub async fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        let sql = "SELECT id, issuer, subject, email, created_at FROM accounts WHERE id = $1";
        let rows: Vec<AccountRow> = self.rows(sql, values![id.as_str()]).await?;
        rows.into_iter().next().map(account).transpose()
    }

    /// Returns the counted requests of all keys of an account from `from` to `to`, both included, oldest first.
    #[boxed]
    pub async fn usage_of_account(&self, id: &AccountId, from: Day, to: Day) -> Result<Vec<UsageEntry>, StateError> {
        let sql = "SELECT usage.key_id, usage.day, usage.route, usage.requests FROM usage \
                   JOIN keys ON keys.id = usage.key_id WHERE keys.account = $1 AND usage.day BETWEEN $2 AND $3 \
                   ORDER BY usage.day, usage.route, usage.key_id";
        let values = values![id.as_str(), from.number(), to.number()];
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
    /// Returns the verified e-mail address: the owner signed in with a link that was mailed to it.
    #[must_use]
    pub fn proved_email(&self) -> Option<&str> {
        self.email.as_deref().filter(|_| self.issuer == MAIL_ISSUER)
    }

    /// Returns the display name of the owner: the e-mail address, or else the provider's subject.
    #[must_use]
    pub fn name(&self) -> &str {
        self.email.as_deref().unwrap_or(&self.subject)
    }
}

/// Finds or creates an account within a transaction. Audit entries are never deleted, so they contain no e-mail
/// address.
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
    let values = values![id.as_str(), issuer, subject, email.map(str::to_owned), now];
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
