use api::{Asker, JsonObject, LiveErrors, LogThrottle, MembersReader, PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::StatusCode;

use crate::catalogue::CatalogueError;
use crate::gateway::LiveGateway;
use crate::operations::prices::{IDENTS_MAX, PricesRequest};
use crate::schema::{LivePriceAnswer, LivePricesAnswer, LiveProvenance, PricesBody, UnverifiedCode};

/// What a product costs now, asked of the brand's own store.
///
/// `verified: true` means that the store said all of it, in the stored currency, for the country that the catalogue was
/// crawled for: of every variant that the catalogue has what it costs, or that it is gone. Variants that are new since the
/// crawl may be missing (`source: "graphql"` asks for known ones). With `verified: false` the numbers are the last stored snapshot, taken at `snapshot_at`, and `code` says
/// why: show them as unverified, and do not transact on them. `changes` tells what is different from the snapshot, by
/// variant. The answer comes within the server's budget, whatever the store does. Buyers who ask for the same within
/// seconds may get the same answer; it says its `as_of`.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/price",
    operation_id = "get_price",
    tag = "Live",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")),
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
) -> Result<Response, Problem> {
    let ident = path.product_ident("ident");
    let ident = api::QueryReader::new(None)
        .finish(path, ident)?
        .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let answer = gateway
        .prices(PricesRequest::one(ident))
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

/// What up to 20 products cost now, asked of their brands' own stores.
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
    let idents = reader.finish(idents)?;
    let request = PricesRequest::new(idents).ok_or_else(|| Problem::new(ErrorCode::Internal))?;
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
