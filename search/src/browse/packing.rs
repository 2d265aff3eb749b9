//! Finds the facet values that rows of a part share.

use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::packed::{Kind, PackedValues, number};

/// Minimum average number of rows per kind if a facet's values distinguish kinds.
const ROWS_PER_KIND: usize = 32;
/// Minimum number of rows with the same set of values of a facet for the set to have a symbol.
const ROWS_PER_SET: usize = 16;

/// Each row has ascending codes. `facets` are the ascending code ranges of the facets.
pub(super) fn pack<'a>(rows: impl Iterator<Item = &'a [u32]>, facets: &[Range<u32>]) -> PackedValues {
    let held = ValueSets::of(rows, facets);
    let mut of_facets = held.by_facet();
    let (kinds, is_kinds) = kinds(held.rows(), &mut of_facets);
    held.pack(&kinds, &is_kinds)
}

/// Distinct combinations of values of each facet.
struct ValueSets<'a, 'f> {
    facets: &'f [Range<u32>],
    sets: Vec<Set<'a>>,
    /// Number of sets of each facet.
    counts: Vec<usize>,
    /// Sets of each row in facet order, concatenated, with the end of each row.
    of_rows: Vec<u32>,
    ends: Vec<usize>,
}

/// Values of one facet in a row.
#[derive(Clone, Copy)]
struct Set<'a> {
    facet: usize,
    codes: &'a [u32],
}

/// Rows with any value of a facet, each with its set of values, and the number of distinct sets.
struct OfFacet {
    facet: usize,
    sets: usize,
    rows: Vec<RowMark>,
}

/// Row with the mark that distinguishes it from others.
#[derive(Clone, Copy)]
struct RowMark {
    row: u32,
    mark: u32,
}

impl<'a, 'f> ValueSets<'a, 'f> {
    fn of(rows: impl Iterator<Item = &'a [u32]>, facets: &'f [Range<u32>]) -> Self {
        let mut known: FxHashMap<&[u32], u32> = FxHashMap::default();
        let mut held = Self {
            facets,
            sets: Vec::new(),
            counts: vec![0; facets.len()],
            of_rows: Vec::new(),
            ends: Vec::new(),
        };
        for mut codes in rows {
            // The codes and the facets of a row are each in ascending order.
            while let Some(first) = codes.first() {
                let facet = facets.partition_point(|facet| facet.end <= *first);
                let Some(range) = facets.get(facet) else { break };
                let (of_facet, rest) = codes.split_at(codes.partition_point(|code| *code < range.end));
                codes = rest;
                held.of_rows.push(match known.entry(of_facet) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        held.counts[facet] += 1;
                        held.sets.push(Set { facet, codes: of_facet });
                        *new.insert(number(held.sets.len() - 1))
                    }
                });
            }
            held.ends.push(held.of_rows.len());
        }
        held
    }

    fn rows(&self) -> usize {
        self.ends.len()
    }

    fn each_row(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.of_rows[*start..*end])
    }

    fn by_facet(&self) -> Vec<OfFacet> {
        let of_facet = |(facet, sets): (usize, &usize)| OfFacet {
            facet,
            sets: *sets,
            rows: Vec::new(),
        };
        let mut of_facets: Vec<OfFacet> = self.counts.iter().enumerate().map(of_facet).collect();
        for (row, sets) in (0..).zip(self.each_row()) {
            for set in sets {
                of_facets[self.sets[*set as usize].facet]
                    .rows
                    .push(RowMark { row, mark: *set });
            }
        }
        of_facets
    }

    /// Packs the shared values of every kind and the remaining values of each row.
    fn pack(&self, partition: &Partition, is_kinds: &[bool]) -> PackedValues {
        let mut kinds: Vec<Option<Kind>> = Vec::new();
        kinds.resize_with(partition.live, || None);
        let mut symbols = Symbols::of(self.facets);
        let mut packed_rows = Vec::with_capacity(self.of_rows.len());
        let mut ends = Vec::with_capacity(self.rows());
        for (sets, kind) in self.each_row().zip(&partition.of_rows) {
            let sets = sets.iter().map(|set| (*set, self.sets[*set as usize]));
            kinds[*kind as usize].get_or_insert_with(|| {
                let of_kind = sets.clone().filter(|(_, set)| is_kinds[set.facet]);
                Kind {
                    codes: of_kind.flat_map(|(_, set)| set.codes).copied().collect(),
                    facets: sets.clone().map(|(_, set)| set.facet).collect(),
                }
            });
            for (number, set) in sets.filter(|(_, set)| !is_kinds[set.facet]) {
                if set.codes.len() > 1 && self.counts[set.facet] <= self.rows() / ROWS_PER_SET {
                    packed_rows.push(symbols.symbol(number, set.codes));
                } else {
                    packed_rows.extend(set.codes);
                }
            }
            ends.push(packed_rows.len());
        }
        let kinds = kinds.into_iter().map(Option::unwrap_or_default).collect();
        let mut packed = PackedValues::new(symbols.codes, symbols.sets, kinds, self.rows());
        let mut start = 0;
        for (kind, end) in partition.of_rows.iter().zip(ends) {
            packed.push(*kind, &packed_rows[start..end]);
            start = end;
        }
        packed
    }
}

