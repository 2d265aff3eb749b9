use std::sync::Arc;

use api::{JsonObject, MembersReader, Problem};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use data_model::ErrorCode;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;
use state::{PendingSignIn, SignInMethod};
use url::form_urlencoded;

use super::link::client;
use crate::answer::{data, state_problem, with_cookie};
use crate::cookies::{self, PENDING_COOKIE};
use crate::doors::{PENDING_LIFETIME, Sender};
use crate::local_path::LocalPath;
use crate::oidc::{Proof, Provider, ProviderError};
use crate::own_page::OwnPage;
use crate::{Inner, oidc};

/// Reason for a failed sign-in, which the page explains to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignInRefusal {
    /// This browser started no sign-in, or the response belongs to another sign-in.
    Unknown,
    /// The sign-in is already complete, or took too long.
    Late,
    /// The response names another provider as its issuer.
    MixedUp,
    /// The provider or the user declined the sign-in.
    Declined,
    /// The provider's response is invalid.
    Invalid,
    /// The provider or the state database does not respond.
    Unavailable,
}

impl SignInRefusal {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Late => "late",
            Self::MixedUp => "mixed-up",
            Self::Declined => "declined",
            Self::Invalid => "invalid",
            Self::Unavailable => "unavailable",
        }
    }
}

fn provider(inner: &Inner) -> Result<&Provider, Problem> {
    // The OIDC routes exist only if a provider is configured.
    inner
        .provider
        .as_ref()
        .ok_or_else(|| Problem::new(ErrorCode::RouteNotFound))
}

/// Handles `POST /dashboard/api/sign-in`: returns the provider's URL. A cookie ties the provider's response to this
/// browser.
pub(super) async fn begin(
    State(inner): State<Arc<Inner>>,
    _own: OwnPage,
    from: Sender,
    body: JsonObject,
) -> Result<Response, Problem> {
    let provider = provider(&inner)?;
    let mut reader = MembersReader::new(&body);
    let return_to = LocalPath::member(&mut reader, "return_to");
    let return_to = reader.finish(return_to)?.unwrap_or_else(LocalPath::dashboard);
    let pending = PendingSignIn {
        return_to: return_to.as_str().to_owned(),
    };
    from.may(&inner.doors.begun, inner.now())?;
    from.tried(&inner.doors.begun, inner.now());
    let begun = inner.state.begin_sign_in(&pending, PENDING_LIFETIME, inner.now()).await;
    let begun = begun.map_err(|error| state_problem(&error))?;
    let proof = Proof::of(begun.ok_or_else(|| Problem::new(ErrorCode::Overloaded))?);
    let location = provider.authorize(&proof).await.map_err(|error| {
        told(&error);
        let detail = "The sign-in provider cannot be reached at the moment.";
        Problem::new(ErrorCode::NotReady).detail(detail)
    })?;
    let cookie = cookies::set(PENDING_COOKIE, proof.secret(), PENDING_LIFETIME.as_secs());
    let answer = data(StatusCode::OK, json!({ "location": location.as_str() }));
    Ok(with_cookie(answer, cookie))
}

/// Handles `GET /dashboard/callback`, to which the provider sends people. After success and failure alike, it redirects
/// to a page of this site.
pub(super) async fn come_back(
    State(inner): State<Arc<Inner>>,
    from: Sender,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let came = Answer::read(query.as_deref().unwrap_or_default());
    let (outcome, answer) = match Box::pin(sign_in(&inner, from, &headers, came)).await {
        Ok(SignedIn { return_to, session }) => {
            let answer = with_cookie(Redirect::to(return_to.as_str()).into_response(), session);
            // The sign-in is complete, so the cookie is removed. After a failure it stays, because an attacker may have
            // sent the failing response.
            ("signed_in", with_cookie(answer, cookies::set(PENDING_COOKIE, "", 0)))
        }
        Err(why) => {
            let page = format!("/dashboard/#refused={}", why.as_str());
            (why.as_str(), Redirect::to(&page).into_response())
        }
    };
    metrics::counter!("dashboard_sign_ins_total", "method" => "oidc", "outcome" => outcome).increment(1);
    unkept(answer)
}

