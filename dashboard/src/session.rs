use std::sync::Arc;

use api::{Problem, SESSION_COOKIE};
use axum::extract::FromRequestParts;
use data_model::ErrorCode;
use http::request::Parts;
use http::{HeaderValue, header};
use state::{Actor, SessionGrant, SessionHash, SignInMethod};

use crate::answer::state_problem;
use crate::doors::Sender;
use crate::own_page::OwnPage;
use crate::{Inner, cookies};

/// Session of a user who is signed in and uses the dashboard's own page.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) grant: SessionGrant,
    pub(crate) hash: SessionHash,
}

impl SignedIn {
    /// True unless this is a guest session.
    pub(crate) fn is_no_guest(&self) -> bool {
        self.grant.method != SignInMethod::Guest
    }

    /// Returns the account as an actor, for the audit log and for access to its keys.
    pub(crate) fn actor(&self) -> Actor {
        Actor::Account(self.grant.account.clone())
    }
}

impl FromRequestParts<Arc<Inner>> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, inner: &Arc<Inner>) -> Result<Self, Problem> {
        OwnPage::from_request_parts(parts, inner).await?;
        if cookies::value(&parts.headers, SESSION_COOKIE).is_none() {
            return Err(refused(ErrorCode::MissingCredentials));
        }
        let found = find(parts, inner).await?.filter(SignedIn::is_no_guest);
        found.ok_or_else(|| refused(ErrorCode::InvalidSession))
    }
}

/// Visitor of the dashboard's own page: signed in, a guest with a session, or without a session.
#[derive(Debug, Clone)]
pub(crate) struct Visitor(pub(crate) Option<SignedIn>);

impl FromRequestParts<Arc<Inner>> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, inner: &Arc<Inner>) -> Result<Self, Problem> {
        OwnPage::from_request_parts(parts, inner).await?;
        find(parts, inner).await.map(Self)
    }
}

async fn find(parts: &Parts, inner: &Inner) -> Result<Option<SignedIn>, Problem> {
    let Some(token) = cookies::session(&parts.headers) else {
        return Ok(None);
    };
    let (hash, from, now) = (token.hash(), Sender::of(parts), inner.now());
    from.may(&inner.doors.forged_sessions, now)?;
    let found = inner.state.find_session(&hash, now).await;
    let found = found.map_err(|error| state_problem(&error))?;
    if found.is_none() {
        from.tried(&inner.doors.forged_sessions, now);
    }
    Ok(found.map(|grant| SignedIn { grant, hash }))
}

fn refused(code: ErrorCode) -> Problem {
    let challenge = HeaderValue::from_static("Cookie realm=\"haat\"");
    Problem::new(code)
        .detail("Sign in at /dashboard/.")
        .header(header::WWW_AUTHENTICATE, challenge)
}
