/// Longest excerpt of a record that is kept for the operator.
pub const EXCERPT_BYTES_MAX: usize = 4096;

/// The reason why a body as a whole is not the expected one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The body is only white space.
    #[error("the body is empty")]
    Empty,
    /// Another kind of document: an HTML page, a plain text.
    #[error("the body is no JSON, it begins with {begins_with:?}")]
    NotJson {
        /// Its beginning.
        begins_with: String,
    },
    /// The body ends before its JSON does.
    #[error("the body ends before its JSON does, after {bytes} bytes")]
    Truncated {
        /// The length of the body.
        bytes: usize,
    },
    /// The JSON around the records is broken.
    #[error("broken JSON at byte {offset}: expected {expected}")]
    Malformed {
        /// The place.
        offset: usize,
        /// The thing that should stand there.
        expected: &'static str,
    },
    /// JSON, but without `products` or `product`.
    #[error("the JSON holds no products: {begins_with:?}")]
    NoProducts {
        /// Its beginning.
        begins_with: String,
    },
    /// JSON, but no description of a store.
    #[error("the JSON is no object that describes a store: {begins_with:?}")]
    NoStore {
        /// Its beginning.
        begins_with: String,
    },
    /// The body is written in another alphabet than JSON is, or is none at all.
    #[error("the body is no UTF-8: {invalid} sequences of its {bytes} bytes are none")]
    NotUtf8 {
        /// The number of sequences that are no UTF-8, as far as they were counted.
        invalid: usize,
        /// The length of the body.
        bytes: usize,
    },
    /// A body that no store sends in good faith.
    #[error("the body is too large: {what} {found}, at most {limit}")]
    TooLarge {
        /// The thing of which there is too much.
        what: &'static str,
        /// Its amount (or where counting stopped).
        found: usize,
        /// The amount that is read.
        limit: usize,
    },
}

/// A record whose shape is not that of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecord {
    /// The platform's id, where it could be read.
    pub id: Option<u64>,
    /// Its place on its page, from 1.
    pub position: usize,
    /// The reason, for an operator: `variants[2].price: expected text, found object`.
    pub reason: String,
    /// The record as answered, cut to [`EXCERPT_BYTES_MAX`].
    pub excerpt: String,
}

impl BadRecord {
    /// The platform's id of the record where it could be read, else its place (`product 17`).
    #[must_use]
    pub fn subject(&self) -> String {
        self.id
            .map_or_else(|| format!("product {}", self.position), |id| id.to_string())
    }
}

/// The beginning of `bytes` as text, at most `limit` bytes of it, what is no UTF-8 replaced.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    // A character that was replaced may grow from one byte to three.
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(limit)]).into_owned();
    text.truncate(text.floor_char_boundary(limit));
    text
}
