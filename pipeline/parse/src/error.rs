/// Maximum length in bytes of a record's excerpt that is kept for the operator.
pub const EXCERPT_BYTES_MAX: usize = 4096;

/// Reason why a body as a whole is not the expected document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The body is only white space.
    #[error("the body is empty")]
    Empty,
    /// The body is another kind of document, such as an HTML page or plain text.
    #[error("the body is not JSON, it begins with {begins_with:?}")]
    NotJson {
        /// Start of the body.
        begins_with: String,
    },
    /// The body ends before its JSON does.
    #[error("the body's JSON is truncated after {bytes} bytes")]
    Truncated {
        /// Length of the body in bytes.
        bytes: usize,
    },
    /// The JSON around the records is invalid.
    #[error("invalid JSON at byte {offset}: expected {expected}")]
    Malformed {
        /// Byte offset of the fault.
        offset: usize,
        /// Description of the expected text.
        expected: &'static str,
    },
    /// The body is JSON, but has neither `products` nor `product`.
    #[error("the JSON contains no products: {begins_with:?}")]
    NoProducts {
        /// Start of the body.
        begins_with: String,
    },
    /// The body is JSON, but not a store description.
    #[error("the JSON does not describe a store: {begins_with:?}")]
    NoStore {
        /// Start of the body.
        begins_with: String,
    },
    /// The body is not UTF-8, which JSON requires, or is not text.
    #[error("the body is not UTF-8: it has {invalid} invalid sequences in {bytes} bytes")]
    NotUtf8 {
        /// Number of invalid UTF-8 sequences until counting stopped.
        invalid: usize,
        /// Length of the body in bytes.
        bytes: usize,
    },
    /// The body is larger than any legitimate answer of a store.
    #[error("the body is too large: {what} {found}, at most {limit}")]
    TooLarge {
        /// Description of what is too large.
        what: &'static str,
        /// Amount found until counting stopped.
        found: usize,
        /// Largest amount allowed.
        limit: usize,
    },
}

/// Record that is not in the form of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecord {
    /// Shopify's id, if it could be read.
    pub id: Option<u64>,
    /// Position on the page, starting at 1.
    pub position: usize,
    /// Reason for an operator, such as `variants[2].price: expected text, found object`.
    pub reason: String,
    /// Verbatim record, truncated to [`EXCERPT_BYTES_MAX`].
    pub excerpt: String,
}

impl BadRecord {
    /// Returns Shopify's id of the record if it could be read, or else its position (`product 17`).
    #[must_use]
    pub fn subject(&self) -> String {
        self.id
            .map_or_else(|| format!("product {}", self.position), |id| id.to_string())
    }
}

/// Returns the start of `bytes` as text of at most `limit` bytes, with invalid UTF-8 replaced.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    // A replaced byte may grow to three bytes.
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(limit)]).into_owned();
    text.truncate(text.floor_char_boundary(limit));
    text
}
