use std::sync::Arc;

use data_model::Timestamp;
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode, CoreResponseType,
    CoreSubjectIdentifierType,
};
use openidconnect::{AdditionalProviderMetadata, DiscoveryError, IssuerUrl, ProviderMetadata};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::error::{HttpError, ProviderError};
use super::http::ProviderHttp;

/// Time for which the provider's configuration and keys are cached.
const FRESH_MS: i64 = 3_600_000;
/// Time for which old configuration and keys are used while the provider does not respond.
const STALE_MS: i64 = 24 * 3_600_000;
/// Minimum pause after a failed request to the provider, and between two requests for its keys.
const PAUSE_MS: i64 = 15_000;

/// Provider metadata beyond the fields of OpenID Connect.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OtherMetadata {
    /// Field of RFC 9207.
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl OtherMetadata {
    /// True if every response of the provider names its issuer.
    pub(super) const fn names_issuer(&self) -> bool {
        self.authorization_response_iss_parameter_supported
    }
}

impl AdditionalProviderMetadata for OtherMetadata {}

/// Provider configuration, including its keys.
pub(super) type OidcMetadata = ProviderMetadata<
    OtherMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

#[derive(Debug, Default)]
pub(super) struct Metadata(Mutex<MetadataCache>);

#[derive(Debug, Default)]
struct MetadataCache {
    known: Option<(Arc<OidcMetadata>, Timestamp)>,
    failed_at: Option<Timestamp>,
}

impl Metadata {
    /// Returns the provider's metadata, which is read again if it is old. While the provider does not respond, old
    /// metadata is used for up to a day.
    pub(super) async fn get(
        &self,
        issuer: &IssuerUrl,
        http: &ProviderHttp,
        now: Timestamp,
    ) -> Result<Arc<OidcMetadata>, ProviderError> {
        let mut read = self.0.lock().await;
        if let Some((known, at)) = &read.known
            && is_within(*at, now, FRESH_MS)
        {
            return Ok(Arc::clone(known));
        }
        let stale = read.known.clone().filter(|(_, at)| is_within(*at, now, STALE_MS));
        if read.failed_at.is_some_and(|at| is_within(at, now, PAUSE_MS)) {
            return stale.map(|(known, _)| known).ok_or(ProviderError::Unavailable(None));
        }
        match (read.discover(issuer, http, now).await, stale) {
            (Err(error), Some((known, _))) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    error,
                    "the sign-in provider's configuration cannot be read again: the previous configuration is kept"
                );
                Ok(known)
            }
            (discovered, _) => discovered,
        }
    }

    /// Reads the metadata again after a token with an unknown key, because providers replace their keys.
    pub(super) async fn newer(
        &self,
        issuer: &IssuerUrl,
        http: &ProviderHttp,
        now: Timestamp,
    ) -> Result<Arc<OidcMetadata>, ProviderError> {
        let mut read = self.0.lock().await;
        // Anyone can send tokens with unknown keys, so the requests to the provider are limited.
        match &read.known {
            Some((known, at)) if is_within(*at, now, PAUSE_MS) => Ok(Arc::clone(known)),
            _ => read.discover(issuer, http, now).await,
        }
    }
}

impl MetadataCache {
    async fn discover(
        &mut self,
        issuer: &IssuerUrl,
        http: &ProviderHttp,
        now: Timestamp,
    ) -> Result<Arc<OidcMetadata>, ProviderError> {
        match OidcMetadata::discover_async(issuer.clone(), http).await {
            Ok(known) => {
                let known = Arc::new(known);
                self.failed_at = None;
                self.known = Some((Arc::clone(&known), now));
                Ok(known)
            }
            Err(error) => {
                self.failed_at = Some(now);
                Err(refused(error))
            }
        }
    }
}

fn is_within(at: Timestamp, now: Timestamp, millis: i64) -> bool {
    (0..millis).contains(&now.millis_since(at))
}

fn refused(error: DiscoveryError<HttpError>) -> ProviderError {
    match error {
        DiscoveryError::Request(error) => ProviderError::Unavailable(Some(Box::new(error))),
        DiscoveryError::Response(status, ..) if status.is_server_error() => ProviderError::Unavailable(None),
        DiscoveryError::Validation(_) => ProviderError::Invalid("the provider's configuration names another issuer"),
        _ => ProviderError::Invalid("the provider's configuration or keys cannot be read"),
    }
}
