use data_model::{Brand, Product};
use rustc_hash::FxHashMap;

use super::file::{ENTRY_BYTES, HEADER_BYTES, MAGIC};
use super::head::{TitleWord, head};
use super::list::{self, Posting};
use super::{PostingPayload, stable_hash, word_hash};
use crate::taxonomy;
use crate::varint;
use data_text::{indexed_words, letters_of, stem};

/// Maximum number of indexed bytes of a description. Its first lines describe the product, and later lines describe
/// care and shipping.
const DESCRIPTION_BYTES_MAX: usize = 8 << 10;
const VALUES_MAX: usize = 256;

/// Returns the part of a description that is indexed.
#[must_use]
pub fn indexed_start(description: &str) -> &str {
    description
        .get(..description.floor_char_boundary(DESCRIPTION_BYTES_MAX))
        .unwrap_or_default()
}

/// Field and position of a word in a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Title,
    /// The word of the title that names the kind of product.
    Head,
    /// The word right before the head of the title.
    BesideHead,
    Description,
    Other(u16),
}

/// Postings of one term so far: row differences and payloads.
#[derive(Debug, Default)]
struct Pending {
    count: u32,
    last: u32,
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct TermsWriter {
    /// Maps a word as written to its term.
    of_word: FxHashMap<Box<str>, Word>,
    of_stem: FxHashMap<Box<str>, u32>,
    stems: Vec<Box<str>>,
    lists: Vec<Pending>,
    titles: Vec<(u32, u32)>,
    words: Vec<u16>,
    rows: u32,
    memory: usize,
    found: Vec<(u32, Place, u16)>,
}

/// Term, form code and hash of a word as written.
#[derive(Debug, Clone, Copy)]
struct Word {
    term: u32,
    form: u16,
    hash: u16,
}

impl TermsWriter {
    pub(crate) const fn memory(&self) -> usize {
        self.memory
    }

    pub(crate) fn push(&mut self, product: &Product, brand: &Brand) {
        self.found.clear();
        let title_words = self.title(&product.title);
        let description_words = self.field(indexed_start(&product.description), Place::Description);
        let (of_brand, of_category, of_option) = (
            Place::Other(PostingPayload::BRAND.0),
            Place::Other(PostingPayload::CATEGORY.0),
            Place::Other(PostingPayload::OPTION.0),
        );
        self.field(&brand.name, of_brand);
        if let Some(vendor) = &product.vendor {
            self.field(vendor, of_brand);
        }
        if let Some(category) = product.category.and_then(taxonomy::by_id) {
            self.field(category.path, of_category);
        }
        if let Some(product_type) = &product.product_type {
            self.field(product_type, of_category);
        }
        let options = product.options.iter().flat_map(|option| &option.values);
        // Attributes that were extracted from the title add nothing to the title.
        let title = product.title.to_lowercase();
        let attributes = product.attributes.iter().flat_map(|attribute| &attribute.values);
        let attributes = attributes.filter(|value| !title.contains(&value.to_lowercase()));
        for value in options.chain(attributes).take(VALUES_MAX) {
            self.field(value, of_option);
        }
        for tag in product.tags.iter().take(VALUES_MAX) {
            self.field(tag, of_option);
        }
        self.post(title_words, description_words);
        let hash = stable_hash(letters_of(&product.title).as_bytes());
        let words_end = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.titles.push((hash, words_end));
        self.memory += 8 + 2 * title_words;
        self.rows += 1;
    }

    /// Returns the number of words.
    fn title(&mut self, title: &str) -> usize {
        let tokens = indexed_words(title);
        let main: Vec<_> = tokens
            .iter()
            .filter(|token| token.is_main)
            .map(|token| TitleWord {
                text: &token.text,
                at: token.offsets.clone(),
            })
            .collect();
        let (named, words) = (head(title, &main), main.len());
        for token in &tokens {
            let word = self.word(&token.text);
            let place = match named {
                Some(at) if token.position == at => Place::Head,
                Some(at) if token.position + 1 == at => Place::BesideHead,
                _ => Place::Title,
            };
            self.found.push((word.term, place, word.form));
            if token.is_main {
                self.words.push(word.hash);
            }
        }
        words
    }

    /// Returns the number of words.
    fn field(&mut self, text: &str, place: Place) -> usize {
        if text.is_empty() {
            return 0;
        }
        let mut words = 0;
        for token in indexed_words(text) {
            let word = self.word(&token.text);
            self.found.push((word.term, place, 0));
            words += usize::from(token.is_main);
        }
        words
    }

