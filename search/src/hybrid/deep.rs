//! Pages longer than usual. More is weighed for them, and what is weighed changes the order: a longer answer would begin
//! otherwise than a shorter one. So a long page is the usual one, and after it what a search for the longest page finds.

use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::question::Question;
use super::retrieve::ranked;
use super::{capped, tuning};
use crate::context::SearchContext;

/// Adds to the rows of a usual page what follows. Any two limits agree on as many rows as the smaller of them.
pub(super) fn lengthen(served: &SearchContext, question: &Question<'_>, rows: &mut Vec<FusedRow>) {
    let longest = Question {
        limit: question.limit.max(tuning::LONG_PAGE),
        with_matches: false,
        ..*question
    };
    let known: FxHashSet<_> = rows.iter().map(|row| row.at).collect();
    let further = ranked(served, &longest).rows;
    rows.extend(further.into_iter().filter(|row| !known.contains(&row.at)));
    capped::keep(served, &longest, rows);
}
