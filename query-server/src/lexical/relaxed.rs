use data_index::{Release, RowAddress};
use tantivy::{DocSet, TERMINATED};

use super::index::TextIndex;
use super::postings::OpenTerms;
use super::top::TopHits;
use super::{ReadError, Wanted, quality_bonus, tier};

/// Postings that one query reads at most in this pass; beyond, its most common terms are left out. They tell the
/// least, and reading them takes the longest.
const POSTINGS_MAX: u64 = 3_000_000;

/// Collects products that hold some of the terms but not all: scores of every term are added up product by product.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenTerms,
    wanted: &Wanted<'_>,
    top: &mut TopHits<'_>,
) -> Result<(), ReadError> {
    let terms = affordable(index, open);
    let mut sums = Vec::new();
    for (at, segment) in index.segments.iter().enumerate() {
        let part = u32::try_from(at).unwrap_or(u32::MAX);
        sums.clear();
        sums.resize(segment.reader.max_doc() as usize, Sum::default());
        let mut touched = Vec::new();
        for (bit, term) in terms.iter().enumerate() {
            let Some(mut cursors) = open.cursors(index, at, *term)? else { continue };
            for cursor in &mut cursors.fields {
                while cursor.postings.doc() != TERMINATED {
                    let doc = cursor.postings.doc();
                    if let Some(sum) = sums.get_mut(doc as usize) {
                        if sum.held == 0 {
                            touched.push(doc);
                        }
                        sum.held |= 1 << bit;
                        sum.score += cursor.score();
                    }
                    cursor.postings.advance();
                }
            }
        }
        let filter = wanted.filter.map(|filter| filter.part(part));
        let alive = segment.reader.alive_bitset();
        for doc in touched {
            let Some(sum) = sums.get(doc as usize) else { continue };
            let tier = match open.known.len() - sum.held.count_ones() as usize {
                // Those that hold all terms were collected before.
                0 => continue,
                1 => tier::ALL_BUT_ONE,
                _ => tier::ANY,
            };
            let passes = match filter {
                Some(filter) => filter.is_some_and(|filter| filter.matches(doc)),
                None => alive.is_none_or(|alive| alive.is_alive(doc)),
            };
            if passes {
                top.push(tier, sum.score + quality_bonus(release, part, doc), RowAddress { part, row: doc });
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    score: f32,
    /// One bit for each term.
    held: u32,
}

/// The terms to look for, rarest first, as many as may be read.
fn affordable(index: &TextIndex, open: &OpenTerms) -> Vec<usize> {
    let count = |term: &usize| (0..index.segments.len()).map(|segment| open.postings_count(segment, *term)).sum::<u64>();
    let mut terms: Vec<(u64, usize)> = (0..open.known.len()).map(|term| (count(&term), term)).collect();
    terms.sort_unstable();
    let mut read = 0;
    let mut affordable = Vec::with_capacity(terms.len());
    for (postings, term) in terms {
        read += postings;
        if affordable.is_empty() || read <= POSTINGS_MAX {
            affordable.push(term);
        }
    }
    affordable
}
