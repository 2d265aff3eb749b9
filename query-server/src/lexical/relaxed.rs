use std::cell::RefCell;

use data_index::{Release, RowAddress};
use tantivy::{DocSet, TERMINATED};

use super::index::{Segment, TextIndex, as_float};
use super::postings::OpenTerms;
use super::top::TopHits;
use super::{ReadError, Wanted, quality_bonus, tier};

/// Postings that one query reads at most in this pass; beyond, its most common terms are left out. They tell the
/// least, and reading them takes the longest.
const POSTINGS_MAX: u64 = 3_000_000;

/// A product's score so far, and which terms it holds: one bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    score: f32,
    held: u32,
}

thread_local! {
    // One for each row of the largest part, all zero between searches: to clear what a search touched is much
    // cheaper than to have the whole of it zeroed for each.
    static SUMS: RefCell<Vec<Sum>> = const { RefCell::new(Vec::new()) };
}

/// Collects products that hold some of the terms but not all: scores of every term are added up product by product.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenTerms,
    wanted: &Wanted<'_>,
    top: &mut TopHits<'_>,
) -> Result<(), ReadError> {
    let terms = affordable(index, open);
    SUMS.with_borrow_mut(|sums| {
        let mut touched = Vec::new();
        for (at, segment) in index.segments.iter().enumerate() {
            let rows = segment.reader.max_doc() as usize;
            if sums.len() < rows {
                sums.resize(rows, Sum::default());
            }
            let added = add_up(index, at, open, &terms, sums, &mut touched);
            if added.is_ok() {
                let part = u32::try_from(at).unwrap_or(u32::MAX);
                push(release, part, segment, (&touched, sums), open.known.len(), wanted, top);
            }
            for doc in touched.drain(..) {
                sums[doc as usize] = Sum::default();
            }
            added?;
        }
        Ok(())
    })
}

/// Adds up the terms' scores in a segment; `touched` tells which rows have any.
fn add_up(
    index: &TextIndex,
    segment: usize,
    open: &OpenTerms,
    terms: &[usize],
    sums: &mut [Sum],
    touched: &mut Vec<u32>,
) -> Result<(), ReadError> {
    for (bit, term) in terms.iter().enumerate() {
        let Some(mut cursors) = open.cursors(index, segment, *term)? else {
            continue;
        };
        for cursor in &mut cursors.fields {
            let mut doc = cursor.postings.doc();
            while doc != TERMINATED {
                if let Some(sum) = sums.get_mut(doc as usize) {
                    if sum.held == 0 {
                        touched.push(doc);
                    }
                    sum.held |= 1 << bit;
                    sum.score += cursor.score();
                }
                doc = cursor.postings.advance();
            }
        }
    }
    Ok(())
}

fn push(
    release: &Release,
    part: u32,
    segment: &Segment,
    (touched, sums): (&[u32], &[Sum]),
    terms: usize,
    wanted: &Wanted<'_>,
    top: &mut TopHits<'_>,
) {
    let filter = wanted.filter.map(|filter| filter.part(part));
    let alive = segment.reader.alive_bitset();
    for doc in touched {
        let Some(sum) = sums.get(*doc as usize) else { continue };
        let held = sum.held.count_ones();
        let tier = match terms - held as usize {
            // Those that hold all terms were collected before.
            0 => continue,
            1 => tier::ALL_BUT_ONE,
            _ => tier::ANY,
        };
        let passes = match filter {
            Some(filter) => filter.is_some_and(|filter| filter.matches(*doc)),
            None => alive.is_none_or(|alive| alive.is_alive(*doc)),
        };
        if passes {
            // Two rare words of four tell more than one that is rarer still.
            let coverage = as_float(u64::from(held)) / as_float(terms as u64);
            let score = sum.score * coverage + quality_bonus(release, part, *doc);
            top.push(tier, score, RowAddress { part, row: *doc });
        }
    }
}

/// The terms to look for, rarest first, as many as may be read.
fn affordable(index: &TextIndex, open: &OpenTerms) -> Vec<usize> {
    let count = |term: &usize| {
        (0..index.segments.len())
            .map(|segment| open.postings_count(segment, *term))
            .sum::<u64>()
    };
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
