use api::{
    Asker, JsonObject, LiveErrors, LogThrottle, MembersReader, PathParameters, Problem, QueryReader, Rule, Violation,
};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use data_model::{ErrorCode, VariantId};
use http::StatusCode;
use serde_json::Value;

use super::carts::body::variant;
use crate::catalogue::CatalogueError;
use crate::checkout::quote::Quoter;
use crate::gateway::LiveGateway;
use crate::operations::prices::{IDENTS_MAX, PricesRequest};
use crate::schema::{LivePriceAnswer, LivePricesAnswer, LiveProvenance, PricesBody, UnverifiedCode};

/// Returns the current price of a product, queried from the brand's own store.
///
/// `verified: true` means that the store confirmed the whole entry, in the stored currency and for the country that the
/// catalogue was crawled for. Each variant in the catalogue has a current price or is known to be gone. Variants that
/// are new since the crawl may be missing, because `source: "graphql"` queries known variants only. With `verified:
/// false` the numbers are the last stored snapshot, taken at `snapshot_at`, and `code` gives the reason. Show
/// unverified numbers as unverified, and do not transact on them. `changes` lists the differences from the snapshot, by
/// variant. The response arrives within the server's time budget, even if the store is slow or fails. Buyers who
/// request the same product within seconds may get the same response, which states its `as_of`. With `quote`, a
/// verified response includes a signed quote.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/price",
    operation_id = "get_price",
    tag = "Live",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"),
        ("quote" = Option<bool>, Query, description = "Adds a signed quote if the price is verified."),
        ("variant_id" = Option<String>, Query, description = "The one variant to quote. Without it, the quote \
            contains the first 50 variants.",
            pattern = "^[0-9]{1,19}$")),
    responses(
        (status = 200, description = "The price.", body = LivePriceAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
pub(crate) async fn get_price(
    State(gateway): State<LiveGateway>,
    mut path: PathParameters,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let ident = path.product_ident("ident");
    let mut reader = QueryReader::new(query.as_deref());
    let is_quoted = reader.optional("quote").boolean().unwrap_or(false);
    let variant = reader.optional("variant_id").parsed(variant);
    let ident = reader
        .finish(path, ident)?
        .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let quoter = quoter(&gateway, is_quoted, variant).await?;
    let answer = gateway
        .prices(PricesRequest::one(ident).quoted(quoter))
        .await
        .map_err(|error| problem(&error))?;
    let data = answer
        .entries
        .into_iter()
        .next()
        .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    if data.code == Some(UnverifiedCode::ProductNotFound) {
        return Err(Problem::new(ErrorCode::ProductNotFound));
    }
    if is_quoted && data.verified && data.quote.is_none() {
        let rule = Rule::Value("the product has no such variant");
        let place = vec!["query".into(), "variant_id".into()];
        return Err(Problem::invalid(vec![Violation::new(place, &rule, None)]));
    }
    let document = LivePriceAnswer {
        data,
        provenance: LiveProvenance {
            engine: "live",
            release: answer.release.to_string(),
        },
        as_of: answer.as_of,
        tier: "live",
    };
    Ok(api::json(StatusCode::OK, &document))
}

/// Returns the current prices of up to 20 products, queried from their brands' own stores.
///
/// The response has one entry for each ident, in the order of the request, in the format of `GET
/// /v1/products/{ident}/price`. Each entry has its own `verified`. An ident that is not in the catalogue gives an entry
/// with `code: "product_not_found"`; a malformed ident gives the status 422. A failing store affects only the entries
/// of that store. For rate limits, the request counts once for each store.
#[utoipa::path(
    post,
    path = "/v1/prices",
    operation_id = "get_prices",
    tag = "Live",
    request_body(content = PricesBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The prices.", body = LivePricesAnswer, headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
pub(crate) async fn get_prices(
    State(gateway): State<LiveGateway>,
    asker: Asker,
    body: JsonObject,
) -> Result<Response, Problem> {
    let mut reader = MembersReader::new(&body);
    let idents = reader.idents("idents", IDENTS_MAX);
    let is_quoted = quote(&mut reader, &body);
    let idents = reader.finish(idents)?;
    let request = PricesRequest::new(idents).ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let request = request.quoted(quoter(&gateway, is_quoted, None).await?);
    let answer = gateway.prices(request).await.map_err(|error| problem(&error))?;
    gateway.count_stores(&asker.caller, answer.stores()).await;
    let document = LivePricesAnswer {
        data: answer.entries,
        provenance: LiveProvenance {
            engine: "live",
            release: answer.release.to_string(),
        },
        as_of: answer.as_of,
        tier: "live",
    };
    Ok(api::json(StatusCode::OK, &document))
}

/// Reads the field `quote`, which is false by default.
fn quote(reader: &mut MembersReader<'_>, body: &JsonObject) -> bool {
    match body.0.get("quote") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(flag)) => *flag,
        Some(other) => {
            reader.refuse("quote", &Rule::BoolType, Some(other.clone()));
            false
        }
    }
}

/// Returns the signer of quotes if quotes are requested.
async fn quoter(gateway: &LiveGateway, is_quoted: bool, variant: Option<VariantId>) -> Result<Option<Quoter>, Problem> {
    if !is_quoted {
        return Ok(None);
    }
    let quoter = gateway.checkouts()?.quoter(variant).await;
    quoter.map(Some).map_err(|failure| failure.problem())
}

/// Limits log messages while the catalogue is unavailable.
static AWAY: LogThrottle = LogThrottle::new();

/// Converts a catalogue failure into a problem for the caller. Only the log contains the cause.
pub(super) fn problem(error: &CatalogueError) -> Problem {
    if !matches!(error, CatalogueError::NotReady)
        && let Some(left_out) = AWAY.is_due()
    {
        let error = error as &dyn std::error::Error;
        tracing::warn!(error, left_out, "the catalogue does not answer");
    }
    Problem::new(error.code())
}
