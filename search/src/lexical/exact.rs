use std::ops::ControlFlow;

use data_index::{Release, RowAddress};
use data_text::code_of;

use super::collector::{Collector, Search};
use super::score::quality_bonus;
use super::tier;

/// More products with one code, such as the SKU `1`, mean that it identifies nothing.
const PRODUCTS_MAX: u32 = 200;

/// Collects the products whose SKU or handle is the whole query. Those with the query as title too come first. Products
/// with the same code belong together, such as a pack and its pieces, so that only their quality orders them.
pub(super) fn collect(search: &Search<'_>, collector: &mut Collector<'_, '_>) {
    let Some(code) = code_of(search.wanted.text) else {
        return;
    };
    each(search.release, &code, PRODUCTS_MAX, |part, row| {
        let at = RowAddress { part, row };
        if let Some(marks) = &mut collector.marks {
            marks.mark(part, std::iter::once(row));
        }
        if search.eligible(part).has(row) {
            let tier = if search.whole.is_title(at) {
                tier::TITLE_AND_CODE
            } else {
                tier::CODE
            };
            let score = quality_bonus(search.release, part, row);
            collector.top.push_code(tier, score, at);
        }
        ControlFlow::Continue(())
    });
}

/// Calls `found` with the part and row of every row with the code, including dead rows, until it breaks.
pub fn coded(release: &Release, code: &str, found: impl FnMut(u32, u32) -> ControlFlow<()>) {
    each(release, code, u32::MAX, found);
}

/// Skips each part of the release in which more than `rows_max` rows have the code.
fn each(release: &Release, code: &str, rows_max: u32, mut found: impl FnMut(u32, u32) -> ControlFlow<()>) {
    for (at, part) in (0..).zip(release.parts()) {
        let Some(entry) = part.skus().find(code).filter(|entry| entry.count <= rows_max) else {
            continue;
        };
        for row in entry.rows() {
            if found(at, row).is_break() {
                return;
            }
        }
    }
}
