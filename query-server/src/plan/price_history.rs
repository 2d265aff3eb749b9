use api::{PathParameters, Problem, QueryReader};
use data_model::{ErrorCode, ProductIdent};

use super::cursor;
use crate::config::CursorKey;
use crate::cursor::Cursor;

/// A request for a page of a product's price history, its parameters checked.
#[derive(Debug)]
pub(crate) struct PriceHistoryPlan {
    pub(crate) ident: ProductIdent,
    pub(crate) limit: usize,
    /// Signed by this server; whether it is of this list only the release tells.
    pub(crate) cursor: Option<Cursor>,
}

impl PriceHistoryPlan {
    /// Reads the parameters of `GET /v1/products/{ident}/price-history`.
    pub(crate) fn read(mut path: PathParameters, query: Option<&str>, key: &CursorKey) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let ident = path.product_ident("ident");
        let limit = reader
            .integer("limit", 1..=1_000)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(200);
        let cursor = cursor::read(&mut reader, key);
        let ident = reader
            .finish(path, ident)?
            .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
        Ok(Self { ident, limit, cursor })
    }
}
