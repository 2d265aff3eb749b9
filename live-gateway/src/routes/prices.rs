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

/// The current price of a product, asked of the brand's own store.
///
/// `verified: true` means that the store said all of it, in the stored currency, for the country that the catalogue was
/// crawled for: of every variant that the catalogue has what it costs, or that it is gone. Variants that are new since the
/// crawl may be missing (`source: "graphql"` asks for known ones). With `verified: false` the numbers are the last stored snapshot, taken at `snapshot_at`, and `code` says
/// why: show them as unverified, and do not transact on them. `changes` tells what is different from the snapshot, by
/// variant. The answer comes within the server's budget, whatever the store does. Buyers who ask for the same within
/// seconds may get the same answer; it says its `as_of`. With `quote` a verified answer brings a signed quote of itself.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/price",
    operation_id = "get_price",
    tag = "Live",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"),
        ("quote" = Option<bool>, Query, description = "Adds a signed quote, where the price is verified."),
        ("variant_id" = Option<String>, Query, description = "The one variant that the quote is of; without it the first 50.",
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

/// The current prices of up to 20 products, asked of their brands' own stores.
///
/// One entry for each ident, in the order asked, in the shape of `GET /v1/products/{ident}/price`, each with its own
/// `verified`. An ident that the catalogue does not have gives an entry with `code: "product_not_found"`; a malformed one
/// is a 422. One store's trouble costs its own entries alone. The request counts as many as there are stores.
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

/// The member `quote`: false where it is absent.
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

/// The maker of quotes, where some are asked for.
async fn quoter(gateway: &LiveGateway, is_quoted: bool, variant: Option<VariantId>) -> Result<Option<Quoter>, Problem> {
    if !is_quoted {
        return Ok(None);
    }
    let quoter = gateway.checkouts()?.quoter(variant).await;
    quoter.map(Some).map_err(|failure| failure.problem())
}

/// While the catalogue is away, every request would say so.
static AWAY: LogThrottle = LogThrottle::new();

/// The word for a caller on a catalogue that does not answer; the cause is for the log.
pub(super) fn problem(error: &CatalogueError) -> Problem {
    if !matches!(error, CatalogueError::NotReady)
        && let Some(left_out) = AWAY.is_due()
    {
        let error = error as &dyn std::error::Error;
        tracing::warn!(error, left_out, "the catalogue does not answer");
    }
    Problem::new(error.code())
}
