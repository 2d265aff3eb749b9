use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::accounts::{MAIL_ISSUER, find_or_create};
use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, Value, WriteTransaction};
use crate::email::EmailAddress;
use crate::error::StateError;
use crate::names::AccountId;
use crate::sessions::{IssuedSession, LinkHash, LinkToken, NewSession, begin_session};

/// The time for which links that ended are kept, so that a log shows the tries of them.
const KEPT_MS: i64 = 7 * 86_400_000;
/// Tries of one link that are written down: whoever has a link that is over may try it without end.
const REFUSALS_AUDITED_MAX: i64 = 5;

/// The outcome of a link that somebody used.
#[derive(Debug)]
pub enum LinkUse {
    /// They are signed in, and the link works no more.
    SignedIn(Box<IssuedSession>),
    /// The link does not work.
    Refused(LinkRefusal),
}

/// The reason why a link does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRefusal {
    /// The link was never made, or long ago.
    Unknown,
    /// It was used before.
    Used,
    /// Its time is over.
    Late,
}

impl LinkRefusal {
    /// The reason as the audit and metrics spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Used => "used",
            Self::Late => "late",
        }
    }
}

impl State {
    /// Makes a link that signs in to `account` once, within `lifetime`. The account must be there.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn create_sign_in_link(
        &self,
        account: &AccountId,
        lifetime: Duration,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<LinkToken, StateError> {
        let ends_at = end(lifetime, now);
        let mut writing = self.begin().await?;
        forget_over(&mut writing, now).await?;
        let token = insert(&mut writing, account, ends_at, now).await?;
        let detail = json!({ "ends_at": ends_at });
        let entry = Entry::of_account(AuditAction::LinkCreated, account, detail);
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        Ok(token)
    }

    /// Makes a link that signs in whoever reads the mail of an address, once, within `lifetime`; their account too, where
    /// there is none. An account that nobody ever signed in to is forgotten with the last of its links.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn create_mailed_link(
        &self,
        address: &EmailAddress,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<LinkToken, StateError> {
        let ends_at = end(lifetime, now);
        let mut writing = self.begin().await?;
        forget_over(&mut writing, now).await?;
        let account = find_or_create(&mut writing, MAIL_ISSUER, address.expose(), None, now).await?;
        let token = insert(&mut writing, &account.id, ends_at, now).await?;
        let detail = json!({ "ends_at": ends_at, "mailed_to": address.to_string() });
        let entry = Entry::of_account(AuditAction::LinkCreated, &account.id, detail);
        entry.append(&mut writing, &Actor::Nobody, now).await?;
        writing.commit().await?;
        Ok(token)
    }

    /// Signs in with a link: of several who use it at the same time, one. The session begins in the same change.
    ///
    /// A link that somebody made but that does not work any more is written down, a few times at most; one that nobody made
    /// is not, or anybody could fill the audit.
    ///
    /// # Errors
    /// [`StateError`]; with [`StateError::Unavailable`] the link may be used up nevertheless.
    #[boxed]
    pub async fn use_sign_in_link(
        &self,
        link: &LinkHash,
        session: NewSession,
        now: Timestamp,
    ) -> Result<LinkUse, StateError> {
        let mut writing = self.begin().await?;
        let sql = "UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND ends_at > $2 \
                   RETURNING account";
        let values = vec![Value::Bytes(link.as_bytes().to_vec()), Value::integer(now.micros())];
        let used: Option<(String,)> = writing.row(sql, values).await?;
        let outcome = match used {
            Some((account,)) => {
                let account = read_account(&account)?;
                // Whoever has the link reads the mail of the address.
                let sql = "UPDATE accounts SET email = subject WHERE id = $1 AND issuer = $2";
                let values = vec![Value::text(account.as_str()), Value::text(MAIL_ISSUER)];
                writing.execute(sql, values).await?;
                let issued = begin_session(&mut writing, &account, session, now).await?;
                LinkUse::SignedIn(Box::new(issued))
            }
            None => LinkUse::Refused(refuse(&mut writing, link, now).await?),
        };
        writing.commit().await?;
        Ok(outcome)
    }
}

fn end(lifetime: Duration, now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(lifetime.as_millis()).unwrap_or(KEPT_MS).min(KEPT_MS))
}

/// Forgets links that ended long ago, and accounts that were made for mailed ones which nobody used.
async fn forget_over(writing: &mut WriteTransaction, now: Timestamp) -> Result<(), StateError> {
    let over = Value::integer(now.plus_millis(-KEPT_MS).micros());
    let sql = "DELETE FROM sign_in_links WHERE ends_at <= $1";
    if writing.execute(sql, vec![over]).await? > 0 {
        let sql = "DELETE FROM accounts WHERE issuer = $1 AND email IS NULL AND id NOT IN (SELECT account FROM sign_in_links)";
        writing.execute(sql, vec![Value::text(MAIL_ISSUER)]).await?;
    }
    Ok(())
}

async fn insert(
    writing: &mut WriteTransaction,
    account: &AccountId,
    ends_at: Timestamp,
    now: Timestamp,
) -> Result<LinkToken, StateError> {
    let token = LinkToken::generate()?;
    let sql = "INSERT INTO sign_in_links (hash, account, created_at, ends_at) VALUES ($1, $2, $3, $4)";
    let values = vec![
        Value::Bytes(token.hash().as_bytes().to_vec()),
        Value::text(account.as_str()),
        Value::integer(now.micros()),
        Value::integer(ends_at.micros()),
    ];
    writing.execute(sql, values).await?;
    Ok(token)
}

/// Notes the reason why a link was not taken.
async fn refuse(writing: &mut WriteTransaction, link: &LinkHash, now: Timestamp) -> Result<LinkRefusal, StateError> {
    let sql = "UPDATE sign_in_links SET refusals = refusals + 1 WHERE hash = $1 RETURNING account, used_at, refusals";
    let values = vec![Value::Bytes(link.as_bytes().to_vec())];
    let known: Option<(String, Option<i64>, i64)> = writing.row(sql, values).await?;
    let Some((account, used_at, refusals)) = known else {
        return Ok(LinkRefusal::Unknown);
    };
    let why = if used_at.is_some() {
        LinkRefusal::Used
    } else {
        LinkRefusal::Late
    };
    if refusals <= REFUSALS_AUDITED_MAX {
        let account = read_account(&account)?;
        let entry = Entry::of_account(
            AuditAction::SignInRefused,
            &account,
            json!({ "method": "link", "why": why }),
        );
        entry.append(writing, &Actor::Nobody, now).await?;
    }
    Ok(why)
}

fn read_account(text: &str) -> Result<AccountId, StateError> {
    text.parse().map_err(|_| StateError::Damaged { what: "account" })
}
