use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::accounts::{MAIL_ISSUER, find_or_create};
use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, WriteTransaction, values};
use crate::email::EmailAddress;
use crate::error::StateError;
use crate::names::AccountId;
use crate::sessions::{IssuedSession, LinkHash, LinkToken, NewSession, begin_session};

/// Time for which ended links are stored. Uses of an ended link are audited.
const KEPT_MS: i64 = 7 * 86_400_000;
/// Maximum number of audited refusals per link. An expired link may be tried without limit.
const REFUSALS_AUDITED_MAX: i64 = 5;

/// The result of using a sign-in link.
#[derive(Debug)]
pub enum LinkUse {
    /// The user is signed in, and the link no longer works.
    SignedIn(Box<IssuedSession>),
    /// The link does not work.
    Refused(LinkRefusal),
}

data_model::named! {
    /// Reasons why a link does not work.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LinkRefusal {
        /// The link never existed, or has been deleted.
        Unknown = "unknown",
        /// The link was used before.
        Used = "used",
        /// The link has expired.
        Late = "late",
    }
}

impl State {
    /// Creates a link that signs in to the existing `account` once, within `lifetime`.
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

    /// Creates a link that signs in the owner of an e-mail address once, within `lifetime`. Creates the account too if
    /// it does not exist. An account without any sign-in is deleted with the last of its links.
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

    /// Signs in with a link and creates the session in the same transaction. Only one of several concurrent uses
    /// succeeds.
    ///
    /// Refusals of an existing link are audited, up to a limit. Refusals of an unknown link are not, because anybody
    /// could fill the audit with them.
    ///
    /// # Errors
    /// [`StateError`]. After [`StateError::Unavailable`], the link may be used up.
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
        let values = values![link.as_bytes(), now];
        let used: Option<(String,)> = writing.row(sql, values).await?;
        let outcome = match used {
            Some((account,)) => {
                let account = read_account(&account)?;
                // The use of the link proves that its holder reads the mail of the address.
                let sql = "UPDATE accounts SET email = subject WHERE id = $1 AND issuer = $2";
                let values = values![account.as_str(), MAIL_ISSUER];
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

/// Deletes links that ended long ago, and accounts of mailed links that nobody used.
async fn forget_over(writing: &mut WriteTransaction, now: Timestamp) -> Result<(), StateError> {
    let sql = "DELETE FROM sign_in_links WHERE ends_at <= $1";
    if writing.execute(sql, values![now.plus_millis(-KEPT_MS)]).await? > 0 {
        let sql = "DELETE FROM accounts WHERE issuer = $1 AND email IS NULL AND id NOT IN (SELECT account FROM sign_in_links)";
        writing.execute(sql, values![MAIL_ISSUER]).await?;
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
    let values = values![token.hash().as_bytes(), account.as_str(), now, ends_at];
    writing.execute(sql, values).await?;
    Ok(token)
}

async fn refuse(writing: &mut WriteTransaction, link: &LinkHash, now: Timestamp) -> Result<LinkRefusal, StateError> {
    let sql = "UPDATE sign_in_links SET refusals = refusals + 1 WHERE hash = $1 RETURNING account, used_at, refusals";
    let values = values![link.as_bytes()];
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
