use std::fmt;

use data_model::Secret;
use mailer::{MailConfig, MailConfigError};
use serde::{Deserialize, Serialize};
use state::{LinkToken, SessionLimits};
use url::form_urlencoded::byte_serialize;
use url::{Host, Url};

use crate::local_path::LocalPath;

/// Settings of sign-in and sessions. An empty string means "not set".
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DashboardConfig {
    /// Address under which browsers reach this server, such as `https://market.example`. The scheme must be `https`,
    /// except for `http` on this machine. The program's setting `public_url` sets the address, not a key of this
    /// section.
    #[serde(skip)]
    pub public_url: String,
    /// OpenID provider. Without a provider, people sign in with links from the operator.
    pub oidc: OidcConfig,
    /// Settings of sign-in links that people request by mail.
    pub mail: MailConfig,
    /// Minutes without activity after which a session ends.
    pub session_idle_minutes: u32,
    /// Hours after which a session ends even if it is active.
    pub session_hours: u32,
    /// Minutes for which a sign-in link is valid.
    pub link_minutes: u32,
    /// Maximum number of keys that an account may have at the same time.
    pub keys_per_account_max: u32,
    /// Settings of guests, who have a cart without signing in.
    pub guests: GuestsConfig,
}

/// Sessions of visitors who do not sign in. A guest session allows only carts, discount codes and checkout.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuestsConfig {
    /// Hours after which a guest's session ends.
    pub hours: u32,
    /// Maximum number of guests.
    pub count_max: u32,
    /// Maximum number of guest sessions that one client network may start in a minute.
    pub per_network_per_minute: u32,
}

impl Default for GuestsConfig {
    fn default() -> Self {
        Self {
            hours: 72,
            count_max: 20_000,
            per_network_per_minute: 10,
        }
    }
}

/// OpenID provider, and the client registration of this server there.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OidcConfig {
    /// Issuer URL, exactly as in the provider's tokens. The provider's configuration is below this URL. Empty means no
    /// provider.
    pub issuer: String,
    /// Client id of this server at the provider.
    pub client_id: String,
    /// Client secret of this server; empty for a public client.
    #[serde(serialize_with = "Secret::masked_unless_empty")]
    pub client_secret: Secret,
    /// OAuth scopes to request besides `openid`, separated by spaces.
    pub scopes: String,
}

/// Configuration error that prevents the start of the dashboard. The messages contain no secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DashboardConfigError {
    /// Browsers would not keep session cookies for the public address.
    #[error(
        "public_url must be the URL of this server without a path, such as https://market.example; http is allowed \
         only for localhost and 127.0.0.1"
    )]
    PublicUrl,
    /// The named setting is zero, but must be positive.
    #[error("dashboard.{0} must be at least 1")]
    Zero(&'static str),
    /// A provider is configured, but the program was built without provider sign-in.
    #[error(
        "dashboard.oidc.issuer is set, but this program was built without OpenID Connect sign-in: build it with \
         `--features oidc`, or leave the issuer empty and sign in with `haat keys dashboard`"
    )]
    NotBuilt,
    /// The issuer URL is invalid or not trustworthy.
    #[error("dashboard.oidc.issuer must be an https URL; http is allowed only for localhost and 127.0.0.1")]
    Issuer,
    /// The client id is missing.
    #[error("dashboard.oidc.client_id is not set: set it to the client id of this server at the provider")]
    ClientId,
    /// The mail settings are invalid.
    #[error(transparent)]
    Mail(#[from] MailConfigError),
    /// The HTTP client cannot be created.
    #[error("the HTTP client for the provider cannot be created: {0}")]
    Client(String),
}

impl Default for DashboardConfig {
    fn default() -> Self {
        Self {
            public_url: String::new(),
            oidc: OidcConfig::default(),
            mail: MailConfig::default(),
            session_idle_minutes: 120,
            session_hours: 168,
            link_minutes: 15,
            keys_per_account_max: 20,
            guests: GuestsConfig::default(),
        }
    }
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret: Secret::new(""),
            scopes: "email".to_owned(),
        }
    }
}

