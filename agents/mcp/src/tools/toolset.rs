use std::fmt;

use api::{Asker, OperationAnswer, Problem};
use async_trait::async_trait;
use serde_json::{Map, Value};

/// Tools of an endpoint with their results and common texts.
#[async_trait]
pub trait Toolset: fmt::Debug + Send + Sync {
    /// Returns the JSON array of tools for `tools/list`, on one line and in a fixed order.
    fn list(&self) -> &str;

    /// Returns the names of the tools, in the same order.
    fn names(&self) -> &[&'static str];

    /// Returns the resources that clients can read.
    fn resources(&self) -> &[Resource] {
        &[]
    }

    /// Returns the instructions for clients of the endpoint.
    fn instructions(&self) -> &str;

    /// Returns JSON pointers to the texts in a result that shops and their customers wrote. Such a text may be missing.
    fn untrusted(&self) -> &'static [&'static str];

    /// Calls the tool with one of the names in [`Toolset::names`]. Dropping the future cancels the call.
    async fn call(&self, name: &'static str, arguments: Map<String, Value>, asker: Asker) -> ToolOutcome;

    /// Returns the result of a call that does not run because of a timeout or a rate limit.
    fn refused(&self, problem: Problem, asker: &Asker) -> ToolOutcome;
}

/// A text resource that clients read by URI.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// URI of the resource.
    pub uri: &'static str,
    /// Programmatic name of the resource.
    pub name: &'static str,
    /// Title of the resource for people.
    pub title: &'static str,
    /// Description of the resource's purpose.
    pub description: &'static str,
    /// Media type of the text.
    pub mime_type: &'static str,
    /// Content of the resource.
    pub text: String,
    /// `_meta` of the resource: a JSON object.
    pub meta: Value,
}

/// Outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// A result: a JSON object, or a problem document if the call failed.
    Answer(OperationAnswer),
    /// A JSON-RPC error.
    Error(ToolError),
}

/// A JSON-RPC error from a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// Status of the HTTP response if the message was not part of a batch.
    pub status: u16,
    /// JSON-RPC error code.
    pub code: i64,
    /// Error message for people.
    pub message: String,
    /// Error data for programs.
    pub data: Value,
}
