use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::write::{known, written};
use crate::operations::{IfNoneMatch, ShippingRequest};
use crate::schema::{ShippingAnswer, ShippingParameters};
use crate::server::QueryServer;

/// Shipping of a product to a pincode.
///
/// Terms are those of the brand's store, as far as it tells them; nothing is asked of the store. What is not known is
/// null. `delivery.basis` says what the days follow from. `pincode`: from what the store answered for this pincode, at
/// `sampled_at`. `zone`: from what it answered for others with the same first three digits, all of one zone; whether it
/// delivers to this one is then not known. `policy`: from its terms: when every rate states days, or from the days of dispatch and transit that its text tells, its cut-off,
/// working days and the holidays that are known. `unknown`: from
/// nothing, and there are none. Dates count from today in the market's time zone, and change the entity tag at midnight.
#[utoipa::path(
    get,
    path = "/v1/shipping",
    operation_id = "get_shipping",
    tag = "Discovery",
    params(ShippingParameters),
    responses(
        (status = 200, description = "Terms and delivery.", body = ShippingAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_shipping(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query())?;
    let answered = server.shipping_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>) -> Result<(ShippingRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let product = reader.required("product").parsed(product_ident);
    let pincode = reader
        .required("pincode")
        .parsed(|text| text.parse().map_err(|_| Rule::StringPatternMismatch("^[1-9][0-9]{5}$")));
    let ignored = reader.ignored();
    let both = reader.finish(PathParameters::none(), product.zip(pincode))?;
    let (product, pincode) = both.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    Ok((ShippingRequest { product, pincode }, ignored))
}
