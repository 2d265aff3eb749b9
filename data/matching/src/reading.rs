use data_model::Gtin;
use rustc_hash::FxHashSet;

use crate::audience::AudienceSet;
use crate::ends::{Ends, ends};
use crate::item::Item;
use crate::maker::{Maker, beginnings};
use crate::pieces::{Piece, pieces};
use crate::quantity::{self, Measure, Quantity};
use crate::words::Word;

/// Maximum number of variants of a product that are compared.
const VARIANTS_MAX: usize = 40;
/// Maximum number of attribute values of a product that are read.
const VALUES_MAX: usize = 80;
/// Maximum number of words after `for` that name a purpose.
const PURPOSE_WORDS: usize = 6;

/// Attributes in which products with equal titles may differ, by the names that stores give them.
const TRAITS: &[(&str, Trait)] = &[
    ("color", Trait::Colour),
    ("colour", Trait::Colour),
    ("shade", Trait::Colour),
    ("design", Trait::Style),
    ("finish", Trait::Style),
    ("fit", Trait::Style),
    ("flavor", Trait::Flavour),
    ("flavour", Trait::Flavour),
    ("fragrance", Trait::Flavour),
    ("scent", Trait::Flavour),
    ("fabric", Trait::Material),
    ("material", Trait::Material),
    ("gender", Trait::Gender),
    ("model", Trait::Model),
    ("pattern", Trait::Style),
    ("print", Trait::Style),
    ("shoe size", Trait::Size),
    ("size", Trait::Size),
    ("style", Trait::Style),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    Colour,
    Flavour,
    Material,
    Gender,
    Model,
    Size,
    Style,
}

impl Trait {
    /// Returns `true` if all words of a value matter. Light blue is not dark blue, for example, but pure cotton may be
    /// cotton.
    pub(crate) const fn is_whole(self) -> bool {
        matches!(self, Self::Colour | Self::Flavour | Self::Model)
    }
}

/// Parsed form of a product, ready for many comparisons.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) makers: Vec<Maker>,
    /// `true` if the store names itself or nobody as the maker.
    pub(crate) names_itself: bool,
    /// Start of the title, as possible maker names.
    pub(crate) beginnings: Vec<String>,
    /// Words of the title, without duplicates.
    pub(crate) words: Vec<Word>,
    /// Words of the makers' names, by sound.
    pub(crate) names: FxHashSet<String>,
    /// Audience in the title, type and attributes.
    pub(crate) whom: AudienceSet,
    pub(crate) ends: Option<Ends>,
    pub(crate) quantities: Vec<Quantity>,
    /// A possible count, if the title states none for certain.
    pub(crate) counted: Option<Quantity>,
    pub(crate) pack: u32,
    /// Words of the attributes and options, by sound.
    pub(crate) context: FxHashSet<String>,
    /// Words of the product type, by sound. Empty if the type lists several kinds.
    pub(crate) kinds: FxHashSet<String>,
    /// Quantities in the attributes and options.
    pub(crate) context_quantities: Vec<Quantity>,
    pub(crate) traits: Vec<(Trait, Vec<FxHashSet<String>>)>,
    pub(crate) currency: String,
    pub(crate) variants: Vec<VariantReading>,
    /// Lowest price in minor units. `None` if the product has no price.
    pub(crate) price_minor: Option<i64>,
}

#[derive(Debug)]
pub(crate) struct VariantReading {
    pub(crate) id: u64,
    /// Words of the variant's options, by sound.
    pub(crate) words: FxHashSet<String>,
    pub(crate) quantities: Vec<Quantity>,
    /// Number of items per pack, if the variant's options state it.
    pub(crate) pack: Option<u32>,
    pub(crate) sku: Option<String>,
    pub(crate) barcode: Option<Gtin>,
    pub(crate) price_minor: Option<i64>,
}

