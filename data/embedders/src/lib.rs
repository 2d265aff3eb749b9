//! Embedders that need files or the network: an [`Endpoint`] that uses OpenAI's embeddings API and, with the feature
//! `transformer`, a `Transformer` from a folder.
//!
//! Input: a model folder in the sentence-transformers format or the URL of an API, and texts. Output:
//! [`data_embedding::Vector`]s through the same trait as the built-in table.
//!
//! The crate never downloads models, follows redirects, reveals keys, or returns a vector that may belong to another
//! text.

mod endpoint;
#[cfg(feature = "transformer")]
mod transformer;

pub use endpoint::{Endpoint, EndpointConfig, EndpointError};
#[cfg(feature = "transformer")]
pub use transformer::{Transformer, TransformerError};
