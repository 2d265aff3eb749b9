//! Shared parts of the OpenAPI descriptions of operations. The protocol has its own schemas, so bodies are described as
//! plain objects.

use std::collections::BTreeMap;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};
use utoipa::{IntoParams, IntoResponses, PartialSchema, ToSchema};

/// A request body in the protocol's format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body;

/// Path parameter with the id of the cart or checkout.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdParameter;

#[derive(Debug, Clone, Copy)]
pub(super) struct OperationResponses;

/// Responses of an operation that creates something.
#[derive(Debug, Clone, Copy)]
pub(super) struct CreationResponses;

impl PartialSchema for Body {
    fn schema() -> RefOr<Schema> {
        let object = ObjectBuilder::new().schema_type(Type::Object);
        let told = "An object in the protocol's own schema for this operation.";
        RefOr::T(object.description(Some(told)).into())
    }
}

impl ToSchema for Body {
    fn name() -> std::borrow::Cow<'static, str> {
        "UcpMessage".into()
    }
}

impl IntoParams for IdParameter {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("The id of the cart. A checkout has the id of its cart."))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)));
        vec![id.build()]
    }
}

impl IntoResponses for OperationResponses {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = faults();
        let told = answer("The requested object, or messages that state why it is missing.");
        responses.insert("200".to_owned(), RefOr::T(told.build()));
        responses
    }
}

impl IntoResponses for CreationResponses {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = faults();
        for (status, told) in [
            ("201", "The created cart or checkout."),
            ("200", "Messages that state why nothing was created."),
        ] {
            responses.insert(status.to_owned(), RefOr::T(answer(told).build()));
        }
        responses
    }
}

fn described(description: &str) -> ResponseBuilder {
    ResponseBuilder::new()
        .description(description)
        .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
}

fn answer(description: &str) -> ResponseBuilder {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("UcpMessage")));
    described(description).content("application/json", body.build())
}

/// Returns the error responses that every operation has.
fn faults() -> BTreeMap<String, RefOr<Response>> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let told = ObjectBuilder::new()
        .property("code", text())
        .property("content", text())
        .required("code")
        .required("content")
        .build();
    let error = |description: &str| {
        let own = ContentBuilder::new().schema(Some(told.clone()));
        described(description).content("application/json", own.build())
    };
    let retry =
        |response: ResponseBuilder| response.header_ref("Retry-After", Ref::new("#/components/headers/RetryAfter"));
    let used = "The idempotency key was used with a different body, or its first request is still in flight.";
    let large = "The request line and headers are larger than the server accepts. The response has no body.";
    let mut responses = BTreeMap::new();
    for (status, response) in [
        ("400", error("The request is not valid.")),
        (
            "401",
            error("The operation needs a key, or the key of the request is not valid."),
        ),
        ("403", error("The caller may not do this.")),
        (
            "405",
            error("The path does not accept this method.").header_ref("Allow", Ref::new("#/components/headers/Allow")),
        ),
        ("408", retry(error("The body did not arrive in time."))),
        ("409", retry(error(used))),
        ("413", error("The body is too large.")),
        ("414", error("The URI is too long.")),
        ("429", retry(error("Too many requests."))),
        ("431", ResponseBuilder::new().description(large)),
        ("500", error("Something went wrong on our side.")),
        ("502", error("The store does not answer.")),
        ("503", retry(error("The server is not ready or is overloaded."))),
        ("504", error("The store took too long.")),
    ] {
        responses.insert(status.to_owned(), RefOr::T(response.build()));
    }
    responses
}
