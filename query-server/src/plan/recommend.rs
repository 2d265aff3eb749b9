use api::{PathParameters, Problem, QueryReader, product_ident};
use data_model::{ErrorCode, ProductIdent};

use crate::recommend::Intent;

/// A request for recommendations, its parameters checked.
#[derive(Debug)]
pub(crate) struct RecommendPlan {
    pub(crate) ident: ProductIdent,
    pub(crate) intent: Intent,
    pub(crate) limit: usize,
}

impl RecommendPlan {
    /// Reads the parameters of `GET /v1/recommend`.
    pub(crate) fn read(query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        reader.require("product_id");
        let ident = reader.parsed("product_id", product_ident);
        let intent = reader.choice("intent", &Intent::NAMED).unwrap_or(Intent::Related);
        let limit = reader
            .integer("limit", 1..=50)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(12);
        let ident = reader
            .finish(PathParameters::none(), ident)?
            .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
        Ok(Self { ident, intent, limit })
    }
}
