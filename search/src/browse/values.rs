use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use data_index::columns::FacetKey;
use data_index::{Part, Release, taxonomy};
use data_model::CategoryId;
use rustc_hash::FxHashMap;

use super::bits::{Bits, ROWS_PER_WORD};
use super::packed::PackedValues;
use super::{machine, packing};

pub(super) const TAG: &str = "tag";

/// Facet values of all parts, numbered in one sequence by name and value.
#[derive(Debug)]
pub(super) struct Values {
    /// Sorted facet names with the ids of their values.
    names: Vec<(Box<str>, Range<u32>)>,
    /// Position of each value in the first part that has it.
    first: Vec<CodeAddress>,
    /// Ids of the codes of each part.
    ids: Vec<Vec<u32>>,
    /// For each part, the values of its rows and the indexes of its facets in `names`.
    packed: Vec<(PackedValues, Vec<usize>)>,
    /// Ids of values that are not meant for people, such as some tags and all values of some facets.
    unread: Bits,
    /// Child categories of each category. `None` has the top-level categories.
    children: FxHashMap<Option<CategoryId>, Vec<u32>>,
}

#[derive(Debug, Clone, Copy)]
struct CodeAddress {
    part: u32,
    code: u32,
}

impl Values {
    pub(super) fn of(release: &Release) -> Self {
        let parts = release.parts();
        let mut values = Self {
            names: Vec::new(),
            first: Vec::new(),
            ids: parts
                .iter()
                .map(|part| Vec::with_capacity(part.facets().len()))
                .collect(),
            packed: Vec::new(),
            unread: Bits::empty(0..0),
            children: FxHashMap::default(),
        };
        let head = |part: u32, code: u32| {
            let facets = parts.get(part as usize)?.facets();
            ((code as usize) < facets.len()).then(|| {
                let key = facets.key(code);
                Reverse((key.name, key.value, part, code))
            })
        };
        // The values of each part are sorted, so that the parts can be merged.
        let mut heads: BinaryHeap<_> = (0..).zip(parts).filter_map(|(part, _)| head(part, 0)).collect();
        let mut last: Option<(&str, &str)> = None;
        while let Some(Reverse((name, value, part, code))) = heads.pop() {
            heads.extend(head(part, code + 1));
            if last != Some((name, value)) {
                last = Some((name, value));
                values.enter(name, value, CodeAddress { part, code });
            }
            let id = values.len() - 1;
            if let Some(ids) = values.ids.get_mut(part as usize) {
                ids.push(id);
            }
        }
        values.packed = parts.iter().map(|part| values.pack(part)).collect();
        values.note_unread(release);
        values
    }

    fn enter(&mut self, name: &str, value: &str, at: CodeAddress) {
        let id = self.len();
        match self.names.last_mut() {
            Some((last, ids)) if **last == *name => ids.end = id + 1,
            _ => self.names.push((name.into(), id..id + 1)),
        }
        if name == "category"
            && let Some(category) = taxonomy::by_slug_or_id(value)
        {
            self.children.entry(category.parent).or_default().push(id);
        }
        self.first.push(at);
    }

    fn note_unread(&mut self, release: &Release) {
        let mut unread = Bits::empty(0..self.first.len().div_ceil(ROWS_PER_WORD));
        for (name, ids) in &self.names {
            if **name == *TAG {
                let is_unread = |id: &u32| self.key(release, *id).is_some_and(|key| machine::is_value(key.value));
                ids.clone().filter(is_unread).for_each(|id| unread.insert(id));
            } else if machine::is_name(name) {
                unread.insert_range(ids.clone());
            }
        }
        self.unread = unread;
    }

    /// Returns true for a tag that is not meant for people, and for the values of a facet whose name is not.
    pub(super) fn is_unread(&self, id: u32) -> bool {
        self.unread.contains(id)
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.first.len()).unwrap_or(u32::MAX)
    }

    /// Returns the sorted facet names with the ids of their values.
    pub(super) fn names(&self) -> &[(Box<str>, Range<u32>)] {
        &self.names
    }

    pub(super) fn name(&self, facet: usize) -> (&str, Range<u32>) {
        self.names
            .get(facet)
            .map_or(("", 0..0), |(name, ids)| (name, ids.clone()))
    }

    /// Returns the position of the facet with this folded name.
    pub(super) fn facet(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|(known, _)| (**known).cmp(name)).ok()
    }

    /// Returns the ids of the codes of a part.
    pub(super) fn ids(&self, part: usize) -> &[u32] {
        self.ids.get(part).map_or(&[], Vec::as_slice)
    }

    fn pack(&self, part: &Part) -> (PackedValues, Vec<usize>) {
        let (names, codes): (Vec<_>, Vec<_>) = part.facets().names().unzip();
        let rows = (0..part.rows()).map(|row| part.cards().facet_codes(row));
        let places = names.into_iter().filter_map(|name| self.facet(name));
        (packing::pack(rows, &codes), places.collect())
    }

    pub(super) fn packed(&self, part: usize) -> Option<&PackedValues> {
        self.packed.get(part).map(|(packed, _)| packed)
    }

    /// Returns the indexes of a part's facets in [`Values::names`].
    pub(super) fn places(&self, part: usize) -> &[usize] {
        self.packed.get(part).map_or(&[], |(_, places)| places)
    }

    pub(super) fn key<'a>(&self, release: &'a Release, id: u32) -> Option<FacetKey<'a>> {
        let CodeAddress { part, code } = *self.first.get(id as usize)?;
        Some(release.part(part)?.facets().key(code))
    }

    /// Returns the ids of a facet's values that start with a folded text.
    pub(super) fn beginning_with(&self, release: &Release, facet: usize, text: &str) -> Range<u32> {
        let (_, ids) = self.name(facet);
        if text.is_empty() {
            return ids;
        }
        let first = |goes_before: &dyn Fn(&str) -> bool| {
            let (mut low, mut high) = (ids.start, ids.end);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.key(release, middle).is_some_and(|key| goes_before(key.value)) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let from = first(&|value| value < text);
        from..first(&|value| value < text || value.starts_with(text))
    }

    /// The value must be folded.
    pub(super) fn id(&self, release: &Release, facet: usize, value: &str) -> Option<u32> {
        let (
            _,
            Range {
                start: mut low,
                end: mut high,
            },
        ) = self.name(facet);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(release, middle)?.value.cmp(value) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// `None` has the top-level categories.
    pub(super) fn children(&self, category: Option<CategoryId>) -> &[u32] {
        self.children.get(&category).map_or(&[], Vec::as_slice)
    }
}
