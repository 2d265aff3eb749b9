use std::convert::Infallible;
use std::num::NonZeroU32;
use std::time::Duration;

use api::{ClientNetwork, Problem, Tries};
use axum::extract::FromRequestParts;
use data_model::{ErrorCode, Timestamp};
use http::request::Parts;
use state::AccountId;

use crate::config::GuestsConfig;

/// Wrong links, and sign-ins that came back and were not begun, of one client in a minute: each costs a change of the state.
const WRONG_LINKS_MAX: u32 = 10;
/// Cookies of sessions that there are not, of one client in a minute.
const FORGED_MAX: u32 = 60;
/// Changes that one account may make in a minute: more than a person makes, and few enough that neither the audit nor the
/// list of keys grows by a program that changes them in a loop.
const CHANGES_MAX: u32 = 30;
const MINUTE: Duration = Duration::from_secs(60);
/// Sign-ins that one client begins at the provider while one may last.
#[cfg(feature = "oidc")]
const BEGUN_MAX: u32 = 20;

/// How often client networks come to the doors that anybody may come to, and accounts to theirs.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) wrong_links: Tries<ClientNetwork>,
    pub(crate) forged_sessions: Tries<ClientNetwork>,
    pub(crate) guests: Tries<ClientNetwork>,
    #[cfg(feature = "oidc")]
    pub(crate) begun: Tries<ClientNetwork>,
    pub(crate) changes: Tries<AccountId>,
}

impl Doors {
    pub(crate) fn new(guests: &GuestsConfig) -> Self {
        Self {
            guests: Tries::new(guests.per_network_per_minute, MINUTE),
            changes: Tries::new(CHANGES_MAX, MINUTE),
            wrong_links: Tries::new(WRONG_LINKS_MAX, MINUTE),
            forged_sessions: Tries::new(FORGED_MAX, MINUTE),
            #[cfg(feature = "oidc")]
            begun: Tries::new(BEGUN_MAX, crate::routes::PENDING_LIFETIME),
        }
    }
}

/// The network that a request comes from, where it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender(pub(crate) Option<ClientNetwork>);

impl Sender {
    pub(crate) fn of(parts: &Parts) -> Self {
        Self(parts.extensions.get::<ClientNetwork>().copied())
    }

    /// Lets whoever comes from there try, where it was not tried too often.
    pub(crate) fn may(self, tries: &Tries<ClientNetwork>, now: Timestamp) -> Result<(), Problem> {
        let waits = tries.check(self.levels(), now);
        waits.map_err(|wait| {
            let detail = "Too many tries in a short time.";
            Problem::new(ErrorCode::RateLimit).detail(detail).retry_after(wait)
        })
    }

    /// Takes a try of whoever comes from there into account.
    pub(crate) fn tried(self, tries: &Tries<ClientNetwork>, now: Timestamp) {
        tries.note(self.levels(), now);
    }

    fn levels(self) -> impl Iterator<Item = (ClientNetwork, NonZeroU32)> {
        self.0.into_iter().flat_map(ClientNetwork::levels)
    }
}

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}
