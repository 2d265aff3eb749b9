//! HTML documents of products and brands for browsers.

use api::{CacheRule, EntityTag, GraphAnswer, PathParameters, Problem};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};

use super::write::known;
use crate::operations::{IfNoneMatch, OperationError, Page, ParsedName};
use crate::page;
use crate::server::QueryServer;

/// Serves the HTML document of a product. The document for an unknown product has the status 404.
pub(super) async fn product(
    State(server): State<QueryServer>,
    path: PathParameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let ident = path.text("ident").and_then(|text| text.parse().ok());
    let page = match ident {
        Some(ident) => server.product_page(ident, IfNoneMatch::by(&known(&headers))),
        None => Err(OperationError::ProductNotFound),
    };
    written(page, "No such product")
}

/// Serves the HTML document of a brand.
pub(super) async fn brand(
    State(server): State<QueryServer>,
    path: PathParameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let brand = path.text("slug").map_or(ParsedName::Nothing, ParsedName::brand);
    written(
        server.brand_page(&brand, IfNoneMatch::by(&known(&headers))),
        "No such brand",
    )
}

fn written(page: Result<Page, OperationError>, missing: &str) -> Result<Response, Problem> {
    match page {
        Ok(Page::Known(tag)) => Ok(GraphAnswer::NotModified(tag).into_response()),
        Ok(Page::Document(tag, html)) => Ok(document(StatusCode::OK, Some(&tag), html)),
        Err(OperationError::ProductNotFound | OperationError::BrandNotFound) => {
            Ok(document(StatusCode::NOT_FOUND, None, page::missing(missing)))
        }
        Err(error) => Err(error.into()),
    }
}

fn document(status: StatusCode, tag: Option<&EntityTag>, html: String) -> Response {
    let mut response = (status, page::document_headers(), html).into_response();
    let headers = response.headers_mut();
    let rule = if tag.is_some() {
        CacheRule::Graph
    } else {
        CacheRule::NoStore
    };
    headers.insert(header::CACHE_CONTROL, rule.value());
    headers.insert(header::VARY, http::HeaderValue::from_static("accept-encoding"));
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag.header().clone());
    }
    response
}
