use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::write::{known, written};
use crate::operations::{IfNoneMatch, ShippingRequest};
use crate::schema::{ShippingAnswer, ShippingParameters};
use crate::server::QueryServer;

/// Returns the shipping of a product to a pincode.
///
/// Terms are those that the brand's store states; the store is not contacted. Unknown facts are null. `delivery.basis`
/// names the basis of the delivery days. `pincode`: the store's answer for this pincode, at `sampled_at`. `zone`: the
/// store's answers for other pincodes with the same first three digits, all in one zone; the answers do not show that
/// the store delivers to this pincode. `policy`: the store's terms, if every rate states days; otherwise the dispatch
/// and transit days in the text of the terms, with the cut-off time, working days and known holidays. `unknown`: no
/// days are known. Dates count from today in the market's time zone, and the entity tag changes at midnight.
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
