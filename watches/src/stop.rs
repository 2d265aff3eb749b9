//! The link that ends the mails of a watch: with one click of a mail program (RFC 8058), or with a button on a page.

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
/// Longest text that is looked at as a token, which is shorter.
const TOKEN_CHARS_MAX: usize = 1_024;

const PAGE: &str = include_str!("../page/stop.html");
/// Nothing is loaded but the style of the market's pages, and the form leads here alone.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The right to pause one watch and nothing else, which only the market can write. Its receiver alone has it.
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

    /// The address of the page, with the right in it.
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

/// The page and what its button does, which no interface description names: they are for people.
pub(crate) fn routes(watches: Watches) -> api::OpenRouter {
    let page = get(show).post(stop).with_state(watches);
    api::OpenRouter::default().route(PATH, page)
}

/// A mail program that follows links to look for harm ends nothing: a button does.
async fn show(State(watches): State<Watches>, RawQuery(query): RawQuery) -> Response {
    match StopToken::read(&watches.0.keys, query.as_deref()) {
        Some(_) => page(
            StatusCode::OK,
            "No more mails of this watch?",
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
        // A watch that is gone sends nothing either.
        Ok(_) => page(
            StatusCode::OK,
            "No more mails of this watch",
            r#"<p class="lead">It is paused. To let it go on or to end it, <a href="/dashboard/">sign in</a>.</p>"#,
        ),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "a watch cannot be stopped");
            page(
                StatusCode::SERVICE_UNAVAILABLE,
                "This did not work just now",
                r#"<p class="lead">Try again in a moment.</p>"#,
            )
        }
    }
}

fn unknown() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "This link names no watch",
        r#"<p class="lead">It may be cut off. <a href="/dashboard/">Sign in</a> to see your watches.</p>"#,
    )
}

/// Every text is the program's own: nothing of a request or a store comes into the page.
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
