//! A part's vectors: one a product, read in place from a memory-mapped file.
//!
//! The vectors lie in *lists*: each list has a centroid, and holds the products that are nearer to it than to any
//! other. A search reads the lists whose centroids are nearest to what it looks for, each from end to end. A part too
//! small to gain from that has one list.

mod cluster;
mod file;
mod nearest;
mod top;
mod write;

pub(crate) use file::{VECTORS, Vectors};
pub(crate) use write::VectorsWriter;
