use data_index::{Release, RowAddress};
use data_model::CategoryId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tuning;
use crate::lexical::{ScoredRow, tier};

/// A product that was found by words, by meaning, or both.
#[derive(Debug, Clone, Copy)]
pub struct FusedRow {
    /// Where it is.
    pub at: RowAddress,
    /// What decides its place, after what it is pinned for.
    pub score: f32,
    /// How it was found by words.
    pub by_words: Option<ByWords>,
    /// How near it is to the query.
    pub cosine: Option<f32>,
    /// Its nearness as a share of the nearest's, from 0 to 1.
    pub nearness: f32,
    /// The share of its nearness in its score; the rest is that of its words.
    pub meaning: f32,
    /// What is added where its category is what the query says the thing is, or taken where it is something for that thing.
    pub category: f32,
    quality: f32,
    id: [u8; 16],
}

/// How a product was found by words.
#[derive(Debug, Clone, Copy)]
pub struct ByWords {
    /// One of [`tier`]'s.
    pub tier: u8,
    /// Means nothing beside the scores of another query.
    pub score: f32,
    /// Its score, its tier counted in, as a share of the best's, from 0 to 1.
    pub fit: f32,
}

impl FusedRow {
    /// Products that the query names, by title, code or brand, stand before all others.
    fn pinned(&self) -> u8 {
        self.by_words
            .map_or(0, |found| if found.tier > tier::ALL { found.tier } else { 0 })
    }

    /// Adds what being of a category is worth that the query names, or takes what it costs to be put aside.
    fn prefer(&mut self, release: &Release, kinds: &Kinds<'_>) {
        if kinds.aside.contains(&self.at) {
            self.category = (tuning::ASIDE - 1.0) * self.score;
            self.score *= tuning::ASIDE;
            return;
        }
        let part = release.part(self.at.part);
        let category = part.and_then(|part| part.cards().category(self.at.row));
        if category.is_some_and(|category| kinds.named.binary_search(&category).is_ok()) {
            self.category = tuning::CATEGORY;
            self.score += tuning::CATEGORY;
        }
    }

    /// The better first. How presentable products are decides only between equal scores, and ids between equal ones.
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

/// The greatest of some numbers: what the others are shares of. Measured from the least number instead, how far the
/// worst candidates are off would decide how much the best ones differ.
#[derive(Debug, Clone, Copy)]
struct Best(f32);

impl Best {
    fn of(numbers: impl Iterator<Item = f32>) -> Self {
        Self(numbers.fold(0.0, f32::max))
    }

