use data_index::{Release, RowAddress};
use rustc_hash::FxHashMap;
use tantivy::TERMINATED;

use super::index::TextIndex;
use super::postings::OpenTerms;
use super::terms::{QueryTerm, QueryTerms};
use super::top::TopHits;
use super::{ReadError, Wanted, quality_bonus, tier};

/// Fewest letters that are taken for the beginning of a word.
const CHARS_MIN: usize = 3;
/// Most words that a beginning stands for; beyond, the rarest are left out.
const WORDS_MAX: usize = 50;
/// Postings that are read at most; beyond, the rarest words are left out.
const POSTINGS_MAX: u64 = 1_000_000;

/// Collects the products that hold a word that begins with the last word of the query, where that is no word of the
/// catalogue itself: who searches while typing has not come to its end.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    (terms, open): (&QueryTerms, &OpenTerms),
    wanted: &Wanted<'_>,
    top: &mut TopHits<'_>,
) -> Result<(), ReadError> {
    let Some(last) = terms.iter().next_back().filter(|_| open.known.last() == Some(&false)) else {
        return Ok(());
    };
    if last.plain.chars().count() < CHARS_MIN || !last.plain.chars().all(char::is_alphabetic) {
        return Ok(());
    }
    let words = index.vocabulary.beginning_with(&last.plain, WORDS_MAX);
    let words = words.iter().map(|word| QueryTerm::of_word(word, 0)).collect();
    let words = QueryTerms::from_terms(words, WORDS_MAX);
    // One word that is not known yet: the words that it may become weigh alike.
    let open = OpenTerms::of(index, &words)?.weighed_as_one(index);
    let terms = affordable(index, &open);
    let mut scores: FxHashMap<u32, f32> = FxHashMap::default();
    for (at, segment) in index.segments.iter().enumerate() {
        let part = u32::try_from(at).unwrap_or(u32::MAX);
        for term in terms.clone() {
            let Some(mut cursors) = open.cursors(index, at, term)? else {
                continue;
            };
            let mut doc = cursors.doc();
            while doc != TERMINATED {
                let score = cursors.score(doc).score;
                let best = scores.entry(doc).or_default();
                *best = best.max(score);
                cursors.pass(doc);
                doc = cursors.doc();
            }
        }
        let alive = segment.reader.alive_bitset();
        for (row, score) in scores.drain() {
            let at = RowAddress { part, row };
            let passes = match wanted.filter {
                Some(filter) => filter.matches(at),
                None => alive.is_none_or(|alive| alive.is_alive(row)),
            };
            if passes {
                top.push(tier::PREFIX, score + quality_bonus(release, part, row), at);
            }
        }
    }
    Ok(())
}

/// How many of the words may be read, the most frequent first; at least one.
fn affordable(index: &TextIndex, open: &OpenTerms) -> std::ops::Range<usize> {
    let mut read = 0;
    let count = (0..open.known.len())
        .take_while(|term| {
            let segments = 0..index.segments.len();
            read += segments.map(|at| open.postings_count(at, *term)).sum::<u64>();
            *term == 0 || read <= POSTINGS_MAX
        })
        .count();
    0..count
}
