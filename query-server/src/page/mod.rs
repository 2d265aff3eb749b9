//! Web page of the market: its assets, and the HTML documents of products and brands, which also work without scripts.

mod brand;
mod json_ld;
mod markup;
mod product;
mod shell;

use api::Asset;
use http::HeaderMap;

pub(crate) use self::brand::brand;
pub(crate) use self::product::{missing, product};

/// Content security policy: the page may load its own assets, and pictures from stores. Browsers block everything else,
/// whatever the stores' texts contain.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src https: http: data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Paths and contents of the page's assets. The scripts are modules that import each other by these paths.
const PARTS: [(&str, &str); 33] = [
    ("/", include_str!("../../page/index.html")),
    ("/account.js", include_str!("../../page/account.js")),
    ("/app.css", include_str!("../../page/app.css")),
    ("/app.js", include_str!("../../page/app.js")),
    ("/around.js", include_str!("../../page/around.js")),
    ("/brand.js", include_str!("../../page/brand.js")),
    ("/cards.js", include_str!("../../page/cards.js")),
    ("/cart.css", include_str!("../../page/cart.css")),
    ("/cart.js", include_str!("../../page/cart.js")),
    ("/codes.js", include_str!("../../page/codes.js")),
    ("/countries.js", include_str!("../../page/countries.js")),
    ("/detail.js", include_str!("../../page/detail.js")),
    ("/dom.js", include_str!("../../page/dom.js")),
    ("/drawer.js", include_str!("../../page/drawer.js")),
    ("/empty.js", include_str!("../../page/empty.js")),
    ("/facets.js", include_str!("../../page/facets.js")),
    ("/group.js", include_str!("../../page/group.js")),
    ("/item.js", include_str!("../../page/item.js")),
    ("/label.js", include_str!("../../page/label.js")),
    ("/live.js", include_str!("../../page/live.js")),
    ("/place.js", include_str!("../../page/place.js")),
    ("/prices.js", include_str!("../../page/prices.js")),
    ("/product.css", include_str!("../../page/product.css")),
    ("/product.js", include_str!("../../page/product.js")),
    ("/recent.js", include_str!("../../page/recent.js")),
    ("/results.js", include_str!("../../page/results.js")),
    ("/server.js", include_str!("../../page/server.js")),
    ("/start.js", include_str!("../../page/start.js")),
    ("/state.js", include_str!("../../page/state.js")),
    ("/suggest.js", include_str!("../../page/suggest.js")),
    ("/tell.js", include_str!("../../page/tell.js")),
    ("/values.js", include_str!("../../page/values.js")),
    ("/base.css", api::BASE_STYLE),
];

pub(crate) fn parts() -> impl Iterator<Item = (&'static str, Asset)> {
    PARTS.into_iter().map(|(path, text)| {
        let media_type = match path.rsplit_once('.') {
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            _ => "text/html; charset=utf-8",
        };
        let asset = Asset::new(media_type, text)
            .header(http::header::CONTENT_SECURITY_POLICY, POLICY)
            .header(http::header::REFERRER_POLICY, "no-referrer");
        (path, asset)
    })
}

/// Returns the headers of every HTML document.
pub(crate) fn document_headers() -> HeaderMap {
    use http::{HeaderValue, header};
    HeaderMap::from_iter([
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ])
}
