//! Turns texts into vectors whose angles show the nearness of their meanings.
//!
//! In: the text of a query, or what a product says of itself as a [`DocumentText`]. Out: [`Vector`]s of one length per
//! [`Embedder`], which [`EmbedderId`] names; vectors of different embedders must never be compared.
//! It never stores or searches vectors, and never reads a file, a clock or the network: the shipped table is part of
//! the program. Embedders that do need such things implement [`Embedder`] in crates of their own.

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
