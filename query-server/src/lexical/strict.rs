use data_index::{Filter, Release, RowAddress};
use tantivy::TERMINATED;

use super::index::{Segment, TITLE_EXACT, TextIndex};
use super::postings::{OpenTerms, TermCursors};
use super::top::TopHits;
use super::whole::Whole;
use super::{ReadError, Wanted, quality_bonus, tier};

/// Added when the title holds every term.
const TITLE_BONUS: f32 = 6.0;
/// Added when the title is the query and nothing else.
const WHOLE_TITLE_BONUS: f32 = 6.0;

/// Collects the products that hold every term in some field.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenTerms,
    (wanted, whole): (&Wanted<'_>, &Whole<'_>),
    top: &mut TopHits<'_>,
) -> Result<(), ReadError> {
    if open.known.iter().any(|known| !known) {
        return Ok(());
    }
    for (at, segment) in index.segments.iter().enumerate() {
        let terms = (0..open.known.len()).map(|term| open.cursors(index, at, term));
        // A part that does not hold one of the terms holds no product with all of them.
        let Some(mut terms) = terms.collect::<Result<Option<Vec<_>>, _>>()? else {
            continue;
        };
        terms.sort_by_key(TermCursors::count);
        walk(
            release,
            u32::try_from(at).unwrap_or(u32::MAX),
            segment,
            &mut terms,
            (wanted.filter, whole),
            top,
        );
    }
    Ok(())
}

fn walk(
    release: &Release,
    part: u32,
    segment: &Segment,
    terms: &mut [TermCursors<'_>],
    (filter, whole): (Option<&Filter>, &Whole<'_>),
    top: &mut TopHits<'_>,
) {
    let filter = filter.map(|filter| filter.part(part));
    let alive = segment.reader.alive_bitset();
    let count = terms.len();
    let Some((lead, others)) = terms.split_first_mut() else {
        return;
    };
    let mut doc = lead.doc();
    'products: while doc != TERMINATED {
        for other in others.iter_mut() {
            let next = other.seek(doc);
            if next != doc {
                doc = next_from(lead, next);
                continue 'products;
            }
        }
        let passes = match filter {
            Some(filter) => filter.is_some_and(|filter| filter.matches(doc)),
            None => alive.is_none_or(|alive| alive.is_alive(doc)),
        };
        if passes {
            let mut score = quality_bonus(release, part, doc);
            let (mut in_title, mut in_title_exactly) = (0, 0);
            for term in std::iter::once(&mut *lead).chain(others.iter_mut()) {
                let of_term = term.score(doc);
                score += of_term.score;
                in_title += usize::from(of_term.in_title);
                in_title_exactly += usize::from(of_term.in_title_exactly);
            }
            if in_title == count {
                score += TITLE_BONUS;
                let norms = &segment.fields[TITLE_EXACT].norms;
                if in_title_exactly == count && usize::try_from(norms.fieldnorm(doc)) == Ok(count) {
                    score += WHOLE_TITLE_BONUS;
                }
            }
            let at = RowAddress { part, row: doc };
            let tier = whole.tier(at, in_title == count);
            if tier == tier::TITLE {
                // They all fit alike: what else they hold decides nothing.
                score = quality_bonus(release, part, doc);
            }
            top.push(tier, score, at);
        }
        lead.pass(doc);
        doc = lead.doc();
    }
}

/// Moves the leading list to the first product from `target` on.
fn next_from(lead: &mut TermCursors<'_>, target: u32) -> u32 {
    if target == TERMINATED {
        return TERMINATED;
    }
    for cursor in &mut lead.fields {
        use tantivy::DocSet;
        if cursor.postings.doc() < target {
            cursor.postings.seek(target);
        }
    }
    lead.doc()
}
