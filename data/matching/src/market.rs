use data_model::Gtin;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::item::Item;
use crate::judge::{Basis, Judgement, compare};
use crate::maker::{FirstLetters, Maker, beginnings, begun, first_letters};
use crate::reading::Reading;

/// Products of many stores, read on demand. Rows are numbered from 0.
pub trait Catalogue {
    /// How many products there are.
    fn rows(&self) -> u32;
    /// What every product is first looked at by.
    fn named(&self, row: u32) -> Named<'_>;
    /// Numbers below the bar codes of a product's variants.
    fn barcodes(&self, row: u32, found: &mut dyn FnMut(Gtin));
    /// All that is compared of a product.
    fn item(&self, row: u32) -> Item<'_>;
    /// The cosine of the vectors of two products, where they have any.
    fn similarity(&self, one: u32, other: u32) -> Option<f32>;
}

/// What every product is first looked at by.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Which store sells it.
    pub store: u32,
    /// Display name of its brand.
    pub brand: &'a str,
    /// Vendor, where stated.
    pub vendor: Option<&'a str>,
    /// Title.
    pub title: &'a str,
}

/// How much is compared with how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Products that share one number below a bar code at most; a number that more share says nothing of any.
    pub barcode_rows_max: usize,
    /// The same within one store: what stands below everything in it was copied.
    pub barcode_store_rows_max: usize,
    /// Products of one maker that a word of their titles leads to at most; words of more are left to rarer ones.
    pub word_rows_max: usize,
    /// Words of a title that lead to others: its rarest within its maker's products.
    pub words_max: usize,
    /// Products that one is compared with at most.
    pub compared_max: usize,
    /// Stores that begin titles with a maker's name and name it nowhere as the maker, at most: what more begin titles with is a word
    /// that some store has put in a maker's place (`Everyday`), and their titles say nothing of who made them.
    pub title_stores_max: usize,
    /// Products that are held as they were read, at most; of a maker of more the others are read again where they are compared.
    pub held_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            barcode_rows_max: 32,
            barcode_store_rows_max: 3,
            word_rows_max: 64,
            words_max: 3,
            compared_max: 128,
            title_stores_max: 32,
            held_max: 16_384,
        }
    }
}

/// Two products of different stores that are the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The one of the lower row.
    pub one: u32,
    /// The other.
    pub other: u32,
    /// How sure that is, what it rests on, and which variants are the same.
    pub judgement: Judgement,
}

/// Finds the same products among all, sorted by rows. Of a product's counterparts in one store only the best is kept, and none
/// where two are equally good.
///
/// The cost follows the products that share a maker or the number below a bar code with another store, each of which is compared
/// with [`Bounds::compared_max`] others at most; of all others their names alone are read. One maker's products are read at a time.
#[must_use]
pub fn matches(catalogue: &dyn Catalogue, bounds: &Bounds) -> Vec<Match> {
    let blocks = blocks(catalogue, bounds);
    let mut search = Search {
        catalogue,
        worthless: &blocks.worthless,
        held_max: bounds.held_max,
        compared: FxHashSet::default(),
        found: Vec::new(),
    };
    let shared = blocks.barcodes.iter().flat_map(|rows| all_pairs(rows)).collect();
    search.compare(shared, FxHashMap::default());
    for rows in &blocks.makers {
        search.block(rows, bounds);
    }
    search.found.sort_unstable_by_key(|found| (found.one, found.other));
    best(search.found, |row| catalogue.named(row).store)
}

/// Products as they were read, by row.
type Held = FxHashMap<u32, Rc<Reading>>;

/// What was compared so far, and found.
struct Search<'a> {
    catalogue: &'a dyn Catalogue,
    worthless: &'a FxHashSet<Gtin>,
    held_max: usize,
    /// Pairs of one block that another has too are compared once.
    compared: FxHashSet<(u32, u32)>,
    found: Vec<Match>,
}

impl Search<'_> {
    /// Compares the products of one maker, and holds what it reads of them no longer.
    fn block(&mut self, rows: &[Entry], bounds: &Bounds) {
        let mut held = Held::default();
        let keys_of = |entry: &Entry| keys(&self.read(entry.row, &mut held)).collect();
        let keys: Vec<Vec<u64>> = rows.iter().map(keys_of).collect();
        self.compare(candidates(rows, &keys, bounds), held);
    }

    fn compare(&mut self, mut pairs: Vec<(u32, u32)>, mut held: Held) {
        pairs.retain(|pair| self.compared.insert(*pair));
        pairs.sort_unstable();
        for of_one in pairs.chunk_by(|one, next| one.0 == next.0) {
            let Some((one, _)) = of_one.first().copied() else {
                continue;
            };
            let mine = self.read(one, &mut held);
            for (_, other) in of_one.iter().copied() {
                let theirs = self.read(other, &mut held);
                // Vectors are read for pairs alone that words do not rule out.
                if compare(&mine, &theirs, None).is_ok()
                    && let Ok(judgement) = compare(&mine, &theirs, self.catalogue.similarity(one, other))
                {
                    self.found.push(Match { one, other, judgement });
                }
            }
        }
    }

    fn read(&self, row: u32, held: &mut Held) -> Rc<Reading> {
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

/// A product in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    store: u32,
    row: u32,
}

