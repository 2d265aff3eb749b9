use std::ops::Range;

use data_index::RowAddress;
use data_index::columns::ReviewRef;

use super::{TIER, pages};
use crate::schema::{Review, ReviewsAnswer};
use crate::served::ReleaseView;

pub(super) fn review(review: ReviewRef<'_>) -> Review<'_> {
    Review {
        rating: review.rating,
        author: review.author.map(Into::into),
        title: review.title.map(Into::into),
        body: review.body.into(),
        created_at: review.created_at,
        source: review.source.into(),
    }
}

pub(crate) fn page(
    served: &ReleaseView,
    at: RowAddress,
    range: Range<usize>,
    cursor_at: impl FnOnce(usize) -> String,
) -> ReviewsAnswer<'_> {
    let part = served.release.part(at.part);
    let more = part.is_some_and(|part| part.reviews(at.row).len() > range.end);
    let reviews = part.into_iter().flat_map(|part| part.reviews(at.row));
    ReviewsAnswer {
        data: reviews.skip(range.start).take(range.len()).map(review).collect(),
        provenance: pages(served.id_text(), more.then(|| cursor_at(range.end))),
        tier: TIER,
    }
}
