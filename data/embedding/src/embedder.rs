use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{DocumentText, Vector};

/// Computes vectors of texts. Embedders with the same id compute the same vectors.
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Returns the id, which covers everything that determines the vectors except the texts.
    fn id(&self) -> &EmbedderId;

    /// Returns the number of components of every vector.
    fn dimensions(&self) -> usize;

    /// Returns `true` if [`Embedder::embed_query`] waits for I/O or takes longer than a search. Such an embedder must
    /// not be called on threads that other tasks need.
    fn waits(&self) -> bool {
        false
    }

    /// Returns the vector of a query, or `None` if the query has no known word.
    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError>;

    /// Returns the vectors of products in the same order, with `None` for a product without a known word.
    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError>;
}

/// Reason why a text could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The embedding service could not be reached, or did not respond before the timeout.
    #[error("the embedder cannot be reached: {0}")]
    Unreachable(String),
    /// The embedding service returned an unexpected response.
    #[error("the embedder returned an invalid answer: {0}")]
    Answer(String),
}

const ID_BYTES_MAX: usize = 200;

/// Id of an embedder, as a release records it: 1 to 200 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmbedderId(String);

/// Error: the text is not a valid embedder id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an embedder's id must have 1 to 200 visible ASCII characters")]
pub struct EmbedderIdError;

impl EmbedderId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `text` must consist of visible ASCII.
    pub(crate) fn from_trusted(text: String) -> Self {
        Self(text)
    }
}

impl TryFrom<String> for EmbedderId {
    type Error = EmbedderIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && !text.is_empty() && text.len() <= ID_BYTES_MAX {
            Ok(Self(text))
        } else {
            Err(EmbedderIdError)
        }
    }
}

impl FromStr for EmbedderId {
    type Err = EmbedderIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

impl From<EmbedderId> for String {
    fn from(id: EmbedderId) -> Self {
        id.0
    }
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
