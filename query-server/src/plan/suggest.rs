use api::{PathParameters, Problem, QueryReader};

use super::search::QUERY_CHARS_MAX;

/// A request for suggestions, its parameters checked.
#[derive(Debug)]
pub(crate) struct SuggestPlan {
    pub(crate) text: String,
    pub(crate) limit: usize,
}

impl SuggestPlan {
    /// Reads the parameters of `GET /v1/suggest`.
    pub(crate) fn read(query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        reader.require("q");
        let text = reader.text("q", QUERY_CHARS_MAX).unwrap_or_default().into_owned();
        let limit = reader
            .integer("limit", 1..=20)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(8);
        reader.finish(PathParameters::none(), Self { text, limit })
    }
}