/// Products that may be the same, as they are put together by barcode and by maker.
struct Blocks {
    barcodes: Vec<Vec<Entry>>,
    /// Barcodes that too many products share.
    worthless: FxHashSet<Gtin>,
    makers: Vec<Vec<Entry>>,
}

/// The products that one name of a maker leads to.
#[derive(Debug, Default)]
struct Block {
    /// Their stores name it as the maker, or are called so.
    stated: Vec<Entry>,
    /// Their titles begin with it.
    begun: Vec<Entry>,
}

impl Block {
    /// All of them, each once, by row.
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

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

fn blocks(catalogue: &dyn Catalogue, bounds: &Bounds) -> Blocks {
    let mut by_name: FxHashMap<u64, Block> = FxHashMap::default();
    let mut stated: Vec<(Gtin, Entry)> = Vec::new();
    // A store's brand and vendors repeat from product to product.
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
        catalogue.barcodes(row, &mut |barcode| stated.push((barcode, entry)));
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
    let mut makers: Vec<Vec<Entry>> = rows.filter(|rows| of_many(rows.iter())).collect();
    // A name without what its maker does leads mostly to the same products.
    makers.sort_unstable();
    makers.dedup();
    let (barcodes, worthless) = by_barcode(stated, bounds);
    Blocks {
        barcodes,
        worthless,
        makers,
    }
}

/// The products of several stores that share a barcode, and the barcodes that say nothing, since too many products share them.
fn by_barcode(mut stated: Vec<(Gtin, Entry)>, bounds: &Bounds) -> (Vec<Vec<Entry>>, FxHashSet<Gtin>) {
    stated.sort_unstable();
    stated.dedup();
    let (mut barcodes, mut worthless) = (Vec::new(), FxHashSet::default());
    for shared in stated.chunk_by(|one, next| one.0 == next.0) {
        let mut of_stores = shared.chunk_by(|one, next| one.1.store == next.1.store);
        if shared.len() > bounds.barcode_rows_max || of_stores.any(|rows| rows.len() > bounds.barcode_store_rows_max) {
            worthless.extend(shared.first().map(|(barcode, _)| *barcode));
        } else if of_many(shared.iter().map(|(_, entry)| entry)) {
            barcodes.push(shared.iter().map(|(_, entry)| *entry).collect());
        }
    }
    (barcodes, worthless)
}

fn of_many<'a>(mut rows: impl Iterator<Item = &'a Entry>) -> bool {
    let first = rows.next().map(|entry| entry.store);
    rows.any(|entry| Some(entry.store) != first)
}

fn push(rows: &mut Vec<Entry>, entry: Entry) {
    if rows.last() != Some(&entry) {
        rows.push(entry);
    }
}

fn all_pairs(rows: &[Entry]) -> Vec<(u32, u32)> {
    let pairs = rows
        .iter()
        .enumerate()
        .flat_map(|(at, one)| rows.iter().skip(at + 1).map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| one.store != other.store)
        .map(|(one, other)| (one.row.min(other.row), one.row.max(other.row)))
        .collect()
}

/// The pairs of a maker's products that share one of their rare words, or all of them, or a stock keeping unit.
fn candidates(rows: &[Entry], keys: &[Vec<u64>], bounds: &Bounds) -> Vec<(u32, u32)> {
    let mut postings: FxHashMap<u64, Vec<Entry>> = FxHashMap::default();
    for (entry, keys) in rows.iter().zip(keys) {
        for key in keys {
            push(postings.entry(*key).or_default(), *entry);
        }
    }
    let mut pairs = Vec::new();
    for (entry, keys) in rows.iter().zip(keys) {
        let mut lists: Vec<&Vec<Entry>> = keys.iter().filter_map(|key| postings.get(key)).collect();
        lists.retain(|list| (2..=bounds.word_rows_max).contains(&list.len()));
        lists.sort_by_key(|list| list.len());
        let others = lists.into_iter().take(bounds.words_max).flatten();
        let others = others.filter(|other| other.row > entry.row && other.store != entry.store);
        pairs.extend(others.take(bounds.compared_max).map(|other| (entry.row, other.row)));
    }
    pairs
}

/// What leads from a product to others of its maker.
fn keys(reading: &Reading) -> impl Iterator<Item = u64> {
    let words = reading.words.iter();
    let words = words.filter(|word| !word.is_link() && !reading.names.contains(&word.sound));
    let single = words.clone().map(|word| hash((0_u8, &word.sound)));
    // Where every word is common, all of them together are not.
    let mut sounds: Vec<&str> = words.map(|word| word.sound.as_str()).collect();
    sounds.sort_unstable();
    let skus = reading.variants.iter().filter_map(|variant| variant.sku.as_deref());
    let barcodes = skus.map(|sku| hash((2_u8, sku)));
    single.chain(std::iter::once(hash((1_u8, sounds)))).chain(barcodes)
}

/// Of one basis, confidences that differ less say that both are equally good: prices of one product differ too.
const EQUALLY_GOOD: f32 = 0.03;

/// Of a product's counterparts in one store the best; none where two are equally good. A bar code is better than a stock keeping
/// unit, and that than a title.
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
        // It is among them itself.
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
