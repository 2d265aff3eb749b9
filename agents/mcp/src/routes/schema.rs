//! Loose schemas of messages for the OpenAPI description, because the protocol has its own specification.

use std::collections::BTreeMap;

use api::LiveErrors;
use serde_json::json;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

const JSON: &str = "application/json";

/// One message or a batch.
#[derive(Debug)]
pub struct McpBody;

/// One response, or the responses of a batch.
#[derive(Debug)]
struct McpAnswer;

/// A JSON-RPC error.
#[derive(Debug)]
struct McpError;

/// Possible responses to a POST.
#[derive(Debug)]
pub(super) struct McpAnswered;

impl IntoResponses for McpAnswered {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let content = |schema: RefOr<Schema>| ContentBuilder::new().schema(Some(schema)).build();
        let response = |description: &str| {
            ResponseBuilder::new()
                .description(description)
                .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
        };
        let fault = |description: &str| response(description).content(JSON, content(McpError::schema()));
        let problem = RefOr::Ref(Ref::from_schema_name("Problem"));
        let mut responses = LiveErrors::responses();
        for (status, response) in [
            (
                "200",
                response("The answer. For a batch: the answers in the order of its messages.")
                    .content(JSON, content(McpAnswer::schema()))
                    .content("text/event-stream", content(RefOr::T(Schema::from(text())))),
            ),
            (
                "202",
                response("The body contains only notifications, which are not answered."),
            ),
            (
                "400",
                fault("The body is not a valid message, or the headers do not match it."),
            ),
            (
                "403",
                response("The origin may not send requests, or the host name is not one of this server's.")
                    .content("application/problem+json", content(problem)),
            ),
            (
                "404",
                fault("The method does not exist. Sent only in protocol revisions without `initialize`."),
            ),
        ] {
            responses.insert(status.to_owned(), RefOr::T(response.build()));
        }
        responses
    }
}

/// Possible responses of an endpoint whose tools report faults as JSON-RPC errors with the corresponding HTTP status.
#[derive(Debug)]
pub struct McpFaulted;

impl IntoResponses for McpFaulted {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = McpAnswered::responses();
        let problem = || RefOr::Ref(Ref::from_schema_name("Problem"));
        let content = |schema: RefOr<Schema>| ContentBuilder::new().schema(Some(schema)).build();
        for (status, description) in [
            (
                "401",
                "The operation needs a key, or the key of the request is not valid.",
            ),
            ("403", "The caller, the page's origin or the host name is not allowed."),
            (
                "409",
                "The idempotency key was used with a different request, or its first request is still in flight.",
            ),
            ("429", "Too many requests."),
            ("500", "Something went wrong on our side."),
            ("502", "The store does not answer."),
            ("503", "The server is not ready or is overloaded."),
            ("504", "The store took too long."),
        ] {
            let response = ResponseBuilder::new()
                .description(description)
                .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
                .content(JSON, content(McpError::schema()))
                .content("application/problem+json", content(problem()));
            responses.insert(status.to_owned(), RefOr::T(response.build()));
        }
        responses
    }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn whole() -> ObjectBuilder {
    let format = SchemaFormat::KnownFormat(KnownFormat::Int32);
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(format))
}

/// Returns a schema that allows any type.
fn any(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .description(Some(description))
}

fn id() -> OneOfBuilder {
    OneOfBuilder::new()
        .item(text())
        .item(ObjectBuilder::new().schema_type(Type::Integer))
}

impl PartialSchema for McpBody {
    fn schema() -> RefOr<Schema> {
        let absent = "If absent, the message is a notification, which is not answered.";
        let message = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("jsonrpc", text().enum_values(Some(["2.0"])))
            .property("id", id().description(Some(absent)))
            .property("method", text().description(Some("`tools/list`, `tools/call`, …")))
            .property("params", any("The parameters of the method."))
            .required("jsonrpc")
            .required("method");
        let batch = ArrayBuilder::new()
            .items(RefOr::T(Schema::from(any("A message."))))
            .description(Some(
                "A batch. An item that is not a valid message is answered with its own error.",
            ))
            .min_items(Some(1));
        let body = OneOfBuilder::new()
            .item(message)
            .item(batch)
            .description(Some("A JSON-RPC 2.0 message, or a batch of them."))
            .examples([json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })]);
        RefOr::T(body.into())
    }
}

impl PartialSchema for McpAnswer {
    fn schema() -> RefOr<Schema> {
        let answer = || {
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .property("jsonrpc", text())
                .required("jsonrpc")
        };
        let answers = ArrayBuilder::new().items(RefOr::T(Schema::from(answer())));
        let body = OneOfBuilder::new()
            .item(answer())
            .item(answers)
            .description(Some("A JSON-RPC 2.0 answer, or the answers of a batch."));
        RefOr::T(body.into())
    }
}

impl PartialSchema for McpError {
    fn schema() -> RefOr<Schema> {
        let error = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("code", whole())
            .property("message", text())
            .property("data", any("Further details of the error, if there are any."))
            .required("code")
            .required("message");
        let body = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("jsonrpc", text())
            .property("id", id().item(ObjectBuilder::new().schema_type(Type::Null)))
            .property("error", error)
            .required("jsonrpc")
            .required("id")
            .required("error")
            .description(Some("A JSON-RPC 2.0 error."));
        RefOr::T(body.into())
    }
}

impl ToSchema for McpBody {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_described_as_they_are_written() {
        for schema in [McpBody::schema(), McpAnswer::schema(), McpError::schema()] {
            let told = serde_json::to_value(&schema).unwrap();
            assert!(told["description"].as_str().unwrap().contains("JSON-RPC"), "{told}");
        }
    }
}
