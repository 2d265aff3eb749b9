use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::audit::{Actor, AuditAction, Entry};
use crate::database::{State, Value, Writing};
use crate::error::StateError;
use crate::keys::AccountId;
use crate::sessions::{IssuedSession, LinkHash, LinkToken, NewSession, begin_session};

/// For how long links that ended are kept, to tell who tries them.
const KEPT_MS: i64 = 7 * 86_400_000;
/// How many tries of one link are written down: whoever has a link that is over may try it without end.
const REFUSALS_AUDITED_MAX: i64 = 5;

/// What came of a link that somebody used.
#[derive(Debug)]
pub enum LinkUse {
    /// They are signed in, and the link works no more.
    SignedIn(Box<IssuedSession>),
    /// The link does not work.
    Refused(LinkRefusal),
}

/// Why a link does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRefusal {
    /// Nobody made it, or long ago.
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
        let token = LinkToken::generate()?;
        let lifetime_ms = i64::try_from(lifetime.as_millis()).unwrap_or(KEPT_MS).min(KEPT_MS);
        let ends_at = now.plus_millis(lifetime_ms);
        let mut writing = self.begin().await?;
        let forgotten = vec![Value::integer(now.plus_millis(-KEPT_MS).micros())];
        writing
            .execute("DELETE FROM sign_in_links WHERE ends_at <= $1", forgotten)
            .await?;
        let sql = "INSERT INTO sign_in_links (hash, account, created_at, ends_at) VALUES ($1, $2, $3, $4)";
        let values = vec![
            Value::Bytes(token.hash().as_bytes().to_vec()),
            Value::text(account.as_str()),
            Value::integer(now.micros()),
            Value::integer(ends_at.micros()),
        ];
        writing.execute(sql, values).await?;
        let detail = json!({ "ends_at": ends_at });
        let entry = Entry::of_account(AuditAction::LinkCreated, account, detail);
        entry.append(&mut writing, actor, now).await?;
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
                let issued = begin_session(&mut writing, &account, session, now).await?;
                LinkUse::SignedIn(Box::new(issued))
            }
            None => LinkUse::Refused(refuse(&mut writing, link, now).await?),
        };
        writing.commit().await?;
        Ok(outcome)
    }
}

/// Why a link was not taken, and the note of it.
async fn refuse(writing: &mut Writing, link: &LinkHash, now: Timestamp) -> Result<LinkRefusal, StateError> {
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