impl Reading {
    pub(crate) fn of(item: &Item<'_>) -> Self {
        let title = pieces(item.title);
        let read = quantity::read(&title);
        let (brand, vendor) = (Maker::of(item.brand), item.vendor.and_then(Maker::of));
        let names_itself = match (&brand, &vendor) {
            (Some(brand), Some(vendor)) => brand.is_same(vendor),
            (_, vendor) => vendor.is_none(),
        };
        let makers: Vec<Maker> = vendor.into_iter().chain(brand).collect();
        let names: FxHashSet<String> = makers.iter().flat_map(Maker::names).cloned().collect();
        let mut around = ContextTexts::default();
        let mut kind = ContextTexts::default();
        kind.add(item.product_type.unwrap_or_default(), None);
        around.quantities.append(&mut kind.quantities);
        let values = item
            .attributes
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| (*name, *value)));
        for (name, value) in values.take(VALUES_MAX) {
            around.add(value, kind_of(name));
        }
        let variants: Vec<VariantReading> = item
            .variants
            .iter()
            .take(VARIANTS_MAX)
            .map(VariantReading::of)
            .collect();
        for variant in &variants {
            around.words.extend(variant.words.iter().cloned());
            around.quantities.extend(variant.quantities.iter().copied());
        }
        let words = words(&title, &read);
        let said = words.iter().map(|word| &word.sound);
        let whom = AudienceSet::of(said.chain(&around.words).chain(&kind.words));
        if item.product_type.is_some_and(is_list) {
            kind.words.clear();
        }
        Self {
            beginnings: beginnings(&title),
            ends: ends(&title),
            words,
            whom,
            kinds: kind.words,
            quantities: read.quantities,
            counted: read.counted.map(|counted| counted.quantity),
            pack: read.pack,
            context: around.words,
            context_quantities: around.quantities,
            traits: around.traits,
            currency: item.currency.to_owned(),
            price_minor: variants.iter().filter_map(|variant| variant.price_minor).min(),
            variants,
            makers,
            names_itself,
            names,
        }
    }

    pub(crate) fn has(&self, sound: &str) -> bool {
        self.words.iter().any(|word| word.sound == sound)
    }

    /// Returns `true` if this product's possible count equals the count of the other product.
    pub(crate) fn counts_as(&self, other: &Self) -> bool {
        let mut said = other.quantities.iter().filter(|said| said.measure == Measure::Count);
        self.counted
            .is_some_and(|counted| said.next().is_some_and(|said| said.is_same(counted)) && said.next().is_none())
    }

    /// Returns `true` if the product types differ and the titles do not mention them.
    pub(crate) fn is_of_other_kind(&self, other: &Self) -> bool {
        let is_said = |kind: &String| self.has(kind) && other.has(kind);
        !self.kinds.is_empty()
            && !other.kinds.is_empty()
            && self.kinds.is_disjoint(&other.kinds)
            && !self.kinds.iter().chain(&other.kinds).any(is_said)
    }

    /// Removes barcodes that identify no product.
    pub(crate) fn without(mut self, worthless: &FxHashSet<Gtin>) -> Self {
        for variant in &mut self.variants {
            variant.barcode = variant.barcode.filter(|barcode| !worthless.contains(barcode));
        }
        self
    }
}

#[derive(Default)]
struct ContextTexts {
    words: FxHashSet<String>,
    quantities: Vec<Quantity>,
    pack: Option<u32>,
    traits: Vec<(Trait, Vec<FxHashSet<String>>)>,
}

impl ContextTexts {
    fn add(&mut self, text: &str, kind: Option<Trait>) {
        let pieces = pieces(text);
        let read = quantity::read(&pieces);
        let words = words(&pieces, &read);
        let sounds = words.into_iter().map(|word| word.sound);
        self.quantities.extend(read.quantities);
        // An explicit pack of one is a stated pack size.
        let says_pack = read.pack > 1 || pieces.iter().any(|piece| piece.text == "pack");
        self.pack = says_pack.then_some(read.pack).or(self.pack);
        let Some(kind) = kind else {
            self.words.extend(sounds);
            return;
        };
        let value: FxHashSet<String> = sounds.collect();
        self.words.extend(value.iter().cloned());
        if value.is_empty() {
            return;
        }
        match self.traits.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, values)) => values.push(value),
            None => self.traits.push((kind, vec![value])),
        }
    }
}

impl VariantReading {
    /// Returns `true` if the variant has no meaningful options. Stores name the only variant of a product `Default
    /// Title`.
    pub(crate) fn is_unsaid(&self) -> bool {
        let is_said = |word: &String| word != "default" && word != "title";
        self.quantities.is_empty() && self.pack.is_none() && !self.words.iter().any(is_said)
    }

    fn of(variant: &crate::ItemVariant<'_>) -> Self {
        let mut around = ContextTexts::default();
        for value in &variant.options {
            around.add(value, None);
        }
        Self {
            id: variant.id,
            words: around.words,
            quantities: around.quantities,
            pack: around.pack,
            sku: variant.sku.and_then(model),
            barcode: variant.barcode,
            price_minor: Some(variant.price_minor).filter(|price| *price > 0),
        }
    }
}

fn kind_of(attribute: &str) -> Option<Trait> {
    let name = attribute.to_lowercase();
    let name = name.trim();
    TRAITS
        .iter()
        .find(|(known, _)| name == *known || name.strip_suffix('s') == Some(known))
        .map(|(_, kind)| *kind)
}

