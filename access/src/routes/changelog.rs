use std::sync::LazyLock;

use api::{Asset, GraphErrors};
use axum::response::Response;
use http::HeaderMap;

static CHANGELOG: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../../CHANGELOG.md");
    Asset::new("text/markdown; charset=utf-8", text)
});

/// Returns the changelog, newest first.
///
/// The format is Markdown: a section for each release, with a line for each change that users or operators notice.
#[utoipa::path(
    get,
    path = "/v1/changelog",
    operation_id = "get_changelog",
    tag = "Platform",
    responses(
        (status = 200, description = "Text in Markdown.", body = String, content_type = "text/markdown",
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(super) async fn get_changelog(headers: HeaderMap) -> Response {
    CHANGELOG.answer(&headers)
}
