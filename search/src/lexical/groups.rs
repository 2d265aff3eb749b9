use data_index::Release;
use data_index::terms::{Holding, TermList, word_hash};

use super::index::TextIndex;
use super::lists::{GroupLists, Way};
use super::score::idf;
use super::terms::QueryTerm;

/// One word as posting lists have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupWord {
    pub(super) stem: String,
    pub(super) form: u8,
    pub(super) hash: u16,
}

impl GroupWord {
    pub(super) fn of(term: &QueryTerm) -> Self {
        Self {
            stem: term.stemmed.clone(),
            form: Holding::form_code(&term.plain),
            hash: word_hash(&term.stemmed),
        }
    }
}

/// One way in which a product may say what a word of the query says: a word, or words that stand beside each other in
/// its title.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    pub(super) words: Vec<GroupWord>,
    /// What a match is worth beside one of the word itself.
    pub(super) factor: f32,
}

/// A word of the query and the other ways to say it: a product that has any of them has the word.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) alternatives: Vec<Alternative>,
}

impl Group {
    /// The word itself and nothing else.
    pub(super) fn of(term: &QueryTerm) -> Self {
        Self {
            alternatives: vec![Alternative {
                words: vec![GroupWord::of(term)],
                factor: 1.0,
            }],
        }
    }
}

/// The posting lists of an alternative in one part.
#[derive(Debug)]
struct Opened<'a> {
    lists: Vec<TermList<'a>>,
    alternative: usize,
}

/// Where the words of a query lie in each part, and what each is worth.
#[derive(Debug)]
pub(super) struct OpenGroups<'a> {
    release: &'a Release,
    groups: &'a [Group],
    /// By part, then by group.
    parts: Vec<Vec<Vec<Opened<'a>>>>,
    /// By group, then by alternative: how much it tells, times its factor.
    weights: Vec<Vec<f32>>,
    /// By group: whether any part holds it in any way.
    pub(super) known: Vec<bool>,
}

impl<'a> OpenGroups<'a> {
    pub(super) fn of(release: &'a Release, index: &TextIndex, groups: &'a [Group]) -> Self {
        let mut held: Vec<Vec<u32>> = groups.iter().map(|group| vec![0; group.alternatives.len()]).collect();
        let open = |group: &'a Group, held: &mut Vec<u32>, terms: &'a data_index::terms::Terms| {
            let mut opened = Vec::new();
            for (at, (alternative, held)) in group.alternatives.iter().zip(held).enumerate() {
                let lists = alternative.words.iter().map(|word| terms.find(&word.stem));
                let Some(lists) = lists.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                // Beside each other they stand in no more products than the rarest of them.
                let rarest = lists.iter().map(TermList::count).min().unwrap_or(0);
                *held = held.saturating_add(rarest);
                opened.push(Opened { lists, alternative: at });
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
            let weight = |(alternative, held): (&Alternative, &u32)| {
                // What stands for a word tells no more than the word.
                let holding = own.map_or(*held, |own| own.max(*held));
                idf(index.docs, holding) * alternative.factor
            };
            group.alternatives.iter().zip(held).map(weight).collect()
        });
        Self {
            release,
            groups,
            parts,
            weights: weights.collect(),
            known: held.iter().map(|held| held.iter().any(|held| *held > 0)).collect(),
        }
    }

    /// The same, each alternative of the last group worth what all of them together are: they stand for one word.
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

    /// How many postings a group has in all parts.
    pub(super) fn postings(&self, group: usize) -> u64 {
        let opened = self.parts.iter().filter_map(|part| part.get(group)).flatten();
        opened
            .flat_map(|opened| &opened.lists)
            .map(|list| u64::from(list.count()))
            .sum()
    }

    /// The lists of a group in a part; `None` where no product of the part has its word.
    pub(super) fn lists(&self, part: usize, group: usize) -> Option<GroupLists<'_>> {
        let opened = self.parts.get(part)?.get(group)?;
        let terms = self.release.parts().get(part)?.terms();
        let (ways, weights) = (self.groups.get(group)?, self.weights.get(group)?);
        GroupLists::of(opened.iter().filter_map(|opened| {
            Some(Way {
                lists: &opened.lists,
                words: &ways.alternatives.get(opened.alternative)?.words,
                weight: *weights.get(opened.alternative)?,
                terms,
            })
        }))
    }
}
