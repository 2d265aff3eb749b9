use data_index::Release;
use data_index::terms::word_hash;

use super::score::as_float;
use super::term::QueryTerm;
use super::terms::QueryTerms;
use super::tier;
use super::top::Hit;

/// Bonus if the title has the query's words adjacent and in order, summed over pairs of words. A pair at the same
/// distance as in the query counts fully. It counts half if up to [`SLOP`] words are in between or the order differs
/// slightly.
const PHRASE_BONUS: f32 = 10.0;
const SLOP: u32 = 2;
/// Further title words are ignored.
const TITLE_WORDS_MAX: usize = 64;

/// Returns the number of best hits that are compared with phrases.
pub(super) const fn candidates(limit: usize) -> usize {
    limit + 30
}

/// Moves up hits with the query's words adjacent in their titles.
pub(super) fn promote(release: &Release, terms: &QueryTerms, hits: &mut [Hit]) {
    if terms.len() < 2 {
        return;
    }
    let word = |term: &QueryTerm| PlacedWord {
        hash: word_hash(&term.stemmed),
        position: term.position,
    };
    let words: Vec<PlacedWord> = terms.iter().map(word).collect();
    let mut title = Vec::with_capacity(TITLE_WORDS_MAX);
    for hit in hits.iter_mut().filter(|hit| hit.tier == tier::ALL) {
        let at = hit.address();
        let Some(part) = release.part(at.part) else { continue };
        title.clear();
        title.extend(part.terms().title_words(at.row).iter().take(TITLE_WORDS_MAX));
        hit.score += bonus(&words, &title);
    }
    hits.sort_unstable_by(|one, other| other.cmp(one));
}

#[derive(Clone, Copy)]
struct PlacedWord {
    hash: u16,
    position: u32,
}

fn bonus(words: &[PlacedWord], title: &[u16]) -> f32 {
    let pairs = words.windows(2).map(|pair| {
        let [one, other] = pair else { return 0.0 };
        let wanted = i64::from(other.position) - i64::from(one.position);
        let places = |word: u16| {
            (0_i64..)
                .zip(title)
                .filter(move |(_, held)| **held == word)
                .map(|(at, _)| at)
        };
        let apart = places(one.hash)
            .flat_map(|first| places(other.hash).map(move |second| (second - first - wanted).unsigned_abs()))
            .min();
        match apart {
            Some(0) => PHRASE_BONUS,
            Some(apart) if apart <= u64::from(SLOP) => PHRASE_BONUS / 2.0,
            _ => 0.0,
        }
    });
    pairs.sum::<f32>() / as_float((words.len() as u64).saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_stand_as_in_the_query_count_in_full() {
        let word = |hash: u16| PlacedWord {
            hash,
            position: u32::from(hash) - 1,
        };
        let query = [1, 2, 3].map(word);
        assert_eq!(bonus(&query, &[9, 1, 2, 3]), PHRASE_BONUS);
        assert_eq!(bonus(&query, &[1, 2, 9, 9, 9, 9, 3]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[1, 9, 2]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[2, 1]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[2, 9, 9, 1]), 0.0);
        assert_eq!(bonus(&query[..2], &[]), 0.0);
    }
}
