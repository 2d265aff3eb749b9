use utoipa::openapi::{InfoBuilder, License, OpenApiBuilder, Server};
use utoipa_axum::router::OpenApiRouter;

use super::OpenRouter;
use crate::openapi::common_components;

/// Title of the interface description of every crate.
const TITLE: &str = "Commerce Discovery, Pricing and Cart API";

/// Creates a description without operations about the topic `about`. Operations are added later with their
/// documentation.
pub fn described<S: Clone + Send + Sync + 'static>(about: &str) -> OpenApiRouter<S> {
    let info = InfoBuilder::new()
        .title(TITLE)
        .version("1.0")
        .description(Some(about))
        .license(Some(License::new("Apache-2.0")))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(common_components()))
        .servers(Some([Server::new("/")]))
        .build();
    OpenApiRouter::with_openapi(document)
}

impl OpenRouter {
    /// Creates the routes of described operations, with their state.
    pub fn of<S: Clone + Send + Sync + 'static>(operations: OpenApiRouter<S>, state: S) -> Self {
        let (router, document) = operations.split_for_parts();
        let patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
        Self::new(router.with_state(state), patterns).described(document)
    }
}
