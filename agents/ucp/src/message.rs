//! The envelope of every answer, and messages beside its result.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Version;

/// Capabilities by their names in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    Search,
    Lookup,
    Cart,
    Checkout,
    /// Extends carts and checkouts.
    Discount,
}

impl Capability {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Search => "dev.ucp.shopping.catalog.search",
            Self::Lookup => "dev.ucp.shopping.catalog.lookup",
            Self::Cart => "dev.ucp.shopping.cart",
            Self::Checkout => "dev.ucp.shopping.checkout",
            Self::Discount => "dev.ucp.shopping.discount",
        }
    }
}

/// The member `ucp` of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Meta {
    version: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    capabilities: BTreeMap<&'static str, [Active; 1]>,
    /// There where a checkout is answered, and empty: nothing is paid by an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_handlers: Option<BTreeMap<&'static str, Active>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Active {
    version: Version,
}

impl Meta {
    /// Of an answer that did what was asked.
    pub(crate) fn of(version: Version, capability: Capability) -> Self {
        let is_checkout = capability == Capability::Checkout;
        let extension = (is_checkout || capability == Capability::Cart).then_some(Capability::Discount);
        let active = [capability].into_iter().chain(extension);
        Self {
            version,
            status: None,
            capabilities: active.map(|one| (one.name(), [Active { version }])).collect(),
            payment_handlers: is_checkout.then(BTreeMap::new),
        }
    }

    /// Of an answer that says why there is none.
    fn error(version: Version, capability: Capability) -> Self {
        Self {
            status: Some("error"),
            ..Self::of(version, capability)
        }
    }
}

/// Said beside a result, or in place of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    #[serde(rename = "type")]
    kind: &'static str,
    code: String,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    /// The part of the answer that it is about (JSONPath, RFC 9535).
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl Message {
    fn new(kind: &'static str, code: &str, content: impl Into<String>, severity: Option<&'static str>) -> Self {
        Self {
            kind,
            code: code.to_owned(),
            content: content.into(),
            severity,
            path: None,
        }
    }

    /// Says what of the answer it is about.
    pub(crate) fn about(self, path: String) -> Self {
        Self {
            path: Some(path),
            ..self
        }
    }

    pub(crate) fn info(code: &str, content: impl Into<String>) -> Self {
        Self::new("info", code, content, None)
    }

    pub(crate) fn warning(code: &str, content: impl Into<String>) -> Self {
        Self::new("warning", code, content, None)
    }

    /// A fault that the agent can avoid by another request.
    pub(crate) fn recoverable(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("recoverable"))
    }

    /// A fault that no other request for the same thing avoids.
    pub(crate) fn unrecoverable(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("unrecoverable"))
    }

    /// A step that only a person can take.
    pub(crate) fn for_buyer(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("requires_buyer_input"))
    }
}

/// An answer that says why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ErrorAnswer {
    ucp: Meta,
    messages: Vec<Message>,
    continue_url: String,
}

impl ErrorAnswer {
    pub(crate) fn new(version: Version, capability: Capability, messages: Vec<Message>, continue_url: &str) -> Self {
        Self {
            ucp: Meta::error(version, capability),
            messages,
            continue_url: continue_url.to_owned(),
        }
    }
}
