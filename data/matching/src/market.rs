use data_model::Gtin;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

use crate::barcodes::{Barcodes, CodedProduct};
use crate::catalogue::{Bounds, Catalogue};
use crate::judge::compare;
use crate::judgement::{Basis, Judgement};
use crate::keys::{Keys, hash, said};
use crate::maker::{FirstLetters, Maker, beginnings, begun, first_letters};
use crate::near::{Candidate, Entry, Line, Pair, PlacedProduct, pairs, placed};
use crate::reading::Reading;

/// Two products of different stores that are the same product.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Row of the product with the lower row number.
    pub one: u32,
    /// Row of the other product.
    pub other: u32,
    /// Judgement with its confidence, reasons and matching variants.
    pub judgement: Judgement,
}

/// Finds all matching products, sorted by row. For each product, only the best match in each other store is returned.
/// If two matches in a store are equally good, both are dropped.
///
/// Matches connect the products of many stores in chains instead of pairing all of them. The cost depends on the
/// products that share a maker or barcode with another store. Each of these is compared with at most
/// [`Bounds::compared_max`] others. Of all other products, only the names are read. Products are read one maker at a
/// time.
#[must_use]
pub fn matches(catalogue: &dyn Catalogue, bounds: &Bounds) -> Vec<Match> {
    let blocks = blocks(catalogue, bounds);
    let mut search = Search {
        catalogue,
        worthless: &blocks.barcodes.worthless,
        held_max: bounds.held_max,
        compared: FxHashSet::default(),
        found: Vec::new(),
    };
    search.compare(blocks.barcodes.pairs, FxHashMap::default());
    for rows in &blocks.makers {
        search.block(rows, bounds);
    }
    search.found.sort_unstable_by_key(|found| (found.one, found.other));
    best(search.found, |row| catalogue.named(row).store)
}

type HeldReadings = FxHashMap<u32, Rc<Reading>>;

struct Search<'a> {
    catalogue: &'a dyn Catalogue,
    worthless: &'a FxHashSet<Gtin>,
    held_max: usize,
    /// Compared pairs, so that a pair in several blocks is compared once.
    compared: FxHashSet<Pair>,
    found: Vec<Match>,
}

impl Search<'_> {
    /// Compares the products of one maker and then releases their parsed data.
    fn block(&mut self, rows: &[Entry], bounds: &Bounds) {
        let mut held = HeldReadings::default();
        let told = rows.iter().map(|entry| {
            let reading = self.read(entry.row, &mut held);
            Candidate {
                said: said(&reading),
                entry: *entry,
                keys: Keys::of(&reading),
            }
        });
        let all = placed(told.collect());
        self.compare(candidates(&all, bounds), held);
    }

    fn compare(&mut self, mut pairs: Vec<Pair>, mut held: HeldReadings) {
        pairs.retain(|pair| self.compared.insert(*pair));
        pairs.sort_unstable();
        for of_one in pairs.chunk_by(|one, next| one.one == next.one) {
            let Some(Pair { one, .. }) = of_one.first().copied() else {
                continue;
            };
            let mine = self.read(one, &mut held);
            for Pair { other, .. } in of_one.iter().copied() {
                let theirs = self.read(other, &mut held);
                // Vectors are read only for pairs that the words do not rule out.
                if compare(&mine, &theirs, None).is_ok()
                    && let Ok(judgement) = compare(&mine, &theirs, self.catalogue.similarity(one, other))
                {
                    self.found.push(Match { one, other, judgement });
                }
            }
        }
    }

    fn read(&self, row: u32, held: &mut HeldReadings) -> Rc<Reading> {
        if let Some(reading) = held.get(&row) {
            return Rc::clone(reading);
        }
        let reading = Rc::new(Reading::of(&self.catalogue.item(row)).without(self.worthless));
        if held.len() < self.held_max {
            held.insert(row, Rc::clone(&reading));
        }
        reading
    }
}

struct Blocks {
    barcodes: Barcodes,
    makers: Vec<Vec<Entry>>,
}

/// Products grouped under one maker name.
#[derive(Debug, Default)]
struct Block {
    /// Products whose store states the maker or has the maker's name.
    stated: Vec<Entry>,
    /// Products whose title starts with the maker's name.
    begun: Vec<Entry>,
}

impl Block {
    /// Returns all products of the block by row, without duplicates.
    fn rows(self, bounds: &Bounds) -> Vec<Entry> {
        let stores = |rows: &[Entry]| -> FxHashSet<u32> { rows.iter().map(|entry| entry.store).collect() };
        let naming = stores(&self.stated);
        let others = stores(&self.begun).difference(&naming).count();
        let mut rows = self.stated;
        rows.extend(self.begun.into_iter().filter(|_| others <= bounds.title_stores_max));
        rows.sort_unstable_by_key(|entry| entry.row);
        rows.dedup();
        rows
    }
}

