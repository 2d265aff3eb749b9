//! Vectors of a part, one per row in row order, read in place from a memory-mapped file.
//!
//! Each vector has a sign code of an eighth of its size. A search estimates the similarity of every product from the
//! sign code, and computes the exact similarity only for the best estimates.

mod file;
mod write;

pub(crate) use file::{VECTORS, Vectors};
pub(crate) use write::VectorsWriter;
