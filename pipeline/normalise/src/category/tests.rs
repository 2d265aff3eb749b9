//! Facts about categories.
