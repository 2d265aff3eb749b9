//! Computes the counts row by row, with hash maps over the columns.

mod rows;

pub use rows::{figures, moves};

#[cfg(test)]
mod tests;
