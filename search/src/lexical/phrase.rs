use data_index::Release;
use data_index::terms::word_hash;

use super::terms::QueryTerms;
use super::tier;
use super::top::Hit;

/// Added when the title holds the query's words beside each other and in order, pair by pair of them: all of it for a
/// pair that stands as in the query, half of it when up to [`SLOP`] words stand between or the order differs a little.
const PHRASE_BONUS: f32 = 10.0;
const SLOP: u32 = 2;
/// Words of a title that are looked at.
const TITLE_WORDS_MAX: usize = 64;

/// How many of the best hits are looked at for phrases.
pub(super) const fn candidates(limit: usize) -> usize {
    limit + 30
}

/// Moves up hits whose title holds the query's words beside each other.
pub(super) fn promote(release: &Release, terms: &QueryTerms, hits: &mut [Hit]) {
    if terms.len() < 2 {
        return;
    }
    let words: Vec<(u16, u32)> = terms
        .iter()
        .map(|term| (word_hash(&term.stemmed), term.position))
        .collect();
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

fn bonus(words: &[(u16, u32)], title: &[u16]) -> f32 {
    let pairs = words.windows(2).map(|pair| {
        let [(one, from), (other, to)] = pair else { return 0.0 };
        let wanted = i64::from(*to) - i64::from(*from);
        let places = |word: u16| {
            (0_i64..)
                .zip(title)
                .filter(move |(_, held)| **held == word)
                .map(|(at, _)| at)
        };
        let apart = places(*one)
            .flat_map(|first| places(*other).map(move |second| (second - first - wanted).unsigned_abs()))
            .min();
        match apart {
            Some(0) => PHRASE_BONUS,
            Some(apart) if apart <= u64::from(SLOP) => PHRASE_BONUS / 2.0,
            _ => 0.0,
        }
    });
    pairs.sum::<f32>() / super::index::as_float((words.len() as u64).saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_stand_as_in_the_query_count_in_full() {
        let query = [(1, 0), (2, 1), (3, 2)];
        assert_eq!(bonus(&query, &[9, 1, 2, 3]), PHRASE_BONUS);
        assert_eq!(bonus(&query, &[1, 2, 9, 9, 9, 9, 3]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[1, 9, 2]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[2, 1]), PHRASE_BONUS / 2.0);
        assert_eq!(bonus(&query[..2], &[2, 9, 9, 1]), 0.0);
        assert_eq!(bonus(&query[..2], &[]), 0.0);
    }
}