/// Symbols of sets of codes, numbered after the codes.
struct Symbols {
    codes: usize,
    known: FxHashMap<u32, u32>,
    sets: Vec<Box<[u32]>>,
}

impl Symbols {
    fn of(facets: &[Range<u32>]) -> Self {
        Self {
            codes: facets.last().map_or(0, |codes| codes.end as usize),
            known: FxHashMap::default(),
            sets: Vec::new(),
        }
    }

    fn symbol(&mut self, set: u32, codes: &[u32]) -> u32 {
        let (from, sets) = (self.codes, &mut self.sets);
        *self.known.entry(set).or_insert_with(|| {
            sets.push(codes.into());
            number(from + sets.len() - 1)
        })
    }
}

/// Returns the kind of each row, and the facets whose values all rows of a kind share. Rows of one kind have values of
/// the same facets.
fn kinds(rows: usize, of_facets: &mut [OfFacet]) -> (Partition, Vec<bool>) {
    let mut kinds = Partition::whole(rows);
    for of_facet in &*of_facets {
        let facet = number(of_facet.facet);
        kinds.refine(
            usize::MAX,
            of_facet.rows.iter().map(|of_row| RowMark { mark: facet, ..*of_row }),
        );
    }
    let most = (rows / ROWS_PER_KIND).max(ROWS_PER_KIND);
    let mut is_kinds = vec![false; of_facets.len()];
    of_facets.sort_unstable_by_key(|of_facet| (of_facet.sets, of_facet.facet));
    for of_facet in of_facets.iter().take_while(|of_facet| of_facet.sets <= most) {
        is_kinds[of_facet.facet] = kinds.refine(most, of_facet.rows.iter().copied());
    }
    kinds.number();
    (kinds, is_kinds)
}

/// Classes of rows.
struct Partition {
    of_rows: Vec<u32>,
    /// Number of rows of each class.
    sizes: Vec<u32>,
    /// Number of classes with rows.
    live: usize,
}

impl Partition {
    fn whole(rows: usize) -> Self {
        Self {
            of_rows: vec![0; rows],
            sizes: vec![number(rows)],
            live: usize::from(rows > 0),
        }
    }

    fn shift(&mut self, row: usize, to: u32) -> u32 {
        let from = std::mem::replace(&mut self.of_rows[row], to);
        self.sizes[to as usize] += 1;
        self.live += usize::from(self.sizes[to as usize] == 1);
        self.sizes[from as usize] -= 1;
        self.live -= usize::from(self.sizes[from as usize] == 0);
        from
    }

