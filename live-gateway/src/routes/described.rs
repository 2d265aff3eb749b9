//! Shared parts of the API description of cart operations.

use std::collections::BTreeMap;

use api::LiveErrors;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{IntoParams, IntoResponses};

const PROBLEM: &str = "application/problem+json";

/// Parameters with the idempotency header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Once;

/// Parameters with the cart id in the path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfCart;

/// Parameters with the cart id and the idempotency header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartOnce;

impl IntoParams for Once {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(255));
        let key = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "Printable ASCII, 1 to 255 characters. A repeated request with the same key is not executed again. \
                 Its first answer is stored for a day and returned verbatim, with `Idempotent-Replayed: true`. \
                 Exception: an answer with only temporary problems (`store_unavailable`, `store_throttled`, \
                 `store_timeout`, …) is not stored. A repeated request then continues where the first one stopped.",
            ))
            .schema(Some(text));
        vec![key.build()]
    }
}

impl IntoParams for OfCart {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new()
            .name("cart_id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("The cart."))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)));
        vec![id.build()]
    }
}

impl IntoParams for CartOnce {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut both = OfCart::into_params(&place);
        both.extend(Once::into_params(place));
        both
    }
}

/// Errors of an operation that creates something for a caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnceErrors;

/// Errors of an operation on one cart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CartErrors;

fn problem(description: &str) -> ResponseBuilder {
    let schema = Ref::from_schema_name("Problem");
    ResponseBuilder::new()
        .description(description)
        .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
        .content(PROBLEM, ContentBuilder::new().schema(Some(schema)).build())
}

impl IntoResponses for OnceErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = LiveErrors::responses();
        let conflict = problem("A request with this idempotency key is in flight.")
            .header_ref("Retry-After", Ref::new("#/components/headers/RetryAfter"));
        responses.insert("409".to_owned(), RefOr::T(conflict.build()));
        let unknown = problem("The outcome is unknown (`outcome_unknown`), or the store took too long.");
        responses.insert("504".to_owned(), RefOr::T(unknown.build()));
        responses
    }
}

impl IntoResponses for CartErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = OnceErrors::responses();
        let absent = problem(
            "The caller has no such cart, the cart has nothing of the brand or not the named line, or no store sells \
             any of the items. In the last case `problems` states the reason for each item.",
        );
        responses.insert("404".to_owned(), RefOr::T(absent.build()));
        responses
    }
}
