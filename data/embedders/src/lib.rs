//! Embedders that need files or the network: with the feature `transformer` a `Transformer` from a folder, and an
//! [`Endpoint`] that speaks OpenAI's embeddings API.
//!
//! In: a folder as sentence-transformers writes it, or the address of an API, and texts. Out:
//! [`data_embedding::Vector`]s, through the trait that the shipped table keeps too. It never fetches a model, never
//! follows a redirect, never shows a key, and never answers with a vector that may be another text's.

mod endpoint;
#[cfg(feature = "transformer")]
mod transformer;

pub use endpoint::{Endpoint, EndpointConfig, EndpointError};
#[cfg(feature = "transformer")]
pub use transformer::{Transformer, TransformerError};
