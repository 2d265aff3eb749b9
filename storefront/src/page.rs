//! The kind of page that a caller requests, and the store's response.

use bytes::Bytes;
use data_model::CurrencyCode;
use http::{HeaderMap, StatusCode};
use url::Url;

use crate::error::StoreError;

/// Kind of response that a caller expects. It determines the `Accept` header, and whether the response must be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// JSON. Any other response is [`StoreError::NotJson`].
    Json,
    /// An HTML page of the shop.
    Html,
    /// Plain text.
    Text,
    /// Any content type.
    Any,
}

impl Accept {
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json, text/javascript;q=0.9, */*;q=0.1",
            Self::Html => "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
            Self::Text => "text/plain, */*;q=0.1",
            Self::Any => "*/*",
        }
    }
}

/// Result of a successful fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The page still matches the given validator (304).
    NotModified,
    /// The page itself.
    Body(Page),
}

/// A page as the store sent it, decompressed, complete, and converted to UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Body of the page.
    pub bytes: Bytes,
    /// Validator of the page, for `if_none_match` of the next request. Stores need not send one.
    pub etag: Option<String>,
    /// Content type that the store declares.
    pub content_type: Option<String>,
    /// Currency of the store's amounts, if the store states one.
    pub cart_currency: Option<CurrencyCode>,
    /// Final address of the page, after redirects.
    pub url: Url,
}

#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) fetched: FetchOutcome,
    pub(crate) headers: HeaderMap,
}

impl CallResult {
    pub(crate) fn into_page(self) -> Result<Page, StoreError> {
        match self.fetched {
            FetchOutcome::Body(page) => Ok(page),
            // A 304 without a validator in the request is an error.
            FetchOutcome::NotModified => Err(StoreError::Status {
                status: StatusCode::NOT_MODIFIED.as_u16(),
            }),
        }
    }
}
