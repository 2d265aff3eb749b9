use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::fault::Fault;
use super::message::Request;
use super::version::{Era, LEGACY, MODERN};

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A header as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentHeader<'a> {
    Nothing,
    /// Once, as text without white space around it.
    Text(&'a str),
    /// Several times, or not as text.
    Unreadable,
}

/// The headers' statements about the message in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// `MCP-Protocol-Version`
    pub(crate) version: SentHeader<'a>,
    /// `Mcp-Method`
    pub(crate) method: SentHeader<'a>,
    /// `Mcp-Name`
    pub(crate) name: SentHeader<'a>,
}

impl Head<'_> {
    /// True for headers of an era that has no batches and no streams of the server's own.
    pub(crate) fn is_modern(&self) -> bool {
        matches!(self.version, SentHeader::Text(version) if MODERN.contains(&version))
    }

    /// Looks at the version of a message that has no `_meta`: a notification, or one of a batch.
    pub(crate) fn check_version(&self) -> Result<(), Fault> {
        match self.version {
            SentHeader::Text(version) if !LEGACY.contains(&version) && !MODERN.contains(&version) => {
                Err(Fault::unsupported_version(version))
            }
            SentHeader::Unreadable => Err(Fault::invalid_request(
                "MCP-Protocol-Version is to be sent once, as ASCII.",
            )),
            _ => Ok(()),
        }
    }
}

/// Decides the era in which a request is answered, and checks that it says all that this era asks for.
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
        // A version that nobody knows is what is wrong, whatever else is.
        (None, SentHeader::Text(version)) if !MODERN.contains(&version) && !LEGACY.contains(&version) => {
            return Err(Fault::unsupported_version(version));
        }
        _ => {
            let why = format!("`params._meta` is to name the protocol version as `{META_VERSION}`.");
            return Err(Fault::incomplete_meta(why));
        }
    };
    match head.version {
        SentHeader::Text(version) if version == stated => {}
        SentHeader::Text(_) => {
            let why = format!("MCP-Protocol-Version and `{META_VERSION}` name two versions.");
            return Err(Fault::header_mismatch(why));
        }
        SentHeader::Nothing => return Err(Fault::header_mismatch("The header MCP-Protocol-Version is missing.")),
        SentHeader::Unreadable => return head.check_version(),
    }
    if !MODERN.contains(&stated) {
        return Err(Fault::unsupported_version(stated));
    }
    if !request.meta(META_CAPABILITIES).is_some_and(Value::is_object) {
        let why = format!("`params._meta` is to say what the client can do, as `{META_CAPABILITIES}`.");
        return Err(Fault::incomplete_meta(why));
    }
    same("Mcp-Method", head.method, &request.method)?;
    // A name must be in both places. Where the body has none, the method's own check finds it.
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

/// Holds a header to what the body says.
fn same(header: &str, sent: SentHeader<'_>, body: &str) -> Result<(), Fault> {
    let mismatch = |why: &str| Err(Fault::header_mismatch(format!("The header {header} {why}.")));
    match sent {
        SentHeader::Nothing => mismatch("is missing"),
        SentHeader::Unreadable => mismatch("is to be sent once, as ASCII"),
        SentHeader::Text(text) => match decoded(text) {
            Some(text) if text == body => Ok(()),
            Some(_) => mismatch("does not say what the body says"),
            None => mismatch("is no base64 of UTF-8"),
        },
    }
}

/// The text that a header stands for: itself, or what `=?base64?…?=` holds.
fn decoded(text: &str) -> Option<String> {
    let packed = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match packed {
        None => Some(text.to_owned()),
        Some(packed) => String::from_utf8(STANDARD.decode(packed).ok()?).ok(),
    }
}
