use api::{PathParameters, Problem, QueryReader};
use data_model::{ErrorCode, ProductIdent};

/// A request for a page of a product's price history, its parameters checked.
#[derive(Debug)]
pub(crate) struct PriceHistoryPlan {
    pub(crate) ident: ProductIdent,
    pub(crate) limit: usize,
    /// Not checked yet: only the release tells whether it is one of its own.
    pub(crate) cursor: Option<String>,
}

impl PriceHistoryPlan {
    /// Reads the parameters of `GET /v1/products/{ident}/price-history`.
    pub(crate) fn read(mut path: PathParameters, query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let ident = path.product_ident("ident");
        let limit = reader
            .integer("limit", 1..=1_000)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(200);
        let cursor = reader.text("cursor", 200).map(std::borrow::Cow::into_owned);
        let ident = reader
            .finish(path, ident)?
            .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
        Ok(Self { ident, limit, cursor })
    }
}