/// Returns the words of a title by sound, without amounts and words that usually carry no meaning.
pub(crate) fn title_sounds(title: &str) -> Vec<String> {
    let pieces = pieces(title);
    let read = quantity::read(&pieces);
    let words = words(&pieces, &read).into_iter();
    words.filter(|word| !word.is_link()).map(|word| word.sound).collect()
}

/// Returns the words of a text that are not part of a quantity, without duplicates.
fn words(pieces: &[Piece], read: &quantity::TextQuantities) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::with_capacity(pieces.len());
    let mut purpose = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| pieces.get(before));
        if piece.text == "for" {
            purpose = PURPOSE_WORDS + 1;
        }
        purpose = usize::saturating_sub(purpose, 1);
        if read.taken.get(at) == Some(&true) {
            continue;
        }
        // `t-shirt` is one word.
        if piece.text == "shirt" && before.is_some_and(|before| before.text == "t") {
            words.retain(|word| word.stem != "t");
            words.extend(Word::of("tshirt", purpose > 0));
            continue;
        }
        // Every pair of wireless earphones is `true wireless`.
        if piece.text == "true" && pieces.get(at + 1).is_some_and(|next| next.text == "wireless") {
            continue;
        }
        let names = |known: &[&str]| before.is_some_and(|before| known.contains(&before.text.as_str()));
        let is_single = piece.number.is_none() && piece.text.len() == 1;
        let word = if is_single && names_letter(pieces, at) {
            Some(Word::letter(&piece.text))
        } else {
            Word::of(&canonical(piece), purpose > 0)
        };
        // A code is a number after letters, or a few letters after a number.
        let is_code = |before: &&Piece| {
            let is_other = piece.number.is_some() != before.number.is_some();
            piece.is_glued && is_other && (piece.number.is_some() || piece.text.len() <= 2)
        };
        let code = before.filter(is_code);
        let word = word.map(|word| Word {
            code: code.map(|before| before.text.clone()),
            is_counted: read
                .counted
                .is_some_and(|counted| [counted.number, counted.unit].contains(&at)),
            ..word
        });
        // A cable has two plugs.
        let is_plug = is_single && names(&["type", "usb"]);
        words.extend(
            word.filter(|word| is_plug || !words.iter().any(|known| known.stem == word.stem && known.is_same(word))),
        );
    }
    words
}

/// Returns `true` if a letter is a name and not an abbreviation, as in `Vitamin A`, `USB-A`, `A2` or `Plan B`.
fn names_letter(pieces: &[Piece], at: usize) -> bool {
    const LETTERED: &[&str] = &[
        "class",
        "grade",
        "group",
        "hepatitis",
        "model",
        "part",
        "plan",
        "plug",
        "series",
        "size",
        "type",
        "usb",
        "vitamin",
    ];
    let (Some(piece), before, next) = (
        pieces.get(at),
        at.checked_sub(1).and_then(|before| pieces.get(before)),
        pieces.get(at + 1),
    ) else {
        return false;
    };
    if !Word::may_be_letter(&piece.text) {
        return false;
    }
    let is_joined = |piece: &Piece| piece.is_glued || piece.is_hyphened;
    is_joined(piece)
        || before.is_some_and(|before| LETTERED.contains(&before.text.as_str()))
        || next.is_none_or(|next| is_joined(next) || next.number.is_some())
}

/// Returns `true` if a product type lists several kinds of products. The kind of the product is then unknown.
fn is_list(kind: &str) -> bool {
    let has_word = |wanted: &str| kind.split_whitespace().any(|word| word.eq_ignore_ascii_case(wanted));
    kind.contains(['&', '/', ',', '+', '|', ';']) || has_word("and") || has_word("or")
}

/// Normalises numbers: `07` becomes `7` and `2.50` becomes `2.5`. `2.0` stays, because it is a version.
fn canonical(piece: &Piece) -> String {
    match piece.number {
        Some(number) if piece.text.contains('.') => format!("{number:?}"),
        Some(number) => number.to_string(),
        None => piece.text.clone(),
    }
}

/// Returns the normalised stock keeping unit if the maker may have assigned it: at least six characters, with letters
/// and digits.
fn model(sku: &str) -> Option<String> {
    if sku.len() > 40 {
        return None;
    }
    let key: String = sku
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_lowercase())
        .collect();
    let has = |test: fn(&char) -> bool| key.chars().any(|char| test(&char));
    (key.len() >= 6 && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)).then_some(key)
}
