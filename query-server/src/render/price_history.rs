use data_index::RowAddress;
use data_index::columns::PriceRef;
use data_model::PriceSource;

use super::json::{array, object};
use super::{Written, envelope};
use crate::served::Served;

fn point(out: &mut Vec<u8>, point: &PriceRef<'_>) {
    object(out, |object| {
        object.id("observed_at", point.observed_at);
        object.id("variant_id", point.variant);
        object.text("event", point.event.as_str());
        object.text("currency", point.currency);
        object.integer_or_null("price_minor", point.price_minor);
        object.integer_or_null("compare_at_minor", point.compare_at_minor);
        match point.available {
            Some(available) => object.flag("available", available),
            None => object.null("available"),
        }
        object.text_or_null("source", point.source.map(PriceSource::as_str));
    });
}

/// Writes a page of how a product's prices went, newest first.
pub(crate) fn page(
    served: &Served,
    at: RowAddress,
    range: std::ops::Range<usize>,
    cursor_at: impl FnOnce(usize) -> String,
) -> Written {
    let Some(part) = served.release.part(at.part) else {
        return Written::default();
    };
    let points = part.price_history(at.row).skip(range.start).take(range.len());
    let next_cursor = (part.price_points(at.row) > range.end).then(|| cursor_at(range.end));
    envelope(
        4096,
        served.id_text(),
        |out| array(out, points, |out, one| point(out, &one)),
        |provenance| provenance.object("page", |page| page.text_or_null("next_cursor", next_cursor.as_deref())),
    )
}
