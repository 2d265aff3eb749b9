//! The place to sign in: a page at `/dashboard/` on which callers make, rotate and revoke their own keys.
//!
//! In: the state, a clock, what plans allow, and configuration. Out: routes for one edge: the page, and what its script asks
//! under `/dashboard/api/`. A visitor of the market's page gets a guest's session with the first cart; signing in takes the
//! cart along. People sign in at an OpenID provider (feature `oidc`), with a link that is mailed to them (feature `mail`), or with
//! one that the operator hands out.
//!
//! Sessions are cookies that only this host gets, kept on the server as hashes; whatever changes something must come from
//! the page itself. The crate never sees a password, never keeps or logs a key, a token or a provider's answer, never shows
//! or touches what belongs to another account, and never redirects to another site but the configured provider.

mod answer;
mod assets;
mod config;
mod cookies;
mod doors;
mod local_path;
#[cfg(feature = "oidc")]
mod oidc;
mod own_page;
mod routes;
mod session;

use std::sync::Arc;
use std::time::Duration;

use api::{Allowance, OpenRouter};
use data_model::{Clock, TimeZone, Timestamp};
use mailer::Mailer;
use state::{NewSession, SessionHash, SessionLimits, SignInMethod, State};

use crate::config::PublicUrl;
pub use crate::config::{
    DashboardConfig, DashboardConfigError, GuestsConfig, OidcConfig, check_public_url, link_address,
};
use crate::doors::Doors;

/// The facts of the market and its plans that the dashboard shows.
#[derive(Debug, Clone)]
pub struct Market {
    /// The time zone of its days.
    pub time_zone: TimeZone,
    /// The limits of a key that anybody makes.
    pub free: Arc<Allowance>,
    /// The limits of a key that the operator granted.
    pub granted: Arc<Allowance>,
}

/// The dashboard; clones are the same one.
#[derive(Debug, Clone)]
pub struct Dashboard(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    state: State,
    clock: Arc<dyn Clock>,
    market: Market,
    public_url: PublicUrl,
    session_limits: SessionLimits,
    keys_per_account_max: u32,
    guests: GuestsConfig,
    doors: Doors,
    link_lifetime: Duration,
    /// The way that mails go, where links are mailed.
    mailer: Option<Mailer>,
    #[cfg(feature = "oidc")]
    provider: Option<oidc::Provider>,
}

impl Dashboard {
    /// Checks the configuration. Nothing is asked yet, neither the state nor a provider.
    ///
    /// # Errors
    /// [`DashboardConfigError`].
    pub fn new(
        state: State,
        clock: Arc<dyn Clock>,
        market: Market,
        config: DashboardConfig,
    ) -> Result<Self, DashboardConfigError> {
        let public_url = PublicUrl::parse(&config.public_url)?;
        config.check()?;
        #[cfg(feature = "oidc")]
        let provider = oidc::Provider::new(&config.oidc, &public_url, Arc::clone(&clock))?;
        Ok(Self(Arc::new(Inner {
            state,
            market,
            public_url,
            session_limits: config.session_limits(),
            keys_per_account_max: config.keys_per_account_max,
            guests: config.guests,
            doors: Doors::new(&config),
            link_lifetime: config.link_lifetime(),
            mailer: Mailer::new(&config.mail)?,
            #[cfg(feature = "oidc")]
            provider,
            clock,
        })))
    }

    /// The routes, which no interface description names: they are for the page alone.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        let assets = assets::routes(self.0.mails_page().is_some());
        assets.merge(routes::all(&self.0)).telling_networks()
    }

    /// True where people sign in at a provider.
    #[must_use]
    pub fn has_provider(&self) -> bool {
        self.0.provider_name().is_some()
    }

    /// The way of mails, where people have links to sign in with mailed to themselves.
    #[must_use]
    pub fn mailer(&self) -> Option<&Mailer> {
        self.0.mailer.as_ref()
    }
}

impl Inner {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The page that shows mails, where they are not sent.
    fn mails_page(&self) -> Option<&'static str> {
        let kept = self.mailer.as_ref().and_then(Mailer::kept);
        kept.map(|_| assets::MAILS)
    }

    /// The provider's name, where people sign in at one.
    #[cfg(feature = "oidc")]
    fn provider_name(&self) -> Option<&str> {
        self.provider.as_ref().map(oidc::Provider::name)
    }

    /// The provider's name, where people sign in at one.
    #[cfg(not(feature = "oidc"))]
    const fn provider_name(&self) -> Option<&str> {
        None
    }

    /// A session for whoever signed in by `method` in the browser that calls itself `client`.
    fn new_session(&self, method: SignInMethod, client: String, replaces: Option<SessionHash>) -> NewSession {
        NewSession {
            method,
            client,
            limits: self.session_limits,
            replaces,
        }
    }
}
