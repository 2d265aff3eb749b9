use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};

use super::index::{TITLE, TextIndex};
use super::terms::QueryTerms;
use super::top::Hit;
use super::{ReadError, tier};

/// Added when the title holds the query's words beside each other and in order; half of it when up to [`SLOP`] words
/// stand between or the order differs a little.
const PHRASE_BONUS: f32 = 8.0;
const SLOP: u32 = 2;

/// How many of the best hits are looked at for phrases: reading positions of every hit would cost more than it tells.
pub(super) const fn candidates(limit: usize) -> usize {
    limit + 30
}

/// Moves up hits whose title holds the query as a phrase.
pub(super) fn promote(index: &TextIndex, terms: &QueryTerms, hits: &mut [Hit]) -> Result<(), ReadError> {
    if terms.len() < 2 {
        return Ok(());
    }
    // Postings are read forwards: each part's hits in order of their rows.
    let mut order: Vec<usize> = (0..hits.len())
        .filter(|at| hits.get(*at).is_some_and(|hit| hit.tier == tier::ALL))
        .collect();
    order.sort_unstable_by_key(|at| hits.get(*at).map(Hit::address));
    let mut open: Option<(u32, Titles)> = None;
    for at in order {
        let Some(hit) = hits.get_mut(at) else { continue };
        let address = hit.address();
        if open.as_ref().is_none_or(|(part, _)| *part != address.part) {
            open = Some((address.part, Titles::open(index, address.part, terms)?));
        }
        if let Some((_, titles)) = &mut open {
            hit.score += titles.bonus(address.row);
        }
    }
    hits.sort_unstable_by(|one, other| other.cmp(one));
    Ok(())
}

/// The query's terms in the titles of a part, with positions; empty when a title cannot hold them all.
struct Titles {
    terms: Vec<(u32, tantivy::postings::SegmentPostings)>,
    found: Vec<u32>,
}

impl Titles {
    fn open(index: &TextIndex, part: u32, terms: &QueryTerms) -> Result<Self, ReadError> {
        let mut opened = Vec::with_capacity(terms.len());
        if let Some(segment) = index.segments.get(part as usize) {
            let titles = &segment.fields[TITLE].terms;
            for term in terms.iter() {
                let key = Term::from_field_text(index.fields[TITLE].field, &term.stemmed);
                match titles.read_postings(&key, IndexRecordOption::WithFreqsAndPositions)? {
                    Some(postings) => opened.push((term.position, postings)),
                    None => {
                        return Ok(Self {
                            terms: Vec::new(),
                            found: Vec::new(),
                        });
                    }
                }
            }
        }
        Ok(Self {
            terms: opened,
            found: Vec::new(),
        })
    }

    fn bonus(&mut self, row: u32) -> f32 {
        match self.spread(row) {
            Some(0) => PHRASE_BONUS,
            Some(spread) if spread <= SLOP => PHRASE_BONUS / 2.0,
            _ => 0.0,
        }
    }

    /// By how much the words of the title stand apart from where the query has them; 0 for a phrase, `None` when
    /// the title does not hold them all.
    fn spread(&mut self, row: u32) -> Option<u32> {
        let (first, others) = self.terms.split_first_mut()?;
        let starts = shifted(first, row, &mut self.found)?.to_vec();
        let mut lows = starts.clone();
        let mut highs = starts;
        for term in others {
            let positions = shifted(term, row, &mut self.found)?;
            for (low, high) in lows.iter_mut().zip(&mut highs) {
                let nearest = positions
                    .iter()
                    .copied()
                    .min_by_key(|position| position.abs_diff(*low))?;
                *low = (*low).min(nearest);
                *high = (*high).max(nearest);
            }
        }
        lows.iter().zip(&highs).map(|(low, high)| high.abs_diff(*low)).min()
    }
}

/// Where the phrase would begin by each place of a term in a title; shifted up so that none is below zero.
fn shifted<'a>(
    (position, postings): &mut (u32, tantivy::postings::SegmentPostings),
    row: u32,
    found: &'a mut Vec<u32>,
) -> Option<&'a [u32]> {
    if postings.doc() < row {
        postings.seek(row);
    }
    if postings.doc() != row {
        return None;
    }
    postings.positions(found);
    for place in found.iter_mut() {
        *place = (*place + 1024).saturating_sub(*position);
    }
    Some(found)
}
