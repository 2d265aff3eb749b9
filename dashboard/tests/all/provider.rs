//! Fake OpenID provider on this machine, whose behaviour tests can change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use data_model::Clock;
use http::{HeaderMap, StatusCode, header};
use kit::SetClock;
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

pub(crate) const CLIENT_ID: &str = "haat";
pub(crate) const CLIENT_SECRET: &str = "a client: secret";

/// Signature of the fake provider's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Signature {
    /// The published key signs.
    #[default]
    Own,
    /// Another key signs and has the id of the published key.
    Other,
    /// A key that is embedded in the token signs.
    Embedded,
    /// A new key signs, which the provider publishes from now on.
    Rotated,
    /// The token has no signature.
    None,
    /// The client's secret signs.
    Secret,
    /// The provider's public key signs as a shared secret.
    PublicKeyAsSecret,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ProviderFaults {
    /// Claims that replace those of the tokens; null removes a claim.
    pub(crate) claims: Value,
    /// Fields that replace those of the provider's metadata.
    pub(crate) metadata: Value,
    pub(crate) signature: Signature,
    /// HTTP status of every response.
    pub(crate) status: Option<u16>,
    /// Number of bytes added at the end of each response.
    pub(crate) padding: usize,
    /// True to redirect every request to another address.
    pub(crate) redirect: bool,
}

struct Code {
    nonce: String,
    challenge: String,
}

struct ProviderState {
    issuer: String,
    clock: Arc<SetClock>,
    lies: Mutex<ProviderFaults>,
    codes: Mutex<HashMap<String, Code>>,
    asked: Mutex<Vec<&'static str>>,
}

#[derive(Clone)]
pub(crate) struct Provider(Arc<ProviderState>);

impl Provider {
    pub(crate) async fn start(clock: &Arc<SetClock>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = Self(Arc::new(ProviderState {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            clock: Arc::clone(clock),
            lies: Mutex::default(),
            codes: Mutex::default(),
            asked: Mutex::default(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/jwks", get(jwks))
            .route("/token", post(token))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.0.issuer
    }

    pub(crate) fn lie(&self, lies: ProviderFaults) {
        *self.0.lies.lock().unwrap() = lies;
    }

    fn lies(&self) -> ProviderFaults {
        self.0.lies.lock().unwrap().clone()
    }

    /// Returns the requests since the last call.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.asked.lock().unwrap())
    }

    fn note(&self, what: &'static str) {
        self.0.asked.lock().unwrap().push(what);
    }

    /// Returns an authorization code for a user whom the URL `location` sent to the provider.
    pub(crate) fn code_for(&self, location: &url::Url) -> String {
        let parameters: HashMap<_, _> = location.query_pairs().into_owned().collect();
        let mut codes = self.0.codes.lock().unwrap();
        let code = format!("code-{}", codes.len());
        codes.insert(
            code.clone(),
            Code {
                nonce: parameters["nonce"].clone(),
                challenge: parameters["code_challenge"].clone(),
            },
        );
        code
    }

    fn answer(&self, document: &Value) -> Response {
        let lies = self.lies();
        if lies.redirect {
            let elsewhere = [(header::LOCATION, format!("{}/elsewhere", self.issuer()))];
            return (StatusCode::FOUND, elsewhere).into_response();
        }
        let status = StatusCode::from_u16(lies.status.unwrap_or(200)).unwrap();
        let body = format!("{document}{}", " ".repeat(lies.padding));
        (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }

    fn id_token(&self, nonce: &str) -> String {
        let lies = self.lies();
        let now = self.0.clock.now().micros() / 1_000_000;
        let mut claims = json!({
            "iss": self.issuer(), "sub": "248289761001", "aud": CLIENT_ID, "nonce": nonce,
            "iat": now, "exp": now + 300, "email": "asha@shop.example",
        });
        put_over(&mut claims, &lies.claims);
        let (algorithm, key) = match lies.signature {
            Signature::Own | Signature::Other | Signature::Embedded => ("EdDSA", "one"),
            Signature::Rotated => ("EdDSA", "two"),
            Signature::None => ("none", "one"),
            Signature::Secret | Signature::PublicKeyAsSecret => ("HS256", "one"),
        };
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let mut head = json!({ "alg": algorithm, "kid": key });
        if lies.signature == Signature::Embedded {
            head["jwk"] = public(3, "one");
        }
        let signed = format!("{}.{}", part(&head), part(&claims));
        let by_secret = |secret: &[u8]| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
            hmac::sign(&key, signed.as_bytes()).as_ref().to_vec()
        };
        let signature = match lies.signature {
            Signature::Own => keys(1).sign(signed.as_bytes()).as_ref().to_vec(),
            Signature::Rotated => keys(2).sign(signed.as_bytes()).as_ref().to_vec(),
            Signature::Other | Signature::Embedded => keys(3).sign(signed.as_bytes()).as_ref().to_vec(),
            Signature::None => Vec::new(),
            Signature::Secret => by_secret(CLIENT_SECRET.as_bytes()),
            Signature::PublicKeyAsSecret => by_secret(keys(1).public_key().as_ref()),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn keys(nth: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[nth; 32]).unwrap()
}

fn put_over(document: &mut Value, lies: &Value) {
    for (name, value) in lies.as_object().into_iter().flatten() {
        if value.is_null() {
            document.as_object_mut().unwrap().remove(name);
        } else {
            document[name] = value.clone();
        }
    }
}

async fn configuration(State(provider): State<Provider>) -> Response {
    provider.note("configuration");
    let issuer = provider.issuer();
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA", "RS256", "HS256", "none"],
        "authorization_response_iss_parameter_supported": true,
    });
    put_over(&mut document, &provider.lies().metadata);
    provider.answer(&document)
}

async fn jwks(State(provider): State<Provider>) -> Response {
    provider.note("jwks");
    let (name, nth) = if provider.lies().signature == Signature::Rotated {
        ("two", 2)
    } else {
        ("one", 1)
    };
    provider.answer(&json!({ "keys": [public(nth, name)] }))
}

fn public(nth: u8, name: &str) -> Value {
    let x = URL_SAFE_NO_PAD.encode(keys(nth).public_key().as_ref());
    json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": name, "x": x })
}

/// Issues tokens only to the registered client, for an unused code and the matching PKCE verifier.
async fn token(State(provider): State<Provider>, headers: HeaderMap, body: String) -> Response {
    provider.note("token");
    let refused = |error: &str| {
        let body = json!({ "error": error }).to_string();
        let json = [(header::CONTENT_TYPE, "application/json")];
        (StatusCode::BAD_REQUEST, json, body).into_response()
    };
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let client = STANDARD.encode(format!("{}:{}", encoded(CLIENT_ID), encoded(CLIENT_SECRET)));
    if headers.get(header::AUTHORIZATION).unwrap() != &format!("Basic {client}") {
        return refused("invalid_client");
    }
    let form: HashMap<_, _> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let Some(code) = provider.0.codes.lock().unwrap().remove(&form["code"]) else {
        return refused("invalid_grant");
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
    let redirect = form["redirect_uri"] == "https://market.example/dashboard/callback";
    if challenge != code.challenge || !redirect || form["grant_type"] != "authorization_code" {
        return refused("invalid_grant");
    }
    let id_token = provider.id_token(&code.nonce);
    provider.answer(&json!({
        "access_token": "an-access-token", "token_type": "Bearer", "expires_in": 300, "id_token": id_token,
    }))
}
