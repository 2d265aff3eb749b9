use rustc_hash::{FxHashMap, FxHashSet};

use super::{FusedRow, Question, ranked};
use crate::context::SearchContext;

/// How many hits are looked at, in turn, while the page is short because brands have their share and siblings one card.
const FURTHER: [usize; 3] = [400, 1_600, 6_400];

/// Keeps of each brand at most so many products as the question says, and of siblings one: the best of each. The places of
/// the others are taken by what would stand further down the answer: a cap leaves out, it finds nothing that would not be
/// found without it.
pub(super) fn keep(served: &SearchContext, question: &Question<'_>, rows: &mut Vec<FusedRow>) {
    // So many of one brand as a page has are as many as fit.
    let brand_max = question.per_brand_max.filter(|max| *max < question.page());
    if brand_max.is_none() && !question.folded {
        return;
    }
    // One more than the page tells whether there are more.
    let wanted = question.page() + 1;
    let mut exhausted = rows.len() < wanted;
    keep_best(served, question, rows, brand_max);
    for limit in FURTHER {
        if exhausted || rows.len() >= wanted {
            break;
        }
        let further = Question {
            limit,
            with_matches: false,
            ..*question
        };
        let further = ranked(served, &further).rows;
        exhausted = further.len() < limit;
        let known: FxHashSet<_> = rows.iter().map(|row| row.at).collect();
        rows.extend(further.into_iter().filter(|row| !known.contains(&row.at)));
        keep_best(served, question, rows, brand_max);
    }
}

fn keep_best(served: &SearchContext, question: &Question<'_>, rows: &mut Vec<FusedRow>, brand_max: Option<usize>) {
    let mut families = FxHashSet::default();
    if question.folded {
        rows.retain(|row| {
            served
                .browse
                .family(&served.release, row.at)
                .is_none_or(|family| families.insert(family))
        });
    }
    let Some(max) = brand_max else { return };
    let mut kept: FxHashMap<usize, usize> = FxHashMap::default();
    rows.retain(|row| {
        let part = served.release.part(row.at.part);
        let brand = part.map_or(usize::MAX, |part| part.brand_index(row.at.row));
        let count = kept.entry(brand).or_default();
        *count += 1;
        *count <= max
    });
}
