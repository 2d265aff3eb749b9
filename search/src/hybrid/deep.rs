//! Pages longer than usual. More rows are weighed for them, and these change the order: a longer answer would begin
//! otherwise than a shorter one. So a long page is the usual one, and after it the rows of a search for the longest
//! page.

use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::query::SearchQuery;
use super::retrieve::ranked;
use super::{capped, tuning};
use crate::context::SearchContext;

/// Adds the rows that follow those of a usual page. Any two limits agree on as many rows as the smaller of them.
pub(super) fn lengthen(served: &SearchContext, query: &SearchQuery<'_>, rows: &mut Vec<FusedRow>) {
    let longest = SearchQuery {
        limit: query.limit.max(tuning::LONG_PAGE),
        with_matches: false,
        ..*query
    };
    let known: FxHashSet<_> = rows.iter().map(|row| row.at).collect();
    let further = ranked(served, &longest).rows;
    rows.extend(further.into_iter().filter(|row| !known.contains(&row.at)));
    capped::keep(served, &longest, rows);
}
