use api::{PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use http::StatusCode;

use super::read;
use crate::operations::Text;
use crate::server::QueryServer;

/// Counts that a product was opened on the page from the results of a search. The page sends the words of the search
/// and nothing else.
pub(super) async fn count_click(State(server): State<QueryServer>, request: Request) -> Result<StatusCode, Problem> {
    let mut reader = QueryReader::new(request.uri().query());
    let text: Text<512> = read::text(&mut reader, false);
    let text = reader.finish(PathParameters::none(), text)?;
    if let Some(log) = &server.0.config.search_log {
        log.click(text.as_str());
    }
    Ok(StatusCode::NO_CONTENT)
}
