//! Loose schemas of messages for the OpenAPI description. The protocol has a specification of its own.

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
                response("The answer, or the answers of a batch in its order.")
                    .content(JSON, content(McpAnswer::schema()))
                    .content("text/event-stream", content(RefOr::T(Schema::from(text())))),
            ),
            (
                "202",
                response("The body holds notifications alone: there is no answer."),
            ),
            ("400", fault("No message, or headers that do not fit it.")),
            (
                "403",
                response("A page of an origin that may not ask, or a name that is not this server's.")
                    .content("application/problem+json", content(problem)),
            ),
            (
                "404",
                fault("No such method, where the revision is one without `initialize`."),
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
            ("401", "A key is needed, or the one that was sent is not valid."),
            ("403", "The caller, the page or the name may not do this."),
            (
                "409",
                "The key was used with another request, or its request is in flight.",
            ),
            ("429", "Too many requests."),
            ("500", "Something went wrong on our side."),
            ("502", "The store does not answer."),
            ("503", "Not ready, or too much is asked at once."),
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
        let absent = "Absent: a notification, which is not answered.";
        let message = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("jsonrpc", text().enum_values(Some(["2.0"])))
            .property("id", id().description(Some(absent)))
            .property("method", text().description(Some("`tools/list`, `tools/call`, …")))
            .property("params", any("What the method takes."))
            .required("jsonrpc")
            .required("method");
        let batch = ArrayBuilder::new()
            .items(RefOr::T(Schema::from(any("A message."))))
            .description(Some(
                "A batch. An item that is no message is answered with an error of its own.",
            ))
            .min_items(Some(1));
        let body = OneOfBuilder::new()
            .item(message)
            .item(batch)
            .description(Some("A message of JSON-RPC 2.0, or a batch of them."))
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
            .description(Some("An answer of JSON-RPC 2.0, or those of a batch."));
        RefOr::T(body.into())
    }
}

impl PartialSchema for McpError {
    fn schema() -> RefOr<Schema> {
        let error = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("code", whole())
            .property("message", text())
            .property("data", any("More about it, where there is more."))
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
            .description(Some("An error of JSON-RPC 2.0."));
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
