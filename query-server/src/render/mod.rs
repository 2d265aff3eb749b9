pub(crate) mod brand;
pub(crate) mod card;
pub(crate) mod category;
pub(crate) mod facets;
pub(crate) mod json;
pub(crate) mod price_history;
pub(crate) mod product;
pub(crate) mod review;
pub(crate) mod shipping;
pub(crate) mod stats;
pub(crate) mod suggested;

use json::ObjectWriter;

/// Writes an answer of the graph tier around its `data`; `provenance` adds members after the release.
pub(crate) fn envelope(
    bytes_expected: usize,
    release: &str,
    data: impl FnOnce(&mut Vec<u8>),
    provenance: impl FnOnce(&mut ObjectWriter<'_>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes_expected);
    json::object(&mut out, |envelope| {
        data(envelope.name("data"));
        envelope.object("provenance", |object| {
            object.text("release", release);
            provenance(object);
        });
        envelope.text("tier", "graph");
    });
    out
}