fn blocks(catalogue: &dyn Catalogue, bounds: &Bounds) -> Blocks {
    let mut by_name: FxHashMap<u64, Block> = FxHashMap::default();
    let mut coded: Vec<CodedProduct> = Vec::new();
    // Brands and vendors repeat from product to product.
    let mut known: FxHashMap<String, Option<[u64; 2]>> = FxHashMap::default();
    let mut first: FxHashSet<FirstLetters> = FxHashSet::default();
    let mut keys_of = |name: &str| -> Option<[u64; 2]> {
        if let Some(keys) = known.get(name) {
            return *keys;
        }
        let maker = Maker::of(name);
        first.extend(maker.iter().flat_map(Maker::first_letters));
        let keys = maker.map(|maker| [hash(&maker.full), hash(&maker.short)]);
        known.insert(name.to_owned(), keys);
        keys
    };
    for row in 0..catalogue.rows() {
        let named = catalogue.named(row);
        let entry = Entry {
            row,
            store: named.store,
        };
        let other = named.vendor.filter(|vendor| *vendor != named.brand);
        let (brand, vendor) = (keys_of(named.brand), other.and_then(&mut keys_of));
        for key in [brand, vendor].into_iter().flatten().flatten() {
            push(&mut by_name.entry(key).or_default().stated, entry);
        }
        catalogue.barcodes(row, &mut |barcode| coded.push(CodedProduct { barcode, entry }));
    }
    for row in 0..catalogue.rows() {
        let named = catalogue.named(row);
        if first_letters(named.title).is_some_and(|letters| !first.contains(&letters)) {
            continue;
        }
        let entry = Entry {
            row,
            store: named.store,
        };
        for name in beginnings(&begun(named.title)) {
            if let Some(block) = by_name.get_mut(&hash(&name)) {
                block.begun.push(entry);
            }
        }
    }
    let rows = by_name.into_values().map(|block| block.rows(bounds));
    let mut makers: Vec<Vec<Entry>> = rows.filter(|rows| are_of_many(rows)).collect();
    // The name without the line of business mostly leads to the same products.
    makers.sort_unstable();
    makers.dedup();
    Blocks {
        barcodes: Barcodes::of(coded, catalogue, bounds),
        makers,
    }
}

fn are_of_many(rows: &[Entry]) -> bool {
    rows.windows(2)
        .any(|pair| matches!(pair, [one, next] if one.store != next.store))
}

fn push(rows: &mut Vec<Entry>, entry: Entry) {
    if rows.last() != Some(&entry) {
        rows.push(entry);
    }
}

/// Returns the pairs of a maker's products that share a stock keeping unit, a rare word or all words.
fn candidates(all: &[PlacedProduct], bounds: &Bounds) -> Vec<Pair> {
    let mut places: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for (place, placed) in (0..).zip(all) {
        for key in placed.keys.all() {
            places.entry(key).or_default().push(place);
        }
    }
    let few = bounds.word_rows_max;
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    let lines: FxHashMap<u64, Line> = shared.map(|(key, places)| (key, Line::of(places, all, few))).collect();
    let rarest = |keys: &[u64]| {
        let mut rarest: Vec<&Line> = keys.iter().filter_map(|key| lines.get(key)).collect();
        rarest.sort_by_key(|line| line.len());
        rarest.truncate(bounds.words_max);
        rarest
    };
    let is_elsewhere = |own: &PlacedProduct, other: Option<&PlacedProduct>| {
        other.is_some_and(|other| other.entry.store != own.entry.store)
    };
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    for (place, placed) in (0..).zip(all) {
        let lines = [rarest(&placed.keys.skus), rarest(&placed.keys.words)].concat();
        let firsts = lines.iter().flat_map(|line| line.firsts(place));
        let others = firsts.chain(lines.iter().flat_map(|line| line.nearest(place))).copied();
        seen.clear();
        let others = others.filter(|other| is_elsewhere(placed, all.get(*other as usize)) && seen.insert(*other));
        found.extend(pairs(all, place, others.take(bounds.compared_max)));
    }
    found
}

/// Confidences with the same basis and a smaller difference are equal, because prices of one product differ too.
const EQUALLY_GOOD: f32 = 0.03;

/// Keeps the best match of each product in each store, and drops all of them if two are equally good. A barcode match
/// ranks above a stock keeping unit match, which ranks above a title match.
fn best(found: Vec<Match>, store: impl Fn(u32) -> u32) -> Vec<Match> {
    type Rank = (Basis, f32);
    let rank = |found: &Match| (found.judgement.basis, found.judgement.confidence);
    let mut all: FxHashMap<(u32, u32), Vec<Rank>> = FxHashMap::default();
    for pair in &found {
        for (row, counterpart) in [(pair.one, pair.other), (pair.other, pair.one)] {
            all.entry((row, store(counterpart))).or_default().push(rank(pair));
        }
    }
    let is_best = |row: u32, counterpart: u32, (basis, confidence): Rank| {
        let ranks = all.get(&(row, store(counterpart))).map_or(&[][..], Vec::as_slice);
        let is_as_good = |rank: &&Rank| rank.0 < basis || (rank.0 == basis && rank.1 > confidence - EQUALLY_GOOD);
        // The count includes the match itself.
        ranks.iter().filter(is_as_good).count() == 1
    };
    let is_kept = |pair: &Match| is_best(pair.one, pair.other, rank(pair)) && is_best(pair.other, pair.one, rank(pair));
    let kept: Vec<bool> = found.iter().map(is_kept).collect();
    found
        .into_iter()
        .zip(kept)
        .filter_map(|(pair, kept)| kept.then_some(pair))
        .collect()
}