    /// Splits the classes by the marks of the rows, unless that gives more than `most` classes.
    fn refine(&mut self, most: usize, said: impl ExactSizeIterator<Item = RowMark>) -> bool {
        let before = self.sizes.len();
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut shifted = Vec::with_capacity(said.len());
        let mut exceeds = false;
        for RowMark { row, mark } in said {
            let class = self.of_rows[row as usize];
            let to = *known.entry((class, mark)).or_insert_with(|| number(self.sizes.len()));
            if to as usize == self.sizes.len() {
                self.sizes.push(0);
            }
            shifted.push((row as usize, self.shift(row as usize, to)));
            exceeds = self.sizes.len() - before > most;
            if exceeds {
                break;
            }
        }
        if exceeds || self.live > most {
            for (row, class) in shifted.into_iter().rev() {
                self.shift(row, class);
            }
            self.sizes.truncate(before);
            return false;
        }
        true
    }

    /// Renumbers the nonempty classes from 0 in order of first occurrence.
    fn number(&mut self) {
        let mut numbers = vec![None; self.sizes.len()];
        let mut next = 0;
        for class in &mut self.of_rows {
            *class = *numbers[*class as usize].get_or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the codes and the facets of a row, ascending.
    fn told(packed: &PackedValues, row: u32) -> (Vec<u32>, Vec<usize>) {
        let row = packed.row(row).unwrap();
        let kind = &packed.kinds()[row.kind as usize];
        let symbols = row.symbols.iter().chain(packed.further(row));
        let codes = symbols.flat_map(|symbol| packed.codes(symbol)).chain(&kind.codes);
        let mut codes: Vec<u32> = codes.copied().collect();
        codes.sort_unstable();
        (codes, kind.facets.clone())
    }

    proptest! {
        #[test]
        fn a_packed_row_has_what_was_packed(
            widths in prop::collection::vec(1_u32..9, 0..6),
            seeds in prop::collection::vec(prop::collection::vec(prop::collection::btree_set(0_u32..9, 0..6), 6), 1..40),
            times in 1_usize..30
        ) {
            let mut end = 0;
            let facets: Vec<Range<u32>> = widths.iter().map(|width| { end += width; end - width..end }).collect();
            let row = |seed: &Vec<std::collections::BTreeSet<u32>>| -> Vec<u32> {
                let of_facets = facets.iter().zip(seed);
                of_facets.flat_map(|(codes, held)| held.iter().map(|at| codes.start + at).filter(|code| *code < codes.end)).collect()
            };
            let rows: Vec<Vec<u32>> = seeds.iter().cycle().take(seeds.len() * times).map(row).collect();
            let packed = pack(rows.iter().map(Vec::as_slice), &facets);
            for (at, row) in (0..).zip(&rows) {
                let of = facets.iter().enumerate().filter(|(_, codes)| row.iter().any(|code| codes.contains(code)));
                prop_assert_eq!(told(&packed, at), (row.clone(), of.map(|(facet, _)| facet).collect()));
            }
            prop_assert!(packed.row(number(rows.len())).is_none());
        }
    }

    #[test]
    fn rows_that_are_alike_are_one_kind_and_their_sets_one_symbol() {
        // The first facet has two values. The second has three, and a row has several of them. The third has another
        // value per row.
        let facets = [0..2, 2..5, 5..1_005];
        let sets = [&[2_u32, 3][..], &[2, 3, 4], &[3, 4]];
        let row = |at: u32| [&[at % 2], sets[at as usize % 3], &[5 + at]].concat();
        let rows: Vec<Vec<u32>> = (0..1_000).map(row).collect();
        let packed = pack(rows.iter().map(Vec::as_slice), &facets);
        assert_eq!((packed.kinds().len(), packed.sets().len()), (6, 0));
        assert_eq!(packed.row(7).unwrap().symbols[0], 12);
        // The facet would give too many kinds for so few rows, so that it has its own symbols.
        let many = |at: u32| [&[at % 2][..], &[2 + at % 40, 42 + at % 40]].concat();
        let rows: Vec<Vec<u32>> = (0..1_000).map(many).collect();
        let packed = pack(rows.iter().map(Vec::as_slice), &[0..2, 2..82]);
        assert_eq!((packed.kinds().len(), packed.sets().len()), (2, 40));
    }
}
