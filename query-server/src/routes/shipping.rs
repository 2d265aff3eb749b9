use api::{EntityTag, GraphAnswer, GraphErrors, Problem};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use crate::plan::shipping::ShippingPlan;
use crate::render::shipping;
use crate::schema::{ShippingAnswer, ShippingParameters};
use crate::server::QueryServer;

/// Shipping of a product to a pincode.
///
/// Terms are those of the brand's store, as far as it tells them; nothing is asked of the store. What is not known is
/// null. `delivery.basis` says what the days follow from. `pincode`: from what the store answered for this pincode, at
/// `sampled_at`. `zone`: from what it answered for others with the same first three digits, all of one zone; whether it
/// delivers to this one is then not known. `policy`: from its terms, when every rate states days. `unknown`: from
/// nothing, and there are none. Dates count from today in the market's time zone, and change the entity tag at midnight.
#[utoipa::path(
    get,
    path = "/v1/shipping",
    operation_id = "get_shipping",
    tag = "Discovery",
    params(ShippingParameters),
    responses(
        (status = 200, description = "Terms and delivery.", body = ShippingAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_shipping(State(server): State<QueryServer>, request: Request) -> Result<GraphAnswer, Problem> {
    let plan = ShippingPlan::read(request.uri().query())?;
    let served = server.served()?;
    let at = served
        .release
        .find(&plan.ident)
        .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?;
    let ahead_ms = i64::from(server.0.config.market_utc_offset_minutes) * 60_000;
    let local = server.0.clock.now().plus_millis(ahead_ms);
    let (date, query) = (shipping::date(local), request.uri().query().unwrap_or_default());
    let tag = EntityTag::of(&[served.stamp(), b"shipping", query.as_bytes(), date.as_bytes()]);
    GraphAnswer::unless_known(request.headers(), tag, || {
        Ok(shipping::answer(&served, at, plan.pincode, local))
    })
}
