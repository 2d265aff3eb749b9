use std::borrow::Cow;

use api::IgnoredParameter;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::Schema;
use utoipa::{IntoParams, ToSchema};

use super::ProductCard;
use super::parameters::{kinds, one_of};

fn intents() -> Schema {
    one_of(
        &["related", "cross_brand", "complement", "cheaper", "same_brand"],
        "The relation of the recommended products to the given product.",
    )
}

/// Parameters of `GET /v1/recommend`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RecommendParameters {
    /// Product for which others are recommended: `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub product_id: String,
    /// Relation of the recommended products: `related`, `cross_brand`, `complement`, `cheaper` or `same_brand`.
    #[param(required = false, schema_with = intents)]
    pub intent: Option<String>,
    /// Only products of these kinds, as repeated parameters or separated by commas; by default only goods.
    #[param(required = false, schema_with = kinds)]
    pub kind: Vec<String>,
    /// Maximum number of cards.
    #[param(default = 12, minimum = 1, maximum = 50, required = false)]
    pub limit: Option<i64>,
}

/// Recommended products for a product, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecommendAnswer<'a> {
    /// Cards of the recommended products.
    pub data: Vec<ProductCard<'a>>,
    /// Method by which the products were found.
    pub provenance: RecommendProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Method by which recommendations were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecommendProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// `semantic`: by vectors; `lexical`: by the words of the title, if the release has no vectors.
    pub engine: Cow<'a, str>,
    /// Intent of the recommendations.
    pub intent: Cow<'a, str>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}
