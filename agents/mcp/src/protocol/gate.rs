use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::fault::Fault;
use super::message::Request;
use super::version::{Era, LEGACY, MODERN};

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentHeader<'a> {
    Nothing,
    /// The header occurs once. The text has no surrounding white space.
    Text(&'a str),
    /// The header occurs several times or is no text.
    Unreadable,
}

/// Headers that describe the message in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(crate) version: SentHeader<'a>,
    pub(crate) method: SentHeader<'a>,
    pub(crate) name: SentHeader<'a>,
}

impl Head<'_> {
    /// True if the headers belong to an era without batches and server streams.
    pub(crate) fn is_modern(&self) -> bool {
        matches!(self.version, SentHeader::Text(version) if MODERN.contains(&version))
    }

    /// Checks the version of a message without `_meta`: a notification, or a message of a batch.
    pub(crate) fn check_version(&self) -> Result<(), Fault> {
        match self.version {
            SentHeader::Text(version) if !LEGACY.contains(&version) && !MODERN.contains(&version) => {
                Err(Fault::unsupported_version(version))
            }
            SentHeader::Unreadable => Err(Fault::invalid_request(
                "The header MCP-Protocol-Version must be sent once, as ASCII.",
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the era of a request, and checks that the request has all data that this era requires.
pub(crate) fn era(request: &Request, head: &Head<'_>) -> Result<Era, Fault> {
    let stated = request.meta(META_VERSION);
    let is_legacy = match head.version {
        SentHeader::Nothing => true,
        SentHeader::Text(version) => LEGACY.contains(&version),
        SentHeader::Unreadable => return head.check_version().map(|()| Era::Legacy),
    };
    if is_legacy && stated.is_none() && request.method != "server/discover" {
        return Ok(Era::Legacy);
    }
    modern(request, head, stated).map(|()| Era::Modern)
}

fn modern(request: &Request, head: &Head<'_>, stated: Option<&Value>) -> Result<(), Fault> {
    let stated = match (stated, head.version) {
        (Some(Value::String(stated)), _) => stated.as_str(),
        // An unknown version is reported first, even if something else is wrong too.
        (None, SentHeader::Text(version)) if !MODERN.contains(&version) && !LEGACY.contains(&version) => {
            return Err(Fault::unsupported_version(version));
        }
        _ => {
            let why = format!("`params._meta` must contain the protocol version as `{META_VERSION}`.");
            return Err(Fault::incomplete_meta(why));
        }
    };
    match head.version {
        SentHeader::Text(version) if version == stated => {}
        SentHeader::Text(_) => {
            let why = format!("MCP-Protocol-Version and `{META_VERSION}` name different versions.");
            return Err(Fault::header_mismatch(why));
        }
        SentHeader::Nothing => return Err(Fault::header_mismatch("The header MCP-Protocol-Version is missing.")),
        SentHeader::Unreadable => return head.check_version(),
    }
    if !MODERN.contains(&stated) {
        return Err(Fault::unsupported_version(stated));
    }
    if !request.meta(META_CAPABILITIES).is_some_and(Value::is_object) {
        let why = format!("`params._meta` must state the client's capabilities as `{META_CAPABILITIES}`.");
        return Err(Fault::incomplete_meta(why));
    }
    same("Mcp-Method", head.method, &request.method)?;
    // The name must be in the header and in the body. Another check reports a missing name in the body.
    let named = match request.method.as_str() {
        "tools/call" | "prompts/get" => request.param("name"),
        "resources/read" => request.param("uri"),
        _ => return Ok(()),
    };
    match named.and_then(Value::as_str) {
        Some(name) => same("Mcp-Name", head.name, name),
        None => Ok(()),
    }
}

/// Checks that a header equals the value in the body.
fn same(header: &str, sent: SentHeader<'_>, body: &str) -> Result<(), Fault> {
    let mismatch = |why: &str| Err(Fault::header_mismatch(format!("The header {header} {why}.")));
    match sent {
        SentHeader::Nothing => mismatch("is missing"),
        SentHeader::Unreadable => mismatch("must be sent once, as ASCII"),
        SentHeader::Text(text) => match decoded(text) {
            Some(text) if text == body => Ok(()),
            Some(_) => mismatch("does not match the body"),
            None => mismatch("is not valid base64 of UTF-8 text"),
        },
    }
}

/// Decodes a header value: the text itself, or the content of `=?base64?…?=`.
fn decoded(text: &str) -> Option<String> {
    let packed = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match packed {
        None => Some(text.to_owned()),
        Some(packed) => String::from_utf8(STANDARD.decode(packed).ok()?).ok(),
    }
}
