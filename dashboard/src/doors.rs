use std::convert::Infallible;
use std::time::Duration;

use api::{ClientNetwork, Problem, Tries, TryKey};
use axum::extract::FromRequestParts;
use data_model::{ErrorCode, Timestamp};
use http::request::Parts;
use state::{AccountId, EmailAddress};

use crate::config::DashboardConfig;

/// Maximum number of invalid links and unknown sign-in callbacks per client and minute. Each costs a write to the state
/// database.
const WRONG_LINKS_MAX: u32 = 10;
/// Maximum number of cookies with an unknown session per client and minute.
const FORGED_MAX: u32 = 60;
/// Maximum number of changes of an account per minute. A person makes fewer, and a program in a loop cannot flood the
/// audit log or the list of keys.
const CHANGES_MAX: u32 = 30;
const MINUTE: Duration = Duration::from_secs(60);
/// Maximum number of mails per hour that a client network may request. Several people may share a network. One address
/// gets at most `MAILS_TO_MAX`, because a slow mail may be requested again.
const MAILS_FROM_MAX: u32 = 20;
const MAILS_TO_MAX: u32 = 5;
const HOUR: Duration = Duration::from_secs(3600);
/// Maximum number of provider sign-ins that a client may start within `PENDING_LIFETIME`.
#[cfg(feature = "oidc")]
const BEGUN_MAX: u32 = 20;
/// Maximum time that people may spend at the provider.
#[cfg(feature = "oidc")]
pub(crate) const PENDING_LIFETIME: Duration = Duration::from_secs(600);

/// Rate limits of the endpoints: by client network for public endpoints, and by account for the others.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) wrong_links: Tries<ClientNetwork>,
    pub(crate) forged_sessions: Tries<ClientNetwork>,
    pub(crate) guests: Tries<ClientNetwork>,
    #[cfg(feature = "oidc")]
    pub(crate) begun: Tries<ClientNetwork>,
    pub(crate) changes: Tries<AccountId>,
    mails_from: Tries<ClientNetwork>,
    mails_to: Tries<EmailAddress>,
    mails: Tries<()>,
}

impl Doors {
    pub(crate) fn new(config: &DashboardConfig) -> Self {
        Self {
            guests: Tries::new(config.guests.per_network_per_minute, MINUTE),
            mails_from: Tries::new(MAILS_FROM_MAX, HOUR),
            mails_to: Tries::new(MAILS_TO_MAX, HOUR),
            mails: Tries::new(config.mail.per_hour_max, HOUR),
            changes: Tries::new(CHANGES_MAX, MINUTE),
            wrong_links: Tries::new(WRONG_LINKS_MAX, MINUTE),
            forged_sessions: Tries::new(FORGED_MAX, MINUTE),
            #[cfg(feature = "oidc")]
            begun: Tries::new(BEGUN_MAX, PENDING_LIFETIME),
        }
    }

    /// Counts a mail request. Fails if the network, the address or all senders together exceed their limit.
    pub(crate) fn mail(&self, from: Sender, to: &EmailAddress, now: Timestamp) -> Result<(), Problem> {
        let (to, all) = (|| [TryKey::one(to.clone())], [TryKey::one(())]);
        from.may(&self.mails_from, now)?;
        self.mails_to.check(to(), now).map_err(too_many)?;
        self.mails.check(all, now).map_err(too_many)?;
        from.tried(&self.mails_from, now);
        self.mails_to.note(to(), now);
        self.mails.note(all, now);
        Ok(())
    }
}

fn too_many(wait: Duration) -> Problem {
    let detail = "Too many attempts in a short time.";
    Problem::new(ErrorCode::RateLimit).detail(detail).retry_after(wait)
}

/// Client network of a request, if known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender(pub(crate) Option<ClientNetwork>);

impl Sender {
    pub(crate) fn of(parts: &Parts) -> Self {
        Self(parts.extensions.get::<ClientNetwork>().copied())
    }

    /// Checks that this network has not made too many attempts.
    pub(crate) fn may(self, tries: &Tries<ClientNetwork>, now: Timestamp) -> Result<(), Problem> {
        tries.check(TryKey::of_network(self.0), now).map_err(too_many)
    }

    pub(crate) fn tried(self, tries: &Tries<ClientNetwork>, now: Timestamp) {
        tries.note(TryKey::of_network(self.0), now);
    }
}

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}
