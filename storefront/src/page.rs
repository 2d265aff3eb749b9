//! The page that a caller asks to read, and the answer of its store.

use bytes::Bytes;
use data_model::CurrencyCode;
use http::{HeaderMap, StatusCode};
use url::Url;

use crate::error::StoreError;

/// The kind of answer that a caller wants to read; decides the `Accept` header, and whether the answer must be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// JSON; anything else that comes is [`StoreError::NotJson`].
    Json,
    /// A page of the shop.
    Html,
    /// A site map.
    Xml,
    /// Plain text.
    Text,
    /// Whatever comes.
    Any,
}

impl Accept {
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json, text/javascript;q=0.9, */*;q=0.1",
            Self::Html => "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
            Self::Xml => "application/xml, text/xml;q=0.9, */*;q=0.1",
            Self::Text => "text/plain, */*;q=0.1",
            Self::Any => "*/*",
        }
    }
}

/// The result of a fetch that succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The page is the one whose validator was given (304).
    NotModified,
    /// The page.
    Body(Page),
}

/// A page as the store sent it, decompressed and complete; in UTF-8 where the store says that it is in Latin-1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The body.
    pub bytes: Bytes,
    /// Its validator, to be given as `if_none_match` the next time. Stores need not send one.
    pub etag: Option<String>,
    /// The type that the store says it is.
    pub content_type: Option<String>,
    /// The currency that the store says that its amounts are in, where it does.
    pub cart_currency: Option<CurrencyCode>,
    /// The address that it came from in the end, after redirects.
    pub url: Url,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) fetched: FetchOutcome,
    pub(crate) headers: HeaderMap,
}

impl CallResult {
    pub(crate) fn into_page(self) -> Result<Page, StoreError> {
        match self.fetched {
            FetchOutcome::Body(page) => Ok(page),
            // Comes only where a validator was sent.
            FetchOutcome::NotModified => Err(StoreError::Status {
                status: StatusCode::NOT_MODIFIED.as_u16(),
            }),
        }
    }
}
