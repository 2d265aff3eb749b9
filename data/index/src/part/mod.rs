use std::sync::Arc;

use data_embedding::Embedder;

use crate::manifest::Embedding;

mod words;
mod writer;

pub use writer::{NewRow, PartWriter};

/// Settings for building parts.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Maximum number of rows of a part.
    pub rows_max: u32,
    /// Approximate memory use at which a part is full, in bytes.
    pub memory_bytes_max: usize,
    /// Maximum size of the texts of one product, in bytes.
    pub product_bytes_max: usize,
    /// Embedder of the products' vectors. Without one, the parts have no vectors.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl BuildOptions {
    /// Returns the record of the embedder for the manifest of the release.
    #[must_use]
    pub fn embedding(&self) -> Option<Embedding> {
        self.embedder.as_deref().map(Embedding::of)
    }
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            rows_max: 131_072,
            memory_bytes_max: 768 << 20,
            product_bytes_max: 16 << 20,
            embedder: data_embedding::shipped(),
        }
    }
}
