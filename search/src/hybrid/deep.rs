//! Pages longer than usual. A longer page ranks more candidates, which can change the order of the first products. A
//! long page is therefore the usual page, followed by the rows of a search for the longest page.

use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::query::SearchQuery;
use super::retrieve::ranked;
use super::{capped, tuning};
use crate::context::SearchContext;

/// Appends the rows after those of a usual page. Results for two limits agree on the rows of the shorter one.
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
