use api::{PathParameters, Problem, QueryReader, Rule, Violation};

/// A request for a page of brands, its parameters checked.
#[derive(Debug)]
pub(crate) struct BrandsPlan {
    pub(crate) text: String,
    pub(crate) category: Option<String>,
    pub(crate) limit: usize,
    /// Not checked yet: only the release tells whether it is one of its own.
    pub(crate) cursor: Option<String>,
}

impl BrandsPlan {
    /// Reads the parameters of `GET /v1/brands`.
    pub(crate) fn read(query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let text = reader.text("q", 200).unwrap_or_default().trim().to_lowercase();
        let category = reader
            .text("category", 200)
            .filter(|text| !text.is_empty())
            .map(std::borrow::Cow::into_owned);
        let limit = reader
            .integer("limit", 1..=100)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(50);
        let cursor = reader.text("cursor", 200).map(std::borrow::Cow::into_owned);
        reader.finish(
            PathParameters::none(),
            Self {
                text,
                category,
                limit,
                cursor,
            },
        )
    }
}

/// The 422 for a cursor that is not of this list of this release.
pub(crate) fn foreign_cursor(cursor: &str) -> Problem {
    let rule = Rule::Value("not a cursor of this list in the current release; begin again without it");
    Problem::invalid(vec![Violation::new(
        vec!["query".into(), "cursor".into()],
        &rule,
        Some(cursor.into()),
    )])
}
