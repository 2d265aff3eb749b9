use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::{Caller, KnownCaller, Via};
use data_model::{Classify, ErrorCode};
use state::{AccountId, Day, KeyId, State, StateError};
use tokio::time::timeout;

use super::Access;
use crate::schema::{CallerKind, Me, OwnAccount, OwnKey, RouteUsage, UsageToday};
use crate::usage::UsageMeter;

/// Maximum time to wait for the state.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Reasons why a caller's own data cannot be returned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeError {
    /// The caller is not identified.
    #[error("the caller is not identified")]
    Anonymous,
    /// The state does not respond, or responds too late.
    #[error("the state does not answer")]
    Unavailable(#[source] Option<StateError>),
    /// The state failed, or no longer has the caller who was just identified.
    #[error("the caller's key and account cannot be read")]
    Unreadable(#[source] Option<StateError>),
}

impl Classify for MeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Anonymous => ErrorCode::MissingCredentials,
            Self::Unavailable(_) => ErrorCode::NotReady,
            Self::Unreadable(_) => ErrorCode::Internal,
        }
    }
}

impl From<StateError> for MeError {
    fn from(error: StateError) -> Self {
        if error.is_transient() {
            Self::Unavailable(Some(error))
        } else {
            Self::Unreadable(Some(error))
        }
    }
}

impl Access {
    /// Returns the identity of `caller` with today's requests: those in the state and those that this server has not
    /// written yet.
    ///
    /// # Errors
    /// Returns a [`MeError`].
    pub(crate) async fn me(&self, caller: &Caller) -> Result<Me, MeError> {
        let known = caller.known().ok_or(MeError::Anonymous)?;
        let (state, meter) = self.0.known.as_ref().ok_or(MeError::Unavailable(None))?;
        let asking = timeout(ANSWER_TIMEOUT, read(state, meter, known));
        let (key, account, usage_today) = asking.await.map_err(|_| MeError::Unavailable(None))??;
        Ok(Me {
            kind: match known.via {
                Via::Key { .. } => CallerKind::Key,
                Via::Session | Via::Guest { .. } => CallerKind::Session,
            },
            key,
            account,
            usage_today,
            limits: self.quota(caller).await,
        })
    }
}

type OwnDetails = (Option<OwnKey>, Option<OwnAccount>, UsageToday);

async fn read(state: &State, meter: &UsageMeter, known: &Arc<KnownCaller>) -> Result<OwnDetails, MeError> {
    let day = meter.today();
    let account = known.id.as_account();
    let account: Option<AccountId> = account.and_then(|account| account.parse().ok());
    let own_account = match &account {
        Some(id) => Some(own_account(state, id).await?),
        None => None,
    };
    let (key, by_route) = match (&known.via, &account) {
        (Via::Key { id, .. }, _) => {
            let id: KeyId = id.parse().map_err(|_| MeError::Unreadable(None))?;
            let by_route = usage_of_key(state, meter, &id, day).await?;
            (Some(own_key(state, &id).await?), by_route)
        }
        (Via::Session | Via::Guest { .. }, Some(account)) => {
            (None, usage_of_account(state, meter, account, day).await?)
        }
        (Via::Session | Via::Guest { .. }, None) => return Err(MeError::Unreadable(None)),
    };
    Ok((key, own_account, usage(day, by_route)))
}

async fn own_account(state: &State, id: &AccountId) -> Result<OwnAccount, StateError> {
    // A key may belong to an account that never signed in.
    let account = state.account(id).await?;
    Ok(OwnAccount {
        id: id.as_str().to_owned(),
        email: account.and_then(|account| account.email),
    })
}

async fn own_key(state: &State, id: &KeyId) -> Result<OwnKey, MeError> {
    let key = state.key(id).await?.ok_or(MeError::Unreadable(None))?;
    Ok(OwnKey {
        id: key.id.as_str().to_owned(),
        name: key.name.as_str().to_owned(),
        plan: key.plan.as_str(),
        hint: key.hint,
        created_at: key.created_at,
        ends_at: key.ends_at,
    })
}

async fn usage_of_key(
    state: &State,
    meter: &UsageMeter,
    id: &KeyId,
    day: Day,
) -> Result<BTreeMap<String, u64>, StateError> {
    let written = async {
        let usage = state.usage_of_key(id, day, day).await?;
        let of_route = usage.into_iter().map(|usage| RouteUsage {
            route: usage.route,
            requests: usage.requests,
        });
        Ok(of_route.collect())
    };
    meter.with_unwritten(day, written, |key| key == id).await
}

async fn usage_of_account(
    state: &State,
    meter: &UsageMeter,
    id: &AccountId,
    day: Day,
) -> Result<BTreeMap<String, u64>, StateError> {
    let keys = state.keys(Some(id)).await?;
    let written = async {
        let usage = state.usage_of_account(id, day, day).await?;
        let of_route = usage.into_iter().map(|usage| RouteUsage {
            route: usage.route,
            requests: usage.requests,
        });
        Ok(of_route.collect())
    };
    let is_own = |key: &KeyId| keys.iter().any(|own| own.id == *key);
    meter.with_unwritten(day, written, is_own).await
}

fn usage(day: Day, by_route: BTreeMap<String, u64>) -> UsageToday {
    UsageToday {
        day: day.to_string(),
        requests: by_route.values().sum(),
        by_route: by_route
            .into_iter()
            .map(|(route, requests)| RouteUsage { route, requests })
            .collect(),
    }
}
