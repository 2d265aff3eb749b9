use super::ascending::{Ascending, tree_of};
use super::near::{Reading, near};
use super::texts::TextsWriter;
use super::{Nearby, Work};

/// Small set of ranked names. A prefix of any word of a name finds it.
#[derive(Debug, Default)]
pub struct RankedNames {
    keys: TextsWriter,
    /// Rank of the name to which each key belongs.
    ranks: Vec<u32>,
    tree: Vec<u32>,
}

impl RankedNames {
    /// Builds the set from folded names with single spaces between words, best ranked first.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut keyed: Vec<(&str, u32)> = Vec::new();
        for (rank, name) in (0..).zip(names) {
            keyed.extend(beginnings(name).map(|key| (key, rank)));
        }
        keyed.sort_unstable();
        let mut ranked = Self::default();
        for (key, rank) in keyed {
            ranked.keys.push(key);
            ranked.ranks.push(rank);
        }
        ranked.tree = tree_of(&ranked.ranks);
        ranked
    }

    /// Returns the ranks of at most `limit` names in which `text` starts one of the words, best first.
    #[must_use]
    pub fn beginning_with(&self, text: &str, limit: usize, work: &mut Work) -> Vec<usize> {
        let range = self.keys.view().beginning_with(text.as_bytes());
        self.best([range], limit, work)
    }

    /// Returns the ranks of the nearest names that have a prefix within `edits_max` edits of `text`.
    #[must_use]
    pub fn near(&self, text: &str, edits_max: u8, limit: usize, work: &mut Work) -> Vec<usize> {
        let found = near(self.keys.view(), text, edits_max, Reading::Beginning, work);
        let least = found.iter().map(|near| near.edits).min();
        let nearest = found.into_iter().filter(|near| Some(near.edits) == least);
        self.best(nearest.map(|Nearby { texts, .. }| texts), limit, work)
    }

    fn best(
        &self,
        ranges: impl IntoIterator<Item = std::ops::Range<u32>>,
        limit: usize,
        work: &mut Work,
    ) -> Vec<usize> {
        let mut ascending = Ascending::new(&self.ranks, &self.tree);
        for range in ranges {
            ascending.add(range.start as usize..range.end as usize);
        }
        let ranks = std::iter::from_fn(|| ascending.next(work)).take(limit);
        ranks.map(|rank| rank as usize).collect()
    }
}

/// Returns the suffixes of a text that begin at each of its words.
pub(super) fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    let later = text.match_indices(' ').filter_map(|(at, _)| text.get(at + 1..));
    std::iter::once(text).chain(later).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_any_word_the_best_first() {
        let ranked = RankedNames::of(["blue tokai", "blue bear", "tokyo blues", "", "third wave"]);
        let found = |text: &str, limit| ranked.beginning_with(text, limit, &mut Work::of(500));
        assert_eq!(found("blue", 9), [0, 1, 2]);
        assert_eq!(found("blue", 2), [0, 1]);
        assert_eq!(found("tok", 9), [0, 2]);
        assert_eq!(found("blue b", 9), [1]);
        assert_eq!(found("x", 9), [0; 0]);
        assert_eq!(found("", 9), [0, 1, 2, 4]);
    }

    #[test]
    fn the_nearest_names_are_found_for_a_mistyped_one() {
        let ranked = RankedNames::of(["blue tokai", "tokyo blues"]);
        let near = |text: &str, edits| ranked.near(text, edits, 9, &mut Work::of(500));
        assert_eq!(near("blue tkoai", 1), [0]);
        assert_eq!(near("tokyp", 1), [1]);
        assert_eq!(near("lue tokai", 1), [0; 0]);
    }
}
