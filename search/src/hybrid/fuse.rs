use data_index::{Release, RowAddress};
use data_model::CategoryId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tuning;
use crate::lexical::{ScoredRow, tier};
use crate::semantic::Near;

/// Product found by words, by meaning, or both.
#[derive(Debug, Clone, Copy)]
pub struct FusedRow {
    /// Row of the product.
    pub at: RowAddress,
    /// Score of the product. Pinned products are ranked first, regardless of their score.
    pub score: f32,
    /// Lexical score, if words found the product.
    pub by_words: Option<ByWords>,
    /// Cosine similarity to the query, if known.
    pub cosine: Option<f32>,
    /// Similarity relative to the nearest product, from 0 to 1.
    pub nearness: f32,
    /// Weight of the similarity in the score. The remaining weight up to 1 is that of the words.
    pub meaning: f32,
    /// Score adjustment. It is positive if the query names the product's category, and negative if the product is an
    /// accessory of the named product.
    pub category: f32,
    quality: f32,
    id: [u8; 16],
}

/// Lexical score of a product.
#[derive(Debug, Clone, Copy)]
pub struct ByWords {
    /// Tier of the hit. See [`tier`].
    pub tier: u8,
    /// Score. Only scores of the same query are comparable.
    pub score: f32,
    /// Score including the tier, relative to the best, from 0 to 1.
    pub fit: f32,
}

impl FusedRow {
    /// Products named by title, code or brand rank before all others.
    fn pinned(&self) -> u8 {
        self.by_words
            .map_or(0, |found| if found.tier > tier::ALL { found.tier } else { 0 })
    }

    /// Adds the bonus of a category that the query names, or demotes the product.
    fn prefer(&mut self, release: &Release, kinds: &Kinds<'_>) {
        if kinds.demoted.contains(&self.at) {
            self.category = (tuning::DEMOTION - 1.0) * self.score;
            self.score *= tuning::DEMOTION;
            return;
        }
        let part = release.part(self.at.part);
        let category = part.and_then(|part| part.cards().category(self.at.row));
        if category.is_some_and(|category| kinds.named.binary_search(&category).is_ok()) {
            self.category = tuning::CATEGORY;
            self.score += tuning::CATEGORY;
        }
    }

    /// Orders better products first. Equal scores are ordered by quality, then by id.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other
            .pinned()
            .cmp(&self.pinned())
            .then(other.score.total_cmp(&self.score))
            .then(other.cosine.unwrap_or(-1.0).total_cmp(&self.cosine.unwrap_or(-1.0)))
            .then(other.quality.total_cmp(&self.quality))
            .then(self.id.cmp(&other.id))
    }
}

/// Maximum of some numbers. Scaling from the minimum instead would make the difference between the best candidates
/// depend on the worst.
#[derive(Debug, Clone, Copy)]
struct Best(f32);

impl Best {
    fn of(numbers: impl Iterator<Item = f32>) -> Self {
        Self(numbers.fold(0.0, f32::max))
    }

