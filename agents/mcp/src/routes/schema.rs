//! Messages, as the interface description has them: loosely, for the protocol has a description of its own.

use serde_json::json;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// One message, or a batch.
#[derive(Debug)]
pub(crate) struct McpBody;

/// One answer, or those of a batch.
#[derive(Debug)]
pub(crate) struct McpAnswer;

/// An error of JSON-RPC.
#[derive(Debug)]
pub(crate) struct McpError;

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Of whatever type.
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
                "A batch. What is no message in it is answered with an error of its own.",
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
            .property("code", ObjectBuilder::new().schema_type(Type::Integer))
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
impl ToSchema for McpAnswer {}
impl ToSchema for McpError {}

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
