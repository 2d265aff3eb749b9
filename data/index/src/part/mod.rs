use std::sync::Arc;

use data_embedding::Embedder;

use crate::manifest::Embedding;

mod words;
mod writer;

pub use writer::{NewRow, PartWriter};

/// Settings of a build of parts.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Rows of a part at most.
    pub rows_max: u32,
    /// A part is full when building it holds about this much memory.
    pub memory_bytes_max: usize,
    /// Texts of one product at most.
    pub product_bytes_max: usize,
    /// The embedder of the products' vectors; without one there are none.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl BuildOptions {
    /// The record of the embedder, for the release's manifest.
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
