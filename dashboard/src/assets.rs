//! HTML page of the dashboard and its assets.

use std::sync::Arc;

use api::{Asset, OpenRouter};
use axum::response::Redirect;
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, HeaderName, header};

/// Content security policy: the page may load resources only from its own origin, so that displayed text cannot run as
/// a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const PAGE: &str = include_str!("../page/index.html");

/// Page of the demo that shows mails instead of sending them.
pub(crate) const MAILS: &str = "/demo/mail";

/// Asset files of the page, all under `/dashboard/`.
const PARTS: [(&str, &str, &str); 12] = [
    ("app.css", CSS, include_str!("../page/app.css")),
    ("app.js", JS, include_str!("../page/app.js")),
    ("base.css", CSS, api::BASE_STYLE),
    ("audit.js", JS, include_str!("../page/audit.js")),
    ("chart.js", JS, include_str!("../page/chart.js")),
    ("dom.js", JS, include_str!("../page/dom.js")),
    ("keys.js", JS, include_str!("../page/keys.js")),
    ("mails.js", JS, include_str!("../page/mails.js")),
    ("server.js", JS, include_str!("../page/server.js")),
    ("sessions.js", JS, include_str!("../page/sessions.js")),
    ("sign_in.js", JS, include_str!("../page/sign_in.js")),
    ("watches.js", JS, include_str!("../page/watches.js")),
];

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// Serves the same page at `/dashboard/` and `/dashboard/link`, whose script reads the URL fragment of a link.
pub(crate) fn routes(shows_mails: bool) -> OpenRouter {
    let page = Arc::new(asset(HTML, PAGE));
    let moved = get(async || Redirect::permanent("/dashboard/"));
    let mut routes = OpenRouter::default()
        .route("/dashboard", moved)
        .route("/dashboard/", answering(Arc::clone(&page)))
        .route("/dashboard/link", answering(page));
    for (name, media_type, text) in PARTS {
        let part = Arc::new(asset(media_type, text));
        routes = routes.route(&format!("/dashboard/{name}"), answering(part));
    }
    if shows_mails {
        let page = asset(HTML, include_str!("../page/mails.html"));
        routes = routes.route(MAILS, answering(Arc::new(page)));
    }
    routes
}

fn answering(asset: Arc<Asset>) -> MethodRouter {
    get(async move |headers: HeaderMap| asset.answer(&headers))
}

fn asset(media_type: &'static str, text: &'static str) -> Asset {
    Asset::new(media_type, text)
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(OPENER_POLICY, "same-origin")
        .header(RESOURCE_POLICY, "same-origin")
}
