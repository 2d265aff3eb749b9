use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{DocumentText, Vector};

/// Makes vectors of texts. Whatever the implementation, the same id means the same vectors.
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Names everything that vectors follow from besides their texts.
    fn id(&self) -> &EmbedderId;

    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// True where [`Embedder::embed_query`] waits for something outside the processor, or keeps it for longer than a
    /// search takes: then it must not be called where others wait behind it.
    fn waits(&self) -> bool {
        false
    }

    /// The vector of a query; `None` when it holds no word that is known.
    ///
    /// # Errors
    /// The source of the vectors cannot be had; see [`EmbedError`].
    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError>;

    /// The vectors of products, in their order; `None` for one without a word that is known.
    ///
    /// # Errors
    /// As for [`Embedder::embed_query`]; then none is made.
    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError>;
}

/// Reasons why a text has no vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The service that computes vectors could not be reached, or did not answer in time.
    #[error("the embedder cannot be reached: {0}")]
    Unreachable(String),
    /// It answered, but not with what was asked for.
    #[error("the embedder answered wrongly: {0}")]
    Answer(String),
}

/// Longest id, in bytes.
const ID_BYTES_MAX: usize = 200;

/// The name of an embedder, as a release records it: visible ASCII, at most 200 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmbedderId(String);

/// The text names no embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an embedder's id is 1 to 200 visible ASCII characters")]
pub struct EmbedderIdError;

impl EmbedderId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An id from parts that are visible ASCII by construction.
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
