use data_model::Gtin;
use rustc_hash::FxHashSet;

use crate::catalogue::{Bounds, Catalogue};
use crate::keys::Keys;
use crate::maker::Maker;
use crate::near::{Candidate, Entry, Line, Pair, pairs, placed};
use crate::reading::title_sounds;

/// Number of neighbours with which each product is compared if many products share a barcode. The comparison shows what
/// else they have in common.
const LOOKED_AT: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Barcodes {
    pub(crate) pairs: Vec<Pair>,
    /// Barcodes that identify no product.
    pub(crate) worthless: FxHashSet<Gtin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CodedProduct {
    pub(crate) barcode: Gtin,
    pub(crate) entry: Entry,
}

impl Barcodes {
    pub(crate) fn of(mut coded: Vec<CodedProduct>, catalogue: &dyn Catalogue, bounds: &Bounds) -> Self {
        coded.sort_unstable();
        coded.dedup();
        let mut found = Self::default();
        for shared in coded.chunk_by(|one, next| one.barcode == next.barcode) {
            let mut of_stores = shared.chunk_by(|one, next| one.entry.store == next.entry.store);
            let is_copied = of_stores.any(|rows| rows.len() > bounds.barcode_store_rows_max);
            let pairs = if is_copied {
                None
            } else if shared.len() > bounds.barcode_rows_max {
                of_many(shared, catalogue, bounds.barcode_rows_max)
            } else {
                Some(all_pairs(shared))
            };
            match pairs {
                Some(pairs) => found.pairs.extend(pairs),
                None => found.worthless.extend(shared.first().map(|coded| coded.barcode)),
            }
        }
        found
    }
}

fn all_pairs(shared: &[CodedProduct]) -> Vec<Pair> {
    let pairs = shared
        .iter()
        .enumerate()
        .flat_map(|(at, one)| shared.iter().skip(at + 1).map(move |other| (one, other)));
    pairs
        .filter_map(|(one, other)| Pair::of(one.entry, other.entry))
        .collect()
}

/// Returns the pairs among many products that share a barcode, or `None` if most of them share nothing else, as for a
/// copied barcode.
fn of_many(shared: &[CodedProduct], catalogue: &dyn Catalogue, few: usize) -> Option<Vec<Pair>> {
    let titles: Vec<Title> = shared.iter().map(|coded| Title::of(catalogue, coded.entry)).collect();
    let (mut agreed, mut looked_at) = (0, 0);
    for ahead in 1..=LOOKED_AT {
        for (one, other) in titles.iter().zip(titles.iter().skip(ahead)) {
            looked_at += 1;
            agreed += usize::from(one.agrees(other));
        }
    }
    if agreed * 2 <= looked_at {
        return None;
    }
    let told = shared.iter().zip(titles).map(|(coded, title)| Candidate {
        said: title.sounds.join(" "),
        entry: coded.entry,
        keys: Keys::default(),
    });
    let all = placed(told.collect());
    let places: Vec<u32> = (0..).zip(&all).map(|(place, _)| place).collect();
    let line = Line::of(places.clone(), &all, few);
    let near = |place| line.firsts(place).iter().chain(line.nearest(place)).copied();
    let pairs = places.iter().flat_map(|place| pairs(&all, *place, near(*place)));
    Some(pairs.collect())
}

#[derive(Debug)]
struct Title {
    makers: Vec<Maker>,
    /// Sounds of the title's words without words of the makers' names, sorted.
    sounds: Vec<String>,
}

impl Title {
    fn of(catalogue: &dyn Catalogue, entry: Entry) -> Self {
        let named = catalogue.named(entry.row);
        let names = std::iter::once(named.brand).chain(named.vendor);
        let makers: Vec<Maker> = names.filter_map(Maker::of).collect();
        let mut sounds = title_sounds(named.title);
        let is_name = |sound: &String| makers.iter().any(|maker| maker.names().any(|name| name == sound));
        sounds.retain(|sound| !is_name(sound));
        sounds.sort_unstable();
        sounds.dedup();
        Self { makers, sounds }
    }

    /// Returns `true` if all words of one title occur in the other. Products with the same maker need one common word,
    /// and others three.
    fn agrees(&self, other: &Self) -> bool {
        let same = self
            .sounds
            .iter()
            .filter(|sound| other.sounds.binary_search(sound).is_ok())
            .count();
        let is_of_one_maker = self
            .makers
            .iter()
            .any(|mine| other.makers.iter().any(|theirs| mine.is_same(theirs)));
        let told_min = if is_of_one_maker { 1 } else { 3 };
        same >= told_min && same == self.sounds.len().min(other.sounds.len())
    }
}
