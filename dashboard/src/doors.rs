use std::convert::Infallible;
use std::time::Duration;

use api::{ClientNetwork, Problem, Tries, TryKey};
use axum::extract::FromRequestParts;
use data_model::{ErrorCode, Timestamp};
use http::request::Parts;
use state::{AccountId, EmailAddress};

use crate::config::DashboardConfig;

/// Wrong links, and sign-ins that came back and were not begun, of one client in a minute: each costs a change of the state.
const WRONG_LINKS_MAX: u32 = 10;
/// Cookies of sessions that there are not, of one client in a minute.
const FORGED_MAX: u32 = 60;
/// Changes that one account may make in a minute: more than a person makes, and few enough that neither the audit nor the
/// list of keys grows by a program that changes them in a loop.
const CHANGES_MAX: u32 = 30;
const MINUTE: Duration = Duration::from_secs(60);
/// Mails that one client asks for in an hour, and that one address gets: people who share a network, and somebody whose mails
/// are slow.
const MAILS_FROM_MAX: u32 = 20;
const MAILS_TO_MAX: u32 = 5;
const HOUR: Duration = Duration::from_secs(3600);
/// Sign-ins that one client begins at the provider while one may last.
#[cfg(feature = "oidc")]
const BEGUN_MAX: u32 = 20;
/// Time that people may take at the provider.
#[cfg(feature = "oidc")]
pub(crate) const PENDING_LIFETIME: Duration = Duration::from_secs(600);

/// Counts of how often client networks come to the doors that anybody may come to, and accounts to theirs.
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

    /// Lets one more mail be asked for, where neither that network, nor that address, nor all together had too many.
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
    let detail = "Too many tries in a short time.";
    Problem::new(ErrorCode::RateLimit).detail(detail).retry_after(wait)
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
        tries.check(TryKey::of_network(self.0), now).map_err(too_many)
    }

    /// Takes a try of whoever comes from there into account.
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
