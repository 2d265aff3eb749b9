//! A part's vectors: one a row, in the order of rows, read in place from a memory-mapped file.
//!
//! Beside each vector lies its sign code, an eighth of its size. A search estimates every product's nearness by the code,
//! and measures only those that the estimates put first.

mod file;
mod write;

pub(crate) use file::{VECTORS, Vectors};
pub(crate) use write::VectorsWriter;
