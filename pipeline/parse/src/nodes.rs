//! Values of JSON-LD, of which any may be one or many.

use serde_json::Value;

/// Most nodes of a page's documents that are looked at.
pub(crate) const NODES_MAX: usize = 10_000;

pub(crate) fn one_or_many(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value
        .as_array()
        .map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    items.iter().take(NODES_MAX)
}