    /// Returns a number as a share of the best, at most 1.
    fn share(self, number: f32) -> f32 {
        if self.0 > 0.0 {
            (number / self.0).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// Scale of lexical scores as shares of the best score, including tiers. A word that nearly every product has gives
/// small scores, but their ratios still rank the products.
#[derive(Debug, Clone, Copy)]
struct Strengths {
    score: Best,
    whole: Best,
}

impl Strengths {
    fn of(words: &[ScoredRow]) -> Self {
        let score = Best::of(words.iter().map(|hit| hit.score));
        let whole = Best::of(words.iter().map(|hit| Self::whole(score, hit)));
        Self { score, whole }
    }

    fn whole(score: Best, hit: &ScoredRow) -> f32 {
        score.share(hit.score) + tuning::TIER_STEP * f32::from(hit.tier.min(tier::ALL))
    }

    /// Returns the fit of a hit, from 0 to 1.
    fn fit(self, hit: &ScoredRow) -> f32 {
        self.whole.share(Self::whole(self.score, hit))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds<'a> {
    /// Sorted categories that the query names.
    pub(super) named: &'a [CategoryId],
    /// Rows of accessories for the product that the query names.
    pub(super) demoted: &'a FxHashSet<RowAddress>,
}

/// Returns true if the lexical scores of the first `rows` hits exceed any semantic score.
pub(super) fn is_settled(words: &[ScoredRow], demoted: &FxHashSet<RowAddress>, rows: usize, meaning: f32) -> bool {
    let fits = Strengths::of(words);
    let most = meaning + tuning::CATEGORY;
    let stands = |hit: &&ScoredRow| !demoted.contains(&hit.at) && (1.0 - meaning) * fits.fit(hit) > most;
    words.len() >= rows && words.iter().filter(stands).take(rows).count() == rows
}

/// Merges lexical and semantic hits into one ranking, best first.
///
/// Lexical and semantic scores are each divided by the best of their kind, and the quotients are added. `near` are the
/// semantic hits, and `cosines` the similarities of the lexical hits. If enough lexical hits take the first places,
/// similarity is scaled by the nearest of them. The first places are then the same as without a semantic search.
/// Products in a named category get a small bonus, and demoted products get a much lower score.
pub(super) fn fuse(
    release: &Release,
    words: &[ScoredRow],
    cosines: &[Option<f32>],
    near: &[Near],
    kinds: Option<Kinds<'_>>,
    meaning: f32,
) -> Vec<FusedRow> {
    let fits = Strengths::of(words);
    let known = cosines.iter().flatten().copied().chain([tuning::COSINE_WHOLE_MIN]);
    let none = FxHashSet::default();
    let demoted = kinds.map_or(&none, |kinds| kinds.demoted);
    let nearness = if is_settled(words, demoted, tuning::FEEDBACK_ROWS, meaning) {
        Best::of(known)
    } else {
        Best::of(known.chain(near.iter().map(|near| near.cosine)))
    };
    let mut rows: FxHashMap<RowAddress, FusedRow> = FxHashMap::default();
    rows.reserve(words.len() + near.len());
    for (hit, cosine) in words.iter().zip(cosines) {
        let found = ByWords {
            tier: hit.tier,
            score: hit.score,
            fit: fits.fit(hit),
        };
        let fused = fused(release, hit.at, Some(found), *cosine, nearness, meaning);
        rows.insert(hit.at, fused);
    }
    for near in near {
        let new = || fused(release, near.at, None, Some(near.cosine), nearness, meaning);
        rows.entry(near.at).or_insert_with(new);
    }
    let mut rows: Vec<FusedRow> = rows.into_values().collect();
    if let Some(kinds) = kinds {
        rows.iter_mut().for_each(|row| row.prefer(release, &kinds));
    }
    rows.sort_unstable_by(FusedRow::order);
    rows
}

pub(super) fn words_alone(release: &Release, words: &[ScoredRow]) -> Vec<FusedRow> {
    let fits = Strengths::of(words);
    let row = |hit: &ScoredRow| {
        let found = ByWords {
            tier: hit.tier,
            score: hit.score,
            fit: fits.fit(hit),
        };
        fused(release, hit.at, Some(found), None, Best(0.0), 0.0)
    };
    words.iter().map(row).collect()
}

fn fused(
    release: &Release,
    at: RowAddress,
    by_words: Option<ByWords>,
    cosine: Option<f32>,
    nearest: Best,
    meaning: f32,
) -> FusedRow {
    let nearness = cosine.map_or(0.0, |cosine| nearest.share(cosine));
    let fit = by_words.map_or(0.0, |found| found.fit);
    let cards = release.part(at.part).map(data_index::Part::cards);
    FusedRow {
        at,
        score: (1.0 - meaning) * fit + meaning * nearness,
        by_words,
        cosine,
        nearness,
        meaning,
        category: 0.0,
        quality: cards.map_or(0.0, |cards| cards.quality(at.row)),
        id: cards.map_or([0; 16], |cards| *cards.id(at.row).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::lexical::tests::release;

    /// The titles of these rows are ignored.
    static RELEASE: LazyLock<Release> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        release((0..120).map(|number| format!("Mug {number}")), dir.path())
    });

    fn row(row: u32) -> RowAddress {
        RowAddress { part: 0, row }
    }

    fn hits() -> impl Strategy<Value = Vec<ScoredRow>> {
        let hit = (tier::ANY..=tier::TITLE, 0.0_f32..40.0);
        prop::collection::vec(hit, 1..60).prop_map(|hits| {
            let hit = |(at, (tier, score))| ScoredRow {
                at: row(at),
                tier,
                score,
            };
            (0..).zip(hits).map(hit).collect()
        })
    }

    proptest! {
        #[test]
        fn where_words_settle_the_first_rows_meaning_changes_none_of_them(
            words in hits(), cosines in prop::collection::vec(prop::option::of(-0.2_f32..1.0), 60),
            near in prop::collection::vec(0.0_f32..1.0, 0..60), rows in tuning::FEEDBACK_ROWS..30,
        ) {
            prop_assume!(is_settled(&words, &FxHashSet::default(), rows, tuning::MEANING));
            let cosines = &cosines[..words.len()];
            let near: Vec<_> = (60..).map(row).zip(near).map(|(at, cosine)| Near { at, cosine }).collect();
            let first = |near: &[Near]| {
                let fused = fuse(&RELEASE, &words, cosines, near, None, tuning::MEANING);
                let first = fused.iter().take(rows).map(|row| (row.at, row.score.to_bits()));
                first.collect::<Vec<_>>()
            };
            prop_assert_eq!(first(&near), first(&[]));
        }
    }

    #[test]
    fn few_hits_or_such_as_fit_badly_settle_nothing() {
        let hits = |tier, score, count| {
            let hit = |at, tier, score| ScoredRow {
                at: row(at),
                tier,
                score,
            };
            let others = (1..count).map(|at| hit(at, tier, score));
            std::iter::once(hit(0, tier::ALL, 10.0))
                .chain(others)
                .collect::<Vec<_>>()
        };
        let none = FxHashSet::default();
        assert!(is_settled(&hits(tier::ALL, 0.0, 30), &none, 20, tuning::MEANING));
        assert!(!is_settled(&hits(tier::ALL, 0.0, 10), &none, 20, tuning::MEANING));
        assert!(!is_settled(&hits(tier::ANY, 1.0, 30), &none, 20, tuning::MEANING));
        // Demoted products never settle the first places.
        let demoted = (0..11).map(row).collect();
        assert!(!is_settled(&hits(tier::ALL, 0.0, 30), &demoted, 20, tuning::MEANING));
        assert!(is_settled(&hits(tier::ALL, 0.0, 31), &demoted, 20, tuning::MEANING));
    }
}