/// Forbids caches to store the response, and browsers to send its URL to other pages.
fn unkept(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

/// Query parameters of the provider's response. A duplicate parameter counts as absent, because RFC 6749, section 3.1,
/// forbids duplicates.
#[derive(Default)]
struct Answer {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    is_error: bool,
}

impl Answer {
    fn read(query: &str) -> Self {
        let only = |name: &str| {
            let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(own, _)| own == name);
            let first = found.next().map(|(_, value)| value.into_owned());
            first.filter(|value| !value.is_empty() && found.next().is_none())
        };
        Self {
            code: only("code"),
            state: only("state"),
            issuer: only("iss"),
            is_error: only("error").is_some(),
        }
    }
}

struct SignedIn {
    return_to: LocalPath,
    session: Option<HeaderValue>,
}

async fn sign_in(inner: &Inner, from: Sender, headers: &HeaderMap, came: Answer) -> Result<SignedIn, SignInRefusal> {
    let provider = inner.provider.as_ref().ok_or(SignInRefusal::Unknown)?;
    let secret = cookies::value(headers, PENDING_COOKIE).and_then(|text| text.parse().ok());
    let proof = Proof::of(secret.ok_or(SignInRefusal::Unknown)?);
    // A response with another `state` belongs to another browser, so the pending sign-in must not change.
    if came.state.as_deref() != Some(proof.state().as_str()) {
        return Err(SignInRefusal::Unknown);
    }
    let wrong = &inner.doors.wrong_links;
    from.may(wrong, inner.now()).map_err(|_| SignInRefusal::Unavailable)?;
    let taken = inner.state.take_sign_in(&proof.hash(), inner.now()).await;
    let Some(pending) = taken.map_err(|error| unavailable(&error))? else {
        from.tried(wrong, inner.now());
        return Err(SignInRefusal::Late);
    };
    let gave = provider.gave(came.issuer.as_deref()).await;
    if !gave.map_err(|error| refused(&error))? {
        return Err(SignInRefusal::MixedUp);
    }
    if came.is_error {
        return Err(SignInRefusal::Declined);
    }
    let code = came.code.ok_or(SignInRefusal::Invalid)?;
    let subject = provider.redeem(code, &proof).await.map_err(|error| refused(&error))?;
    let session = begin_session(inner, headers, subject).await?;
    // The path was checked when the sign-in started.
    let return_to = pending.return_to.parse().unwrap_or_else(|_| LocalPath::dashboard());
    Ok(SignedIn { return_to, session })
}

async fn begin_session(
    inner: &Inner,
    headers: &HeaderMap,
    who: oidc::Subject,
) -> Result<Option<HeaderValue>, SignInRefusal> {
    let now = inner.now();
    let account = inner
        .state
        .find_or_create_account(&who.issuer, &who.subject, who.email.as_deref(), now);
    let account = account.await.map_err(|error| unavailable(&error))?;
    let before = cookies::session(headers).map(|token| token.hash());
    let new = inner.new_session(SignInMethod::Oidc, client(headers), before);
    let issued = inner.state.create_session(&account.id, new, now).await;
    let issued = issued.map_err(|error| unavailable(&error))?;
    Ok(cookies::set_session(
        &issued.token,
        inner.session_limits.total_ms / 1000,
    ))
}

fn unavailable(error: &state::StateError) -> SignInRefusal {
    state_problem(error);
    SignInRefusal::Unavailable
}

fn refused(error: &ProviderError) -> SignInRefusal {
    told(error);
    match error {
        ProviderError::Unavailable(_) => SignInRefusal::Unavailable,
        ProviderError::Invalid(_) | ProviderError::Refused(_) => SignInRefusal::Invalid,
    }
}

/// Logs the reason for the operator. Users only read that the sign-in failed.
fn told(error: &ProviderError) {
    let error: &dyn std::error::Error = error;
    tracing::warn!(error, "the sign-in at the provider failed");
}
