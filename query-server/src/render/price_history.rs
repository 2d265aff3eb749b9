use std::ops::Range;

use data_index::RowAddress;
use data_index::columns::PriceRef;

use super::{TIER, pages};
use crate::schema::{PriceHistoryAnswer, PricePoint};
use crate::served::ReleaseView;

pub(super) fn point(point: PriceRef<'_>) -> PricePoint<'_> {
    PricePoint {
        observed_at: point.observed_at,
        variant_id: point.variant.to_string().into(),
        event: point.event.as_str().into(),
        currency: point.currency.into(),
        price_minor: point.price_minor,
        compare_at_minor: point.compare_at_minor,
        available: point.available,
        source: Some(point.source.as_str().into()),
    }
}

pub(crate) fn page(
    served: &ReleaseView,
    at: RowAddress,
    range: Range<usize>,
    cursor_at: impl FnOnce(usize) -> String,
) -> PriceHistoryAnswer<'_> {
    let part = served.release.part(at.part);
    let points = part.into_iter().flat_map(|part| part.price_history(at.row));
    let more = part.is_some_and(|part| part.price_points(at.row) > range.end);
    PriceHistoryAnswer {
        data: points.skip(range.start).take(range.len()).map(point).collect(),
        provenance: pages(served.id_text(), more.then(|| cursor_at(range.end))),
        tier: TIER,
    }
}
