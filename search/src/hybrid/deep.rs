//! Pages longer than usual. More is weighed for them, and what is weighed changes the order: a longer answer would begin
//! otherwise than a shorter one. So a long page is the usual one, and after it what a search for the longest page finds.

use rustc_hash::FxHashSet;

use super::{Answer, Question, capped, ranked, search as usual_search, tuning, with_rows};
use crate::context::SearchContext;

/// Finds more than a usual page has. Any two limits agree on as many rows as the smaller of them.
pub(super) fn search(served: &SearchContext, question: &Question<'_>) -> Answer {
    let usual = Question {
        limit: tuning::CANDIDATES_PAGE,
        ..*question
    };
    let mut answer = usual_search(served, &usual);
    if !answer.more {
        return answer;
    }
    let longest = Question {
        limit: question.limit.max(tuning::LONG_PAGE),
        with_matches: false,
        ..usual
    };
    let known: FxHashSet<_> = answer.rows.iter().map(|row| row.at).collect();
    let further = ranked(served, &longest).rows;
    answer
        .rows
        .extend(further.into_iter().filter(|row| !known.contains(&row.at)));
    capped::keep(served, &longest, &mut answer.rows);
    answer.more = answer.rows.len() > question.limit;
    answer.rows.truncate(question.limit);
    if question.with_matches && (answer.matches.is_empty() || !answer.fits) {
        // As on a usual page: what is shown counts.
        answer.matches = with_rows(&served.release, answer.matches, &answer.rows);
    }
    answer.relaxed = answer.relaxed();
    answer
}
