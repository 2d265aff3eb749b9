//! Unsubscribe link for the e-mails of a watch: one click in an e-mail client (RFC 8058), or a button on a page.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use state::{DueEvent, MasterKeys, Purpose};
use url::{Url, form_urlencoded};

use crate::error::WatchError;
use crate::watches::Watches;

const STOP: Purpose = Purpose::new("watch-stop");
const PATH: &str = "/watches/stop";
/// Maximum length of a text that is parsed as a token. Valid tokens are shorter.
const TOKEN_CHARS_MAX: usize = 1_024;

const PAGE: &str = include_str!("../page/stop.html");
/// Content security policy: the page loads only the market's style sheet, and its form goes only to this server.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Token that allows pausing one watch and nothing else. Only the market can create the token, and only the watch's
/// receiver has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopToken {
    caller: String,
    watch: String,
}

impl StopToken {
    pub(crate) fn of(event: &DueEvent) -> Self {
        Self {
            caller: event.caller.clone(),
            watch: event.watch.clone(),
        }
    }

    /// Returns the URL of the page with the token.
    pub(crate) fn link(&self, keys: &MasterKeys, market: &Url) -> Result<Url, WatchError> {
        let sealed = keys.seal(STOP, PATH, &serde_json::to_vec(self)?)?;
        let mut url = market.clone();
        url.set_path(PATH);
        url.query_pairs_mut()
            .append_pair("token", &URL_SAFE_NO_PAD.encode(sealed));
        Ok(url)
    }

    fn read(keys: &MasterKeys, query: Option<&str>) -> Option<Self> {
        let mut pairs = form_urlencoded::parse(query?.as_bytes());
        let (_, text) = pairs.find(|(name, text)| name == "token" && text.len() <= TOKEN_CHARS_MAX)?;
        let sealed = URL_SAFE_NO_PAD.decode(text.as_bytes()).ok()?;
        serde_json::from_slice(&keys.open(STOP, PATH, &sealed).ok()?).ok()
    }
}

/// Returns the routes of the unsubscribe page and its button, which are not in the API description, because the page is
/// for people.
pub(crate) fn routes(watches: Watches) -> api::OpenRouter {
    let page = get(show).post(stop).with_state(watches);
    api::OpenRouter::default().route(PATH, page)
}

/// Shows the page with the button. Opening the link does not stop the e-mails, because e-mail clients open links to
/// check them.
async fn show(State(watches): State<Watches>, RawQuery(query): RawQuery) -> Response {
    match StopToken::read(&watches.0.keys, query.as_deref()) {
        Some(_) => page(
            StatusCode::OK,
            "Stop the e-mails of this watch?",
            r#"<form method="post"><p class="lead"><button class="main-button" type="submit">Stop these mails</button></p></form>"#,
        ),
        None => unknown(),
    }
}

async fn stop(State(watches): State<Watches>, RawQuery(query): RawQuery) -> Response {
    let Some(token) = StopToken::read(&watches.0.keys, query.as_deref()) else {
        return unknown();
    };
    let now = watches.0.clock.now();
    match watches
        .0
        .state
        .pause_watch(&token.caller, &token.watch, Some(now))
        .await
    {
        // A watch that no longer exists sends no e-mails.
        Ok(_) => page(
            StatusCode::OK,
            "The e-mails of this watch are stopped",
            r#"<p class="lead">It is paused. To let it go on or to end it, <a href="/dashboard/">sign in</a>.</p>"#,
        ),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "a watch cannot be stopped");
            page(
                StatusCode::SERVICE_UNAVAILABLE,
                "The watch could not be stopped just now",
                r#"<p class="lead">Try again in a moment.</p>"#,
            )
        }
    }
}

fn unknown() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "This link belongs to no watch",
        r#"<p class="lead">It may be cut off. <a href="/dashboard/">Sign in</a> to see your watches.</p>"#,
    )
}

/// Builds a page. All texts are constants of the program, so none comes from a request or a store.
fn page(status: StatusCode, title: &str, content: &str) -> Response {
    let html = PAGE.replace("{title}", title).replace("{content}", content);
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    (status, headers, html).into_response()
}
