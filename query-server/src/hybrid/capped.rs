use rustc_hash::{FxHashMap, FxHashSet};

use super::{FusedRow, Question, ranked};
use crate::lexical::ReadError;
use crate::served::Served;

/// How many hits are looked at, in turn, while the page is short because brands have their share.
const FURTHER: [usize; 3] = [400, 1_600, 6_400];

/// Keeps at most `max` products of a brand, the best of each. The places of the others are taken by what would stand
/// further down the answer: a cap leaves out, it finds nothing that would not be found without it.
pub(super) fn keep(
    served: &Served,
    question: &Question<'_>,
    rows: &mut Vec<FusedRow>,
    max: usize,
) -> Result<(), ReadError> {
    let mut exhausted = rows.len() < question.page();
    keep_best(served, rows, max);
    for limit in FURTHER {
        if exhausted || rows.len() >= question.page() {
            break;
        }
        let further = Question {
            limit,
            with_matches: false,
            ..*question
        };
        let further = ranked(served, &further)?.rows;
        exhausted = further.len() < limit;
        let known: FxHashSet<_> = rows.iter().map(|row| row.at).collect();
        rows.extend(further.into_iter().filter(|row| !known.contains(&row.at)));
        keep_best(served, rows, max);
    }
    Ok(())
}

fn keep_best(served: &Served, rows: &mut Vec<FusedRow>, max: usize) {
    let mut kept: FxHashMap<usize, usize> = FxHashMap::default();
    rows.retain(|row| {
        let part = served.release.part(row.at.part);
        let brand = part.map_or(usize::MAX, |part| part.brand_index(row.at.row));
        let count = kept.entry(brand).or_default();
        *count += 1;
        *count <= max
    });
}
