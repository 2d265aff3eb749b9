use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use data_model::Timestamp;
use openidconnect::core::{
    CoreClient, CoreClientAuthMethod, CoreIdToken, CoreIdTokenClaims, CoreIdTokenVerifier, CoreJwsSigningAlgorithm,
    CoreRequestTokenError, CoreTokenResponse, CoreUserInfoClaims,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, OAuth2TokenResponse, SignatureVerificationError,
    SubjectIdentifier, TokenResponse, UserInfoUrl,
};
use serde::Deserialize;

use super::Provider;
use super::error::{HttpError, ProviderError};
use super::metadata::OidcMetadata;
use super::proof::Proof;
use crate::config::is_trustworthy;

/// Maximum length of a subject: 255 ASCII characters (OpenID Connect Core 1.0, section 2).
const SUBJECT_BYTES_MAX: usize = 255;
/// Maximum length of an e-mail address (RFC 5321).
const EMAIL_BYTES_MAX: usize = 254;
/// Maximum difference between a token's issue time and now, because clocks differ. Tokens are fetched as soon as they
/// are issued.
const ISSUED_MAX: TimeDelta = TimeDelta::minutes(10);

/// Maximum number of seconds by which the provider's clock may be ahead of this server's.
const CLOCKS_DIFFER_S: f64 = 60.0;

/// Accepted signature algorithms: only those with a private key of the provider. Shared secrets and unsigned tokens are
/// rejected.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Person who signed in at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    /// E-mail address to display, if the provider states one.
    pub(crate) email: Option<String>,
}

impl Provider {
    /// Redeems the authorization code and returns the person who signed in.
    pub(crate) async fn redeem(&self, code: String, proof: &Proof) -> Result<Subject, ProviderError> {
        let now = self.clock.now();
        let known = self.metadata.get(&self.issuer, &self.http, now).await?;
        let tokens = self.exchange(&known, code, proof).await?;
        let id_token = tokens
            .id_token()
            .ok_or(ProviderError::Invalid("the answer contains no ID token"))?;
        let verified = match self.verify(&known, id_token, proof, now) {
            Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) => {
                let newer = self.metadata.newer(&self.issuer, &self.http, now).await?;
                self.verify(&newer, id_token, proof, now)
            }
            verified => verified,
        };
        let claims = verified.map_err(|error| refused(&error))?;
        if !has_begun(id_token, now) {
            return Err(ProviderError::Invalid("the ID token is not valid yet"));
        }
        let mut subject = self.subject(claims)?;
        if subject.email.is_none() {
            subject.email = self.email(&known, &tokens, &subject).await;
        }
        Ok(subject)
    }

    /// Reads the e-mail address from the provider's userinfo endpoint, if the scope was requested. The address is only
    /// displayed, so a failure does not matter.
    async fn email(&self, known: &OidcMetadata, tokens: &CoreTokenResponse, subject: &Subject) -> Option<String> {
        let is_asked = self.scopes.iter().any(|scope| scope.as_str() == "email");
        let is_https = |endpoint: &UserInfoUrl| is_trustworthy(endpoint.url());
        known
            .userinfo_endpoint()
            .filter(|endpoint| is_asked && is_https(endpoint))?;
        let client = CoreClient::from_provider_metadata(known.clone(), self.client_id.clone(), None);
        let expected = SubjectIdentifier::new(subject.subject.clone());
        let request = client.user_info(tokens.access_token().clone(), Some(expected)).ok()?;
        let told: CoreUserInfoClaims = request.request_async(&self.http).await.ok()?;
        told.email().and_then(|email| shown(email.as_str()))
    }

    async fn exchange(
        &self,
        known: &OidcMetadata,
        code: String,
        proof: &Proof,
    ) -> Result<CoreTokenResponse, ProviderError> {
        let is_https = known
            .token_endpoint()
            .is_some_and(|endpoint| is_trustworthy(endpoint.url()));
        if !is_https {
            return Err(ProviderError::Invalid("the token endpoint is not https"));
        }
        let secret = self.client_secret.clone();
        let client = CoreClient::from_provider_metadata(known.clone(), self.client_id.clone(), secret)
            .set_redirect_uri(self.redirect.clone())
            .set_auth_type(auth_type(known));
        let request = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|_| ProviderError::Invalid("the provider has no token endpoint"))?
            .set_pkce_verifier(proof.verifier());
        request.request_async(&self.http).await.map_err(not_redeemed)
    }

    fn verify<'t>(
        &self,
        known: &OidcMetadata,
        token: &'t CoreIdToken,
        proof: &Proof,
        now: Timestamp,
    ) -> Result<&'t CoreIdTokenClaims, ClaimsVerificationError> {
        let now = DateTime::<Utc>::from_timestamp_micros(now.micros()).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let issued = move |at: DateTime<Utc>| {
            let fits = (now - at).abs() <= ISSUED_MAX;
            fits.then_some(())
                .ok_or_else(|| "the issue time is too far from the current time".to_owned())
        };
        // The verifier does not get the client secret, so a signature made with that secret is never accepted.
        let keys = known.jwks().clone();
        let verifier = CoreIdTokenVerifier::new_public_client(self.client_id.clone(), self.issuer.clone(), keys)
            .set_allowed_algs(ALGORITHMS)
            .set_time_fn(move || now)
            .set_issue_time_verifier_fn(issued);
        token.claims(&verifier, &proof.nonce())
    }

    fn subject(&self, claims: &CoreIdTokenClaims) -> Result<Subject, ProviderError> {
        if claims.authorized_party().is_some_and(|party| *party != self.client_id) {
            return Err(ProviderError::Invalid("the ID token was issued for another client"));
        }
        let subject = claims.subject().as_str();
        let fits = (1..=SUBJECT_BYTES_MAX).contains(&subject.len())
            && subject.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if !fits {
            return Err(ProviderError::Invalid("the ID token names no user"));
        }
        Ok(Subject {
            issuer: self.issuer.as_str().to_owned(),
            subject: subject.to_owned(),
            email: claims.email().and_then(|email| shown(email.as_str())),
        })
    }
}

