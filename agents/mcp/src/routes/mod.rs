//! HTTP routes of the endpoint, which parse the request, call the server and write the response.

mod post;
mod schema;
mod stream;

use api::{OpenRouter, Problem, described};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::schema::{McpBody, McpFaulted};
use crate::server::Mcp;

fn operations() -> OpenApiRouter<Mcp> {
    described("Offers the market as tools for agents (Model Context Protocol).")
        .routes(routes!(post::call_mcp, stream::open_mcp_stream))
}

impl Mcp {
    /// Returns the documented routes of the endpoint.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        let manifest = api::Asset::new("application/json", self.0.manifest.to_string());
        let endpoint = OpenRouter::of(operations(), self.clone())
            .costing_more()
            .telling_networks();
        endpoint.route(
            "/server.json",
            get(async move |headers: http::HeaderMap| manifest.answer(&headers)),
        )
    }

    /// Returns the endpoint's part of the OpenAPI description.
    #[must_use]
    pub fn openapi() -> OpenApi {
        operations().into_openapi()
    }

    /// Processes a POST.
    ///
    /// # Errors
    /// The origin or host is not allowed, or the body cannot be read.
    pub async fn post(&self, request: Request) -> Result<Response, Problem> {
        post::answered(self, request).await
    }
}

fn empty(status: StatusCode) -> Response {
    status.into_response()
}
