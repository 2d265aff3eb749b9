use serde_json::{Map, Value};

use super::fault::Fault;
use super::message::Request;
use super::version::{Era, negotiated};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MethodCall {
    /// Handshake of the legacy revisions, with the negotiated revision.
    Initialize(&'static str),
    /// Method that replaces the handshake in the modern era.
    Discover,
    Ping,
    ListTools,
    ListPrompts,
    ListResources,
    ListResourceTemplates,
    /// Read of the resource with this name, which may not exist.
    ReadResource(String),
    /// Call of the tool with this name, which may not exist.
    CallTool {
        name: String,
        arguments: Map<String, Value>,
    },
}

impl MethodCall {
    /// Returns a short name for metrics, which never contains text of the client.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Discover => "server/discover",
            Self::Ping => "ping",
            Self::ListTools => "tools/list",
            Self::ListPrompts => "prompts/list",
            Self::ListResources => "resources/list",
            Self::ListResourceTemplates => "resources/templates/list",
            Self::ReadResource(_) => "resources/read",
            Self::CallTool { .. } => "tools/call",
        }
    }
}

pub(crate) fn asked(request: Request, era: Era) -> Result<MethodCall, Fault> {
    request.params()?;
    match (request.method.as_str(), era) {
        ("initialize", Era::Legacy) => match request.param("protocolVersion").and_then(Value::as_str) {
            Some(version) => Ok(MethodCall::Initialize(negotiated(version))),
            None => Err(Fault::invalid_params("`params.protocolVersion` must be a string.")),
        },
        ("ping", Era::Legacy) => Ok(MethodCall::Ping),
        ("server/discover", Era::Modern) => Ok(MethodCall::Discover),
        ("tools/list", _) => unpaged(&request, MethodCall::ListTools),
        ("prompts/list", _) => unpaged(&request, MethodCall::ListPrompts),
        ("resources/list", _) => unpaged(&request, MethodCall::ListResources),
        ("resources/templates/list", _) => unpaged(&request, MethodCall::ListResourceTemplates),
        ("resources/read", _) => match request.param("uri").and_then(Value::as_str) {
            Some(uri) => Ok(MethodCall::ReadResource(uri.to_owned())),
            None => Err(Fault::unknown_resource(None, era)),
        },
        ("prompts/get", _) => Err(Fault::invalid_params("This server has no prompts.")),
        ("tools/call", _) => call(request),
        _ => Err(Fault::unknown_method(era == Era::Modern)),
    }
}

/// Rejects cursors. Every list has a single page, so this server never issued a cursor.
fn unpaged(request: &Request, asked: MethodCall) -> Result<MethodCall, Fault> {
    match request.param("cursor") {
        None | Some(Value::Null) => Ok(asked),
        Some(_) => Err(Fault::invalid_params("`params.cursor` was not issued by this server.")),
    }
}

fn call(request: Request) -> Result<MethodCall, Fault> {
    let Some(Value::Object(mut params)) = request.params else {
        return Err(Fault::invalid_params("`params.name` must name a tool."));
    };
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(Fault::invalid_params("`params.name` must name a tool."));
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(Fault::invalid_params("`params.arguments` must be an object.")),
    };
    Ok(MethodCall::CallTool { name, arguments })
}
