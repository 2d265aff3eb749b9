use data_index::Release;
use data_index::terms::TermList;

use super::group::{TermGroup, TermVariant};
use super::index::TextIndex;
use super::lists::{GroupLists, QueryVariant};
use super::score::idf;

/// Posting lists of a variant in one part.
#[derive(Debug)]
struct VariantLists<'a> {
    lists: Vec<TermList<'a>>,
    variant: usize,
}

/// Posting lists of a query's words in each part, with the weight of each word.
#[derive(Debug)]
pub(super) struct OpenGroups<'a> {
    release: &'a Release,
    groups: &'a [TermGroup],
    /// Lists by part, then by group, then by variant.
    parts: Vec<Vec<Vec<VariantLists<'a>>>>,
    /// Weight times factor, by group, then by variant. It is 0 for a variant that no product has.
    weights: Vec<Vec<f32>>,
    /// True for each group with any variant in any part.
    pub(super) known: Vec<bool>,
}

impl<'a> OpenGroups<'a> {
    pub(super) fn of(release: &'a Release, index: &TextIndex, groups: &'a [TermGroup]) -> Self {
        let mut held: Vec<Vec<u32>> = groups.iter().map(|group| vec![0; group.variants.len()]).collect();
        let open = |group: &'a TermGroup, held: &mut Vec<u32>, terms: &'a data_index::terms::Terms| {
            let mut opened = Vec::new();
            for (at, (variant, held)) in group.variants.iter().zip(held).enumerate() {
                let lists = variant.words.iter().map(|word| terms.find(&word.stem));
                let Some(lists) = lists.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                // At most as many products have the adjacent words as have the rarest of them.
                let rarest = lists.iter().map(TermList::count).min().unwrap_or(0);
                *held = held.saturating_add(rarest);
                opened.push(VariantLists { lists, variant: at });
            }
            opened
        };
        let parts = release
            .parts()
            .iter()
            .map(|part| {
                let groups = groups.iter().zip(&mut held);
                groups.map(|(group, held)| open(group, held, part.terms())).collect()
            })
            .collect();
        let weights = groups.iter().zip(&held).map(|(group, held)| {
            let own = held.first().copied().filter(|held| *held > 0);
            let weight = |(variant, held): (&TermVariant, &u32)| {
                // The weight of a synonym is at most that of the replaced word.
                let holding = own.map_or(*held, |own| own.max(*held));
                if *held == 0 {
                    0.0
                } else {
                    idf(index.docs, holding) * variant.factor
                }
            };
            group.variants.iter().zip(held).map(weight).collect()
        });
        Self {
            release,
            groups,
            parts,
            weights: weights.collect(),
            known: held.iter().map(|held| held.iter().any(|held| *held > 0)).collect(),
        }
    }

    /// Gives all variants of the last group a common weight, from the frequency of all of them together, because they
    /// stand for a single word.
    pub(super) fn last_as_one(mut self, index: &TextIndex) -> Self {
        let lists = self.parts.iter().filter_map(|part| part.last()).flatten();
        let held: u32 = lists
            .filter_map(|opened| opened.lists.first())
            .map(TermList::count)
            .fold(0, u32::saturating_add);
        if let Some(weights) = self.weights.last_mut() {
            weights.fill(idf(index.docs, held));
        }
        self
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns 0 if no product has the group's word.
    pub(super) fn weight(&self, group: usize) -> f32 {
        self.weights
            .get(group)
            .into_iter()
            .flatten()
            .copied()
            .fold(0.0, f32::max)
    }

    /// Counts the postings of a group in all parts.
    pub(super) fn postings(&self, group: usize) -> u64 {
        let opened = self.parts.iter().filter_map(|part| part.get(group)).flatten();
        opened
            .flat_map(|opened| &opened.lists)
            .map(|list| u64::from(list.count()))
            .sum()
    }

    /// Returns `None` if no product of the part has the group's word.
    pub(super) fn lists(&self, part: usize, group: usize) -> Option<GroupLists<'_>> {
        let opened = self.parts.get(part)?.get(group)?;
        let terms = self.release.parts().get(part)?.terms();
        let (words, weights) = (self.groups.get(group)?, self.weights.get(group)?);
        GroupLists::of(opened.iter().filter_map(|opened| {
            Some(QueryVariant {
                lists: &opened.lists,
                variant: words.variants.get(opened.variant)?,
                weight: *weights.get(opened.variant)?,
                terms,
            })
        }))
    }
}
