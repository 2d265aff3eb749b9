//! API reference: a page at `/docs/` that shows the server's own OpenAPI description and lets users try its operations.
//!
//! Input: none; the page's script loads `/openapi.json` from its server. Output: routes that are the same on every
//! server.
//!
//! The viewer is Swagger UI. A crate contains all of its files, so nothing is downloaded during the build or by the
//! page.
//!
//! The crate contains no API description, does not store API keys beyond the open page, and contacts no other server.
//! The page's content security policy enforces this.

use std::sync::{Arc, OnceLock};

use api::{Asset, OpenRouter, Problem};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use data_model::ErrorCode;
use http::{HeaderMap, HeaderName, header};
use utoipa_swagger_ui::Config;

/// Content security policy of the page, which allows only files and operations of its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// Files of the project, each with its path below `/docs/`.
const OWN: [(&str, &str, &str); 3] = [
    ("", HTML, include_str!("../page/index.html")),
    ("reference.css", CSS, include_str!("../page/reference.css")),
    ("reference.js", JS, include_str!("../page/reference.js")),
];

/// Files of Swagger UI.
const CARRIED: [(&str, &str); 2] = [("swagger-ui.css", CSS), ("swagger-ui-bundle.js", JS)];

/// Returns the routes of the page and its files. No OpenAPI description has them.
#[must_use]
pub fn open_router() -> OpenRouter {
    // The path is relative, because a proxy may serve everything below a path of its own.
    let mut routes = OpenRouter::default().route("/docs", get(async || Redirect::permanent("docs/")));
    for (name, media_type, text) in OWN {
        let file = Arc::new(guarded(Asset::new(media_type, text)));
        let answer = async move |headers: HeaderMap| file.answer(&headers);
        routes = routes.route(&format!("/docs/{name}"), get(answer));
    }
    for (name, media_type) in CARRIED {
        // The file is compressed at the first request, because compression would delay the start of a server.
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

/// Returns a file of Swagger UI, or `None` if the crate lacks it, which a test rules out.
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
