pub(crate) mod brand;
pub(crate) mod card;
pub(crate) mod category;
mod delivery;
pub(crate) mod facets;
pub(crate) mod json;
pub(crate) mod offers;
pub(crate) mod price_history;
pub(crate) mod product;
pub(crate) mod review;
pub(crate) mod shipping;
pub(crate) mod stats;
pub(crate) mod suggested;

use json::ObjectWriter;

/// What an envelope begins with, before the result.
const DATA_NAME: &str = "{\"data\":";
/// Where in an envelope the result begins.
pub(crate) const DATA_START: usize = DATA_NAME.len();
/// What stands in an envelope between the result and where it comes from.
pub(crate) const PROVENANCE_NAME: &str = ",\"provenance\":";
/// What an envelope ends with.
pub(crate) const TIER_END: &str = ",\"tier\":\"graph\"}";

/// A written envelope.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) json: Vec<u8>,
    /// Where in it the result ends.
    pub(crate) data_end: usize,
}

/// Writes an answer of the graph tier around its `data`; `provenance` adds members after the release.
pub(crate) fn envelope(
    bytes_expected: usize,
    release: &str,
    data: impl FnOnce(&mut Vec<u8>),
    provenance: impl FnOnce(&mut ObjectWriter<'_>),
) -> Written {
    let mut json = Vec::with_capacity(bytes_expected);
    json.extend_from_slice(DATA_NAME.as_bytes());
    data(&mut json);
    let data_end = json.len();
    json.extend_from_slice(PROVENANCE_NAME.as_bytes());
    json::object(&mut json, |object| {
        object.text("release", release);
        provenance(object);
    });
    json.extend_from_slice(TIER_END.as_bytes());
    Written { json, data_end }
}
