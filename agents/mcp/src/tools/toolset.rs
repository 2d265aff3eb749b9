use std::fmt;

use api::{Asker, OperationAnswer, Problem};
use async_trait::async_trait;
use serde_json::{Map, Value};

/// The tools of an endpoint, their answers, and their common texts.
#[async_trait]
pub trait Toolset: fmt::Debug + Send + Sync {
    /// The tools as `tools/list` lists them: a JSON array on one line, in a fixed order.
    fn list(&self) -> &str;

    /// Their names, in the same order.
    fn names(&self) -> &[&'static str];

    /// Resources that clients read.
    fn resources(&self) -> &[Resource] {
        &[]
    }

    /// The instructions for clients of the endpoint.
    fn instructions(&self) -> &str;

    /// JSON pointers to the parts of a result that hold what shops and their customers wrote, where they are there.
    fn untrusted(&self) -> &'static [&'static str];

    /// Calls the tool of this name, one of [`Toolset::names`]. Whoever drops the future has no more use for the answer.
    async fn call(&self, name: &'static str, arguments: Map<String, Value>, asker: Asker) -> ToolOutcome;

    /// The result of a call that is not carried out: too late, or too frequent.
    fn refused(&self, problem: Problem, asker: &Asker) -> ToolOutcome;
}

/// A text that clients read by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its name for clients.
    pub uri: &'static str,
    /// Its name for programs.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its purpose.
    pub description: &'static str,
    /// The type of its text.
    pub mime_type: &'static str,
    /// Its content.
    pub text: String,
    /// `_meta` of it: a JSON object.
    pub meta: Value,
}

/// The end of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// With a result: a JSON object, or where it is no success a problem's document.
    Answer(OperationAnswer),
    /// With an error of JSON-RPC.
    Error(ToolError),
}

/// An error of JSON-RPC that a tool ends with.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// The status of the HTTP answer, where the message came alone.
    pub status: u16,
    /// The code of JSON-RPC.
    pub code: i64,
    /// For people.
    pub message: String,
    /// For programs.
    pub data: Value,
}
