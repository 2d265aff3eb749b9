//! The API reference: a page at `/docs/` that shows a server's own interface description and tries its operations.
//!
//! In: nothing; the page's script asks `/openapi.json` of the server that served it. Out: routes for one edge, the same on
//! every server. The viewer is Swagger UI, whose files a crate carries whole: nothing is downloaded, neither while the
//! program is built nor by the page.
//!
//! It never holds a description of its own, keeps no key beyond the page that it was typed on, and asks no other server:
//! the page's policy forbids both.

use std::sync::{Arc, OnceLock};

use api::{Asset, OpenRouter, Problem};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use data_model::ErrorCode;
use http::{HeaderMap, HeaderName, header};
use utoipa_swagger_ui::Config;

/// The sources that the page may load and ask: files and operations of its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// Files of our own, each with its path below `/docs/`.
const OWN: [(&str, &str, &str); 3] = [
    ("", HTML, include_str!("../page/index.html")),
    ("reference.css", CSS, include_str!("../page/reference.css")),
    ("reference.js", JS, include_str!("../page/reference.js")),
];

/// Files of the viewer.
const CARRIED: [(&str, &str); 2] = [("swagger-ui.css", CSS), ("swagger-ui-bundle.js", JS)];

/// The page and its files, which no interface description names.
#[must_use]
pub fn open_router() -> OpenRouter {
    // Relative, for a proxy may serve all of this below a path of its own.
    let mut routes = OpenRouter::default().route("/docs", get(async || Redirect::permanent("docs/")));
    for (name, media_type, text) in OWN {
        let file = Arc::new(guarded(Asset::new(media_type, text)));
        let answer = async move |headers: HeaderMap| file.answer(&headers);
        routes = routes.route(&format!("/docs/{name}"), get(answer));
    }
    for (name, media_type) in CARRIED {
        // Compressed when it is first asked for: that takes longer than a server should need to start.
        let file = Arc::new(OnceLock::new());
        let answer = async move |headers: HeaderMap| {
            let file = file.get_or_init(|| carried(name, media_type));
            answered(file.as_ref(), &headers)
        };
        routes = routes.route(&format!("/docs/{name}"), get(answer));
    }
    routes
}

fn answered(file: Option<&Asset>, headers: &HeaderMap) -> Response {
    match file {
        Some(file) => file.answer(headers),
        None => Problem::new(ErrorCode::RouteNotFound).into_response(),
    }
}

/// A file of the viewer. `None` if its crate does not have it, which a test rules out.
fn carried(name: &str, media_type: &'static str) -> Option<Asset> {
    let config = Arc::new(Config::new(["/openapi.json"]));
    let file = utoipa_swagger_ui::serve(name, config).ok().flatten()?;
    Some(guarded(Asset::new(media_type, file.bytes.into_owned())))
}

fn guarded(asset: Asset) -> Asset {
    asset
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(OPENER_POLICY, "same-origin")
        .header(RESOURCE_POLICY, "same-origin")
}
