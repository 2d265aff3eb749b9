//! Tests from pages of stores to normalised products.

mod catalogue;
mod filed;
mod hostile;
mod variants;
