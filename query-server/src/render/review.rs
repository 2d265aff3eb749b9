use data_index::RowAddress;
use data_index::columns::ReviewRef;

use super::json::{array, object};
use super::{Written, envelope};
use crate::served::Served;

/// Writes one review.
pub(crate) fn review(out: &mut Vec<u8>, review: &ReviewRef<'_>) {
    object(out, |object| {
        object.number_or_null("rating", Some(review.rating));
        object.text_or_null("author", review.author);
        object.text_or_null("title", review.title);
        object.text("body", review.body);
        object.moment_or_null("created_at", review.created_at);
        object.text("source", review.source);
    });
}

/// Writes a page of a product's reviews, newest first.
pub(crate) fn page(
    served: &Served,
    at: RowAddress,
    range: std::ops::Range<usize>,
    cursor_at: impl FnOnce(usize) -> String,
) -> Written {
    let Some(part) = served.release.part(at.part) else {
        return Written::default();
    };
    let reviews = part.reviews(at.row);
    let more = reviews.len() > range.end;
    let page = reviews.skip(range.start).take(range.len());
    let next_cursor = more.then(|| cursor_at(range.end));
    envelope(
        8192,
        served.id_text(),
        |out| array(out, page, |out, one| review(out, &one)),
        |provenance| provenance.object("page", |page| page.text_or_null("next_cursor", next_cursor.as_deref())),
    )
}
