use data_index::RowAddress;
use data_index::columns::GoneRef;
use data_model::{PriceEvent, Timestamp};

use super::price_history::point;
use super::{TIER, card, pages};
use crate::schema::{ChangedProduct, ChangesAnswer, GoneProduct};
use crate::served::ReleaseView;

/// Maximum number of changes listed for a product. The product's price history lists all prices.
const POINTS_MAX: usize = 50;

pub(crate) fn page<'a>(
    served: &'a ReleaseView,
    rows: &[RowAddress],
    went: &[GoneRef<'a>],
    since: Timestamp,
    next_cursor: Option<String>,
    is_capped: bool,
) -> ChangesAnswer<'a> {
    ChangesAnswer {
        data: rows.iter().filter_map(|at| changed(served, *at, since)).collect(),
        gone: went.iter().copied().map(gone).collect(),
        capped: is_capped.then_some(true),
        provenance: pages(served.id_text(), next_cursor),
        tier: TIER,
    }
}

fn gone(product: GoneRef<'_>) -> GoneProduct<'_> {
    GoneProduct {
        id: product.id(),
        title: product.title().into(),
        brand_slug: product.brand_slug().into(),
        kind: product.kind().into(),
        changed_at: product.gone_at(),
    }
}

fn changed(served: &ReleaseView, at: RowAddress, since: Timestamp) -> Option<ChangedProduct<'_>> {
    let part = served.release.part(at.part)?;
    let newest = part.price_history(at.row).next()?;
    let oldest = part.price_history(at.row).last()?;
    let is_new = oldest.event == PriceEvent::FirstSeen && oldest.observed_at >= since;
    let points = part
        .price_history(at.row)
        .take_while(|point| point.observed_at >= since);
    Some(ChangedProduct {
        event: if is_new { "came" } else { "changed" }.into(),
        changed_at: newest.observed_at,
        product: card::card(served, at)?,
        changes: points.take(POINTS_MAX).map(point).collect(),
    })
}