    fn word(&mut self, text: &str) -> Word {
        if let Some(word) = self.of_word.get(text) {
            return *word;
        }
        let stem = stem(text);
        let hash = word_hash(&stem);
        let term = match self.of_stem.get(&*stem) {
            Some(term) => *term,
            None => {
                let term = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
                self.stems.push(stem.as_str().into());
                self.lists.push(Pending::default());
                self.of_stem.insert(stem.as_str().into(), term);
                self.memory += 2 * stem.len() + 128;
                term
            }
        };
        self.memory += text.len() + 64;
        let form = PostingPayload::form(text).0;
        let word = Word { term, form, hash };
        self.of_word.insert(text.into(), word);
        word
    }

    /// Writes one posting per term of the product.
    fn post(&mut self, title_words: usize, description_words: usize) {
        self.found.sort_unstable();
        for group in self.found.chunk_by(|one, other| one.0 == other.0) {
            let (mut held, mut in_title, mut in_description, mut form) = (PostingPayload::default(), 0, 0, 0);
            for (_, place, of_word) in group {
                match place {
                    Place::Title => in_title += 1,
                    Place::Head => {
                        in_title += 1;
                        held = held.max(PostingPayload::head(2));
                    }
                    Place::BesideHead => {
                        in_title += 1;
                        held = held.max(PostingPayload::head(1));
                    }
                    Place::Description => in_description += 1,
                    Place::Other(part) => held = held.max(PostingPayload(*part)),
                }
                // If a title has several forms of the word, only one is stored.
                form = form.max(*of_word);
            }
            if in_title > 0 {
                held = held.and(PostingPayload::title(in_title, title_words));
            }
            if in_description > 0 {
                held = held.and(PostingPayload::description(in_description, description_words));
            }
            let Some(list) = group.first().and_then(|found| self.lists.get_mut(found.0 as usize)) else {
                continue;
            };
            let before = list.bytes.capacity();
            list.push(self.rows, PostingPayload(held.0 | form));
            self.memory += list.bytes.capacity() - before;
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let slots = (2 * self.stems.len() + 1).next_power_of_two();
        let texts: usize = self.stems.iter().map(|stem| stem.len()).sum();
        let mut out = Vec::with_capacity(HEADER_BYTES + 4 * slots + (ENTRY_BYTES + 64) * self.stems.len() + texts);
        out.extend_from_slice(MAGIC);
        for number in [self.rows as usize, self.stems.len(), slots, texts, self.words.len()] {
            out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.resize(HEADER_BYTES, 0);
        for slot in table(&self.stems, slots) {
            out.extend_from_slice(&slot.to_le_bytes());
        }
        let (mut entries, mut lists, mut postings, mut end) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (stem, pending) in self.stems.iter().zip(&self.lists) {
            end += u32::try_from(stem.len()).unwrap_or(0);
            entries.extend_from_slice(&end.to_le_bytes());
            entries.extend_from_slice(&pending.count.to_le_bytes());
            entries.extend_from_slice(&(lists.len() as u64).to_le_bytes());
            pending.read(&mut postings);
            list::write(&postings, &mut lists);
        }
        out.append(&mut entries);
        self.stems
            .iter()
            .for_each(|stem| out.extend_from_slice(stem.as_bytes()));
        for (hash, words_end) in &self.titles {
            out.extend_from_slice(&hash.to_le_bytes());
            out.extend_from_slice(&words_end.to_le_bytes());
        }
        self.words
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.append(&mut lists);
        out
    }
}

/// Builds the hash table with linear probing. Terms keep their insertion order.
fn table(stems: &[Box<str>], slots: usize) -> Vec<u32> {
    let mut table = vec![0_u32; slots];
    for (term, stem) in (1..).zip(stems) {
        let mut slot = stable_hash(stem.as_bytes()) as usize & (slots - 1);
        while table[slot] != 0 {
            slot = (slot + 1) & (slots - 1);
        }
        table[slot] = term;
    }
    table
}

impl Pending {
    fn push(&mut self, row: u32, held: PostingPayload) {
        varint::write(row - self.last, &mut self.bytes);
        self.bytes.extend_from_slice(&held.0.to_le_bytes());
        (self.last, self.count) = (row, self.count + 1);
    }

    fn read(&self, out: &mut Vec<Posting>) {
        out.clear();
        let (mut bytes, mut row) = (self.bytes.iter().copied(), 0);
        while let Some(difference) = varint::read(&mut bytes) {
            row += difference;
            let held = [bytes.next().unwrap_or(0), bytes.next().unwrap_or(0)];
            let payload = PostingPayload(u16::from_le_bytes(held));
            out.push(Posting { row, payload });
        }
    }
}