    /// A number as a share of the best, from 0 to 1; 1 for one that is better than those the best was taken from.
    fn share(self, number: f32) -> f32 {
        if self.0 > 0.0 {
            (number / self.0).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// How well products fit by words: their scores as shares of the best one's, with what their tiers count. Of a word that
/// nearly every product holds all scores are small, and yet they tell which product is meant.
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

    /// From 0 to 1.
    fn fit(self, hit: &ScoredRow) -> f32 {
        self.whole.share(Self::whole(self.score, hit))
    }
}

/// What the categories of products count for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds<'a> {
    /// Those that the query names; sorted.
    pub(super) named: &'a [CategoryId],
    /// Rows that are something for the thing that it names.
    pub(super) aside: &'a FxHashSet<RowAddress>,
}

/// Whether the first `rows` are hits by words, whatever is found by meaning: their words alone put them before all that
/// meaning alone can bring.
pub(super) fn is_settled(words: &[ScoredRow], aside: &FxHashSet<RowAddress>, rows: usize) -> bool {
    let fits = Strengths::of(words);
    let most = tuning::MEANING + tuning::CATEGORY;
    let stands = |hit: &&ScoredRow| !aside.contains(&hit.at) && (1.0 - tuning::MEANING) * fits.fit(hit) > most;
    words.len() >= rows && words.iter().filter(stands).take(rows).count() == rows
}

/// Puts what was found by words and what was found by meaning into one order, best first.
///
/// Each kind of score counts as a share of the best of its kind, and the shares are added. `near` are the hits by
/// meaning; `cosines` is how near each hit by words is. Where enough words decide what stands first, the nearest of
/// those found by words is the measure of nearness, so that the order of the first does not depend on whether anybody
/// looked for others. Products of a category that is named have a little more, and what is put aside has far less.
pub(super) fn fuse(
    release: &Release,
    words: &[ScoredRow],
    cosines: &[Option<f32>],
    near: &[(RowAddress, f32)],
    kinds: Option<Kinds<'_>>,
) -> Vec<FusedRow> {
    let meaning = tuning::MEANING;
    let fits = Strengths::of(words);
    let known = cosines.iter().flatten().copied().chain([tuning::COSINE_WHOLE_MIN]);
    let none = FxHashSet::default();
    let aside = kinds.map_or(&none, |kinds| kinds.aside);
    let nearness = if is_settled(words, aside, tuning::FEEDBACK_ROWS) {
        Best::of(known)
    } else {
        Best::of(known.chain(near.iter().map(|(_, cosine)| *cosine)))
    };
    let mut rows: FxHashMap<RowAddress, FusedRow> = FxHashMap::default();
    rows.reserve(words.len() + near.len());
    for (hit, cosine) in words.iter().zip(cosines) {
        let found = ByWords {
            tier: hit.tier,
            score: hit.score,
            fit: fits.fit(hit),
        };
        let fused = fused(
            release,
            hit.at,
            Some(found),
            cosine.map(|cosine| (cosine, nearness)),
            meaning,
        );
        rows.insert(hit.at, fused);
    }
    for (at, cosine) in near {
        let new = || fused(release, *at, None, Some((*cosine, nearness)), meaning);
        rows.entry(*at).or_insert_with(new);
    }
    let mut rows: Vec<FusedRow> = rows.into_values().collect();
    if let Some(kinds) = kinds {
        rows.iter_mut().for_each(|row| row.prefer(release, &kinds));
    }
    rows.sort_unstable_by(FusedRow::order);
    rows
}

/// What was found by words alone, in its order.
pub(super) fn words_alone(release: &Release, words: &[ScoredRow]) -> Vec<FusedRow> {
    let fits = Strengths::of(words);
    let row = |hit: &ScoredRow| {
        let found = ByWords {
            tier: hit.tier,
            score: hit.score,
            fit: fits.fit(hit),
        };
        fused(release, hit.at, Some(found), None, 0.0)
    };
    words.iter().map(row).collect()
}

fn fused(
    release: &Release,
    at: RowAddress,
    by_words: Option<ByWords>,
    cosine: Option<(f32, Best)>,
    meaning: f32,
) -> FusedRow {
    let nearness = cosine.map_or(0.0, |(cosine, best)| best.share(cosine));
    let fit = by_words.map_or(0.0, |found| found.fit);
    let cards = release.part(at.part).map(data_index::Part::cards);
    FusedRow {
        at,
        score: (1.0 - meaning) * fit + meaning * nearness,
        by_words,
        cosine: cosine.map(|(cosine, _)| cosine),
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

    /// Rows to be ordered: what they are called decides nothing.
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
            prop_assume!(is_settled(&words, &FxHashSet::default(), rows));
            let cosines = &cosines[..words.len()];
            let near: Vec<_> = (60..).map(row).zip(near).collect();
            let first = |near: &[(RowAddress, f32)]| {
                let fused = fuse(&RELEASE, &words, cosines, near, None);
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
        assert!(is_settled(&hits(tier::ALL, 0.0, 30), &none, 20));
        assert!(!is_settled(&hits(tier::ALL, 0.0, 10), &none, 20));
        assert!(!is_settled(&hits(tier::ANY, 1.0, 30), &none, 20));
        // What is put aside settles nothing.
        let aside = (0..11).map(row).collect();
        assert!(!is_settled(&hits(tier::ALL, 0.0, 30), &aside, 20));
        assert!(is_settled(&hits(tier::ALL, 0.0, 31), &aside, 20));
    }
}
