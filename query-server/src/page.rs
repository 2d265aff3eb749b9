use api::Asset;

/// What the page may load: its own parts, and pictures from the stores. Everything else is refused by the browser,
/// whatever a store's texts hold.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src https: http: data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

fn part(media_type: &'static str, text: &'static str) -> Asset {
    Asset::new(media_type, text)
        .header(http::header::CONTENT_SECURITY_POLICY, POLICY)
        .header(http::header::REFERRER_POLICY, "no-referrer")
}

/// The page and its two parts.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) index: Asset,
    pub(crate) style: Asset,
    pub(crate) script: Asset,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self {
            index: part("text/html; charset=utf-8", include_str!("../page/index.html")),
            style: part("text/css; charset=utf-8", include_str!("../page/app.css")),
            script: part("text/javascript; charset=utf-8", include_str!("../page/app.js")),
        }
    }
}
