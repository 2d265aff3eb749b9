//! Sign-in and the dashboard: a page at `/dashboard/` where callers create, rotate and revoke their own keys.
//!
//! Input: the state database, a clock, the limits of plans, and configuration. Output: routes for the page and for the
//! requests of its script under `/dashboard/api/`. A visitor of the market's page gets a guest session with the first
//! cart, which remains after sign-in. People sign in at an OpenID provider (feature `oidc`), with a link sent by mail
//! (feature `mail`), or with a link from the operator.
//!
//! Sessions are cookies for this host only, and the server stores only their hashes. Requests that change data must
//! come from the page itself. The crate never sees a password, never stores or logs a key, a token or a provider's
//! response, and never shows or changes data of other accounts. The only other site to which the crate redirects is the
//! configured provider.

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

/// Time zone and plan limits that the dashboard shows.
#[derive(Debug, Clone)]
pub struct Market {
    /// Time zone in which the market counts days.
    pub time_zone: TimeZone,
    /// Limits of a key that anyone can create.
    pub free: Arc<Allowance>,
    /// Limits of a key that the operator has granted.
    pub granted: Arc<Allowance>,
}

/// Handle of the dashboard. Clones share the same state.
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
    /// Mailer of sign-in links, if configured.
    mailer: Option<Mailer>,
    #[cfg(feature = "oidc")]
    provider: Option<oidc::Provider>,
}

impl Dashboard {
    /// Creates the dashboard after checking its configuration. The constructor contacts neither the state database nor
    /// a provider.
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

    /// Checks a configuration as [`Dashboard::new`] does.
    ///
    /// # Errors
    /// See [`Dashboard::new`].
    pub fn check(config: &DashboardConfig, clock: &Arc<dyn Clock>) -> Result<(), DashboardConfigError> {
        let public_url = PublicUrl::parse(&config.public_url)?;
        config.check()?;
        #[cfg(feature = "oidc")]
        oidc::Provider::new(&config.oidc, &public_url, Arc::clone(clock))?;
        #[cfg(not(feature = "oidc"))]
        let _ = (public_url, clock);
        Mailer::new(&config.mail)?;
        Ok(())
    }

    /// Returns the routes, which are not in the OpenAPI description, because only the page uses them.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        let assets = assets::routes(self.0.mails_page().is_some());
        assets.merge(routes::all(&self.0)).telling_networks()
    }

    /// Returns true if a sign-in provider is configured.
    #[must_use]
    pub fn has_provider(&self) -> bool {
        self.0.provider_name().is_some()
    }

    /// Returns the mailer, if sign-in links are sent by mail.
    #[must_use]
    pub fn mailer(&self) -> Option<&Mailer> {
        self.0.mailer.as_ref()
    }
}

impl Inner {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the path of the page with mails, if mails are shown instead of sent.
    fn mails_page(&self) -> Option<&'static str> {
        let kept = self.mailer.as_ref().and_then(Mailer::kept);
        kept.map(|_| assets::MAILS)
    }

    #[cfg(feature = "oidc")]
    fn provider_name(&self) -> Option<&str> {
        self.provider.as_ref().map(oidc::Provider::name)
    }

    #[cfg(not(feature = "oidc"))]
    const fn provider_name(&self) -> Option<&str> {
        None
    }

    /// Describes a new session for a sign-in by `method`. `client` is the browser's user agent.
    fn new_session(&self, method: SignInMethod, client: String, replaces: Option<SessionHash>) -> NewSession {
        NewSession {
            method,
            client,
            limits: self.session_limits,
            replaces,
        }
    }
}
