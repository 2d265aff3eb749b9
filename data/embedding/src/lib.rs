//! Converts texts to vectors whose angles show the similarity of their meanings.
//!
//! Input: the text of a query, or a product's texts as a [`DocumentText`]. Output: [`Vector`]s of the same length for
//! each [`Embedder`]. [`EmbedderId`] identifies the embedder, and vectors of different embedders must not be compared.
//!
//! The crate does not store or search vectors and reads no files, clock or network. The default embedding table is
//! compiled into the program. Embedders that need files or a network implement [`Embedder`] in other crates.

mod document;
mod dot;
mod embedder;
mod norm;
mod pieces;
mod sign_code;
mod table;
mod vector;

pub use document::{DocumentText, Segment};
pub use dot::{Query, prefetch, stride};
pub use embedder::{EmbedError, Embedder, EmbedderId, EmbedderIdError};
pub use norm::QUANTUM;
pub use pieces::WordPieces;
pub use sign_code::{BLOCK_ROWS, DIMENSIONS_MAX, SignCodeQuery, block_bytes, sign_code};
pub use table::{StaticTable, TableError, is_word, shipped};
pub use vector::Vector;