impl DashboardConfig {
    /// Returns the time for which a sign-in link is valid.
    #[must_use]
    pub const fn link_lifetime(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.link_minutes as u64 * 60)
    }

    pub(crate) fn check(&self) -> Result<(), DashboardConfigError> {
        let numbers = [
            ("session_idle_minutes", self.session_idle_minutes),
            ("session_hours", self.session_hours),
            ("link_minutes", self.link_minutes),
            ("keys_per_account_max", self.keys_per_account_max),
            ("mail.per_hour_max", self.mail.per_hour_max),
            ("guests.hours", self.guests.hours),
            ("guests.count_max", self.guests.count_max),
            ("guests.per_network_per_minute", self.guests.per_network_per_minute),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(DashboardConfigError::Zero(name));
        }
        if cfg!(not(feature = "oidc")) && !self.oidc.issuer.is_empty() {
            return Err(DashboardConfigError::NotBuilt);
        }
        Ok(())
    }

    pub(crate) fn session_limits(&self) -> SessionLimits {
        SessionLimits {
            idle_ms: u64::from(self.session_idle_minutes) * 60_000,
            total_ms: u64::from(self.session_hours) * 3_600_000,
        }
    }
}

/// Checks that browsers keep session cookies for a server at this address.
///
/// # Errors
/// [`DashboardConfigError::PublicUrl`].
pub fn check_public_url(public_url: &str) -> Result<(), DashboardConfigError> {
    PublicUrl::parse(public_url).map(|_| ())
}

/// Returns the URL of a sign-in link. The token is in the fragment after `#`, which browsers never send, so it is in no
/// log and no `Referer` header.
///
/// # Errors
/// [`DashboardConfigError::PublicUrl`].
pub fn link_address(public_url: &str, token: &LinkToken) -> Result<String, DashboardConfigError> {
    Ok(address_of_link(&PublicUrl::parse(public_url)?, token, None))
}

/// Returns the URL of a sign-in link that continues at `return_to` after the sign-in.
pub(crate) fn address_of_link(public_url: &PublicUrl, token: &LinkToken, return_to: Option<&LocalPath>) -> String {
    let query = return_to.map_or_else(String::new, |path| {
        let path: String = byte_serialize(path.as_str().as_bytes()).collect();
        format!("?return_to={path}")
    });
    format!("{public_url}/dashboard/link{query}#{}", token.text())
}

/// Origin under which browsers reach this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    /// Origin such as `https://market.example`, in the spelling of the `Origin` header.
    origin: String,
}

impl PublicUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, DashboardConfigError> {
        let url = Url::parse(text).map_err(|_| DashboardConfigError::PublicUrl)?;
        let plain = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !plain || !is_trustworthy(&url) {
            return Err(DashboardConfigError::PublicUrl);
        }
        Ok(Self {
            origin: url.origin().ascii_serialization(),
        })
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the host such as `market.example`, with the port if the address has one.
    pub(crate) fn host(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, host)| host)
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

/// True if nobody can read or change the traffic on the way: the URL uses `https` or is on this machine.
pub(crate) fn is_trustworthy(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => url.host().is_some(),
        "http" => is_here,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_address_is_an_origin_that_browsers_keep_sessions_for() {
        for (text, origin) in [
            ("https://market.example", "https://market.example"),
            ("https://market.example:8443/", "https://market.example:8443"),
            ("https://market.example:443", "https://market.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://localhost", "http://localhost"),
        ] {
            assert_eq!(PublicUrl::parse(text).unwrap().origin(), origin, "{text}");
        }
        for text in [
            "",
            "market.example",
            "http://market.example",
            "http://127.0.0.1.market.example",
            "https://market.example/shop",
            "https://market.example/?a=b",
            "https://market.example/#a",
            "https://user@market.example",
            "ftp://localhost",
            "file:///",
        ] {
            assert_eq!(PublicUrl::parse(text), Err(DashboardConfigError::PublicUrl), "{text}");
        }
    }

    #[test]
    fn a_secret_of_the_configuration_is_shown_nowhere() {
        let config = DashboardConfig {
            oidc: OidcConfig {
                client_secret: Secret::new("a-client-secret"),
                ..OidcConfig::default()
            },
            mail: MailConfig {
                smtp_password: Secret::new("a-mail-secret"),
                ..MailConfig::default()
            },
            ..DashboardConfig::default()
        };
        let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
        assert!(!shown.contains("-secret"), "{shown}");
    }

    #[test]
    fn an_unknown_key_of_the_configuration_is_refused() {
        let read = serde_json::from_str::<DashboardConfig>(r#"{"session_minutes": 5}"#);
        assert!(read.unwrap_err().to_string().contains("session_minutes"));
        let read: DashboardConfig = serde_json::from_str(r#"{"oidc": {"issuer": "https://a.example"}}"#).unwrap();
        assert_eq!((read.oidc.scopes, read.session_hours), ("email".to_owned(), 168));
    }
}
