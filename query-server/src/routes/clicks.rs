use api::{PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use http::StatusCode;

use super::read;
use crate::operations::Text;
use crate::server::QueryServer;

/// Counts that a shopper opened a product from search results. The page sends only the words of the search.
pub(super) async fn count_click(State(server): State<QueryServer>, request: Request) -> Result<StatusCode, Problem> {
    let mut reader = QueryReader::new(request.uri().query());
    let text: Text<512> = read::text(&mut reader, false);
    let text = reader.finish(PathParameters::none(), text)?;
    if let Some(log) = &server.0.config.search_log {
        log.click(text.as_str());
    }
    Ok(StatusCode::NO_CONTENT)
}
