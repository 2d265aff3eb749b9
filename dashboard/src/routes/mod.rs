//! API of the page's script under `/dashboard/api/`, and the callback path of the sign-in provider.

mod audit;
mod carts;
mod guest;
mod keys;
mod link;
mod mail;
mod quota;
mod sessions;
#[cfg(feature = "oidc")]
mod sign_in;
mod usage;

use std::sync::Arc;

use api::{OpenRouter, Problem, TryKey};
use axum::Router;
use axum::routing::{MethodRouter, delete, get, patch, post};
use data_model::ErrorCode;

use crate::Inner;
use crate::session::SignedIn;

type Route = (&'static str, MethodRouter<Arc<Inner>>);

pub(crate) fn all(inner: &Arc<Inner>) -> OpenRouter {
    let routes = [of_accounts(), of_provider(inner)].concat();
    let patterns: Vec<_> = routes.iter().map(|(path, _)| *path).collect();
    let mut router = Router::new();
    for (path, route) in routes {
        router = router.route(path, route);
    }
    OpenRouter::new(router.with_state(Arc::clone(inner)), patterns)
}

fn of_accounts() -> Vec<Route> {
    vec![
        ("/dashboard/api/session", get(sessions::here)),
        ("/dashboard/api/sessions", get(sessions::list)),
        ("/dashboard/api/sessions/{session_id}", delete(sessions::end)),
        ("/dashboard/api/sign-out", post(sessions::sign_out)),
        (
            "/dashboard/api/sign-out-everywhere",
            post(sessions::sign_out_everywhere),
        ),
        ("/dashboard/api/link", post(link::sign_in)),
        ("/dashboard/api/mail", post(mail::send)),
        ("/dashboard/api/mails", get(mail::list)),
        ("/dashboard/api/guest", post(guest::begin)),
        ("/dashboard/api/carts", get(carts::list)),
        ("/dashboard/api/keys", get(keys::list).post(keys::create)),
        ("/dashboard/api/keys/{key_id}", patch(keys::rename).delete(keys::revoke)),
        ("/dashboard/api/keys/{key_id}/rotate", post(keys::rotate)),
        ("/dashboard/api/usage", get(usage::by_day)),
        ("/dashboard/api/quota", get(quota::of_keys)),
        ("/dashboard/api/audit", get(audit::page)),
    ]
}

#[cfg(feature = "oidc")]
fn of_provider(inner: &Inner) -> Vec<Route> {
    if inner.provider.is_none() {
        return Vec::new();
    }
    vec![
        ("/dashboard/api/sign-in", post(sign_in::begin)),
        ("/dashboard/callback", get(sign_in::come_back)),
    ]
}

#[cfg(not(feature = "oidc"))]
const fn of_provider(_inner: &Inner) -> Vec<Route> {
    Vec::new()
}

/// Enforces the rate limit on changes of an account.
fn paced(inner: &Inner, signed_in: &SignedIn) -> Result<(), Problem> {
    let account = || [TryKey::one(signed_in.grant.account.clone())];
    let (changes, now) = (&inner.doors.changes, inner.now());
    changes.check(account(), now).map_err(|wait| {
        let detail = "Too many changes in a short time.";
        Problem::new(ErrorCode::RateLimit).detail(detail).retry_after(wait)
    })?;
    changes.note(account(), now);
    Ok(())
}
