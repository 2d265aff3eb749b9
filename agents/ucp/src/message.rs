//! Envelope of every response, and messages that accompany its result.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Version;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    Search,
    Lookup,
    Cart,
    Checkout,
    /// Discounts, an extension of carts and checkouts.
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

/// Field `ucp` of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Meta {
    version: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    capabilities: BTreeMap<&'static str, [Active; 1]>,
    /// Empty list in checkout responses, because agents cannot pay.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_handlers: Option<BTreeMap<&'static str, Active>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Active {
    version: Version,
}

impl Meta {
    /// Creates the metadata of a successful response.
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

    /// Creates the metadata of a response that reports why there is no result.
    fn error(version: Version, capability: Capability) -> Self {
        Self {
            status: Some("error"),
            ..Self::of(version, capability)
        }
    }
}

/// Message that accompanies or replaces a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    #[serde(rename = "type")]
    kind: &'static str,
    code: String,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    /// Part of the response that the message is about (JSONPath, RFC 9535).
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

    /// Sets the part of the response that the message is about.
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

    /// Creates an error that the agent can avoid by a different request.
    pub(crate) fn recoverable(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("recoverable"))
    }

    /// Creates an error that no other request for the same thing can avoid.
    pub(crate) fn unrecoverable(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("unrecoverable"))
    }

    /// Creates a message about a step that only a person can take.
    pub(crate) fn for_buyer(code: &str, content: impl Into<String>) -> Self {
        Self::new("error", code, content, Some("requires_buyer_input"))
    }
}

/// Response that reports why there is no result.
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