/// True unless the token's `nbf` claim is in the future (RFC 7519, section 4.1.5). OpenID Connect does not define this
/// claim, so it is read from the text of the token, whose signature is already verified.
fn has_begun(token: &CoreIdToken, now: Timestamp) -> bool {
    #[derive(Deserialize)]
    struct NotBeforeClaim {
        nbf: Option<f64>,
    }
    let text = token.to_string();
    let claims = text
        .split('.')
        .nth(1)
        .and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let begin = claims.and_then(|claims| serde_json::from_slice::<NotBeforeClaim>(&claims).ok());
    let now_s = now.micros() as f64 / 1e6;
    begin.is_some_and(|NotBeforeClaim { nbf }| nbf.is_none_or(|begin_s| begin_s <= now_s + CLOCKS_DIFFER_S))
}

/// Returns the e-mail address if it can be displayed.
fn shown(email: &str) -> Option<String> {
    let email = email.trim();
    let fits = (1..=EMAIL_BYTES_MAX).contains(&email.len()) && !email.chars().any(char::is_control);
    fits.then(|| email.to_owned())
}

/// Returns the way to send the client secret: basic authentication, unless the provider accepts the secret only in the
/// body.
fn auth_type(known: &OidcMetadata) -> AuthType {
    let methods = known.token_endpoint_auth_methods_supported();
    let takes = |method| methods.is_none_or(|methods| methods.contains(&method));
    if !takes(CoreClientAuthMethod::ClientSecretBasic) && takes(CoreClientAuthMethod::ClientSecretPost) {
        AuthType::RequestBody
    } else {
        AuthType::BasicAuth
    }
}

fn not_redeemed(error: CoreRequestTokenError<HttpError>) -> ProviderError {
    match error {
        CoreRequestTokenError::Request(error) => ProviderError::Unavailable(Some(Box::new(error))),
        // The log contains the provider's error code, but no request parameters.
        CoreRequestTokenError::ServerResponse(response) => ProviderError::Refused(response.error().to_string()),
        CoreRequestTokenError::Parse(..) | CoreRequestTokenError::Other(_) => {
            ProviderError::Invalid("the answer to the authorization code cannot be read")
        }
    }
}

fn refused(error: &ClaimsVerificationError) -> ProviderError {
    ProviderError::Invalid(match error {
        ClaimsVerificationError::Expired(_) => "the ID token is too old or too new",
        ClaimsVerificationError::InvalidAudience(_) => "the ID token was issued for a different audience",
        ClaimsVerificationError::InvalidIssuer(_) => "the ID token was issued by a different issuer",
        ClaimsVerificationError::InvalidNonce(_) => "the ID token was issued for a different sign-in",
        ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoSignature) => {
            "the ID token is not signed"
        }
        ClaimsVerificationError::SignatureVerification(_) => "the ID token is not signed by the key that it names",
        _ => "the ID token is not acceptable",
    })
}
