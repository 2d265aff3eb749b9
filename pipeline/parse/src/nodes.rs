//! Access to JSON-LD values, each of which may be a single value or a list.

use serde_json::Value;

pub(crate) const NODES_MAX: usize = 10_000;

pub(crate) fn one_or_many(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value
        .as_array()
        .map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    items.iter().take(NODES_MAX)
}
