//! Sign-in at an OpenID provider by the authorization code flow with PKCE. Only data that is signed with the provider's
//! own keys is trusted.

mod error;
mod http;
mod metadata;
mod proof;
mod token;

use std::sync::Arc;

use data_model::Clock;
use openidconnect::core::{CoreAuthenticationFlow, CoreClient};
use openidconnect::{ClientId, ClientSecret, CsrfToken, IssuerUrl, PkceCodeChallenge, RedirectUrl, Scope};
use url::Url;

pub(crate) use self::error::ProviderError;
use self::http::ProviderHttp;
use self::metadata::Metadata;
pub(crate) use self::proof::Proof;
pub(crate) use self::token::Subject;
use crate::config::{DashboardConfigError, OidcConfig, PublicUrl, is_trustworthy};

/// Path to which the provider sends people back (redirect URI).
const CALLBACK: &str = "/dashboard/callback";

/// OpenID provider, and this server's client registration there.
#[derive(Debug)]
pub(crate) struct Provider {
    issuer: IssuerUrl,
    /// Host of the issuer, as shown to people.
    name: String,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect: RedirectUrl,
    scopes: Vec<Scope>,
    http: ProviderHttp,
    clock: Arc<dyn Clock>,
    metadata: Metadata,
}

impl Provider {
    /// Creates the configured provider, or `None` if none is configured.
    pub(crate) fn new(
        config: &OidcConfig,
        public_url: &PublicUrl,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, DashboardConfigError> {
        if config.issuer.is_empty() {
            return Ok(None);
        }
        let issuer = IssuerUrl::new(config.issuer.clone()).map_err(|_| DashboardConfigError::Issuer)?;
        let is_plain = issuer.url().query().is_none() && issuer.url().fragment().is_none();
        if !is_plain || !is_trustworthy(issuer.url()) {
            return Err(DashboardConfigError::Issuer);
        }
        if config.client_id.is_empty() {
            return Err(DashboardConfigError::ClientId);
        }
        let redirect = RedirectUrl::new(format!("{public_url}{CALLBACK}"));
        let secret = config.client_secret.expose();
        Ok(Some(Self {
            name: issuer.url().host_str().unwrap_or_default().to_owned(),
            client_id: ClientId::new(config.client_id.clone()),
            client_secret: (!secret.is_empty()).then(|| ClientSecret::new(secret.to_owned())),
            redirect: redirect.map_err(|_| DashboardConfigError::PublicUrl)?,
            scopes: config
                .scopes
                .split_whitespace()
                .map(|scope| Scope::new(scope.to_owned()))
                .collect(),
            http: ProviderHttp::new(issuer.url())?,
            clock,
            metadata: Metadata::default(),
            issuer,
        }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the authorization URL for the browser that has the secret of `proof`.
    pub(crate) async fn authorize(&self, proof: &Proof) -> Result<Url, ProviderError> {
        let known = self.metadata.get(&self.issuer, &self.http, self.clock.now()).await?;
        if !is_trustworthy(known.authorization_endpoint().url()) {
            return Err(ProviderError::Invalid("the authorization endpoint is not https"));
        }
        let client = CoreClient::from_provider_metadata(known.as_ref().clone(), self.client_id.clone(), None)
            .set_redirect_uri(self.redirect.clone());
        let (state, nonce) = (proof.state(), proof.nonce());
        let (url, _, _) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state),
                move || nonce,
            )
            .add_scopes(self.scopes.iter().cloned())
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&proof.verifier()))
            .url();
        Ok(url)
    }

    /// True if a response came from this provider (RFC 9207). A response that names another issuer is rejected, and so
    /// is one without an issuer if the provider always names its issuer.
    pub(crate) async fn gave(&self, issuer: Option<&str>) -> Result<bool, ProviderError> {
        match issuer {
            Some(named) => Ok(named == self.issuer.as_str()),
            None => {
                let known = self.metadata.get(&self.issuer, &self.http, self.clock.now()).await?;
                Ok(!known.additional_metadata().names_issuer())
            }
        }
    }
}
