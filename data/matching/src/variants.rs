use data_model::Gtin;
use rustc_hash::FxHashSet;

use crate::quantity::Quantity;
use crate::reading::{Reading, VariantReading};

/// Indices of a variant in each of two products.
pub(crate) type Places = (usize, usize);

/// Returns a barcode that both products have, and the first variants with it. Returns no variants if all variants of a
/// product have the same barcode.
pub(crate) fn by_barcode(one: &Reading, other: &Reading) -> Option<(Option<Places>, Gtin)> {
    let shared = one.variants.iter().enumerate().filter_map(|(at, variant)| {
        let barcode = variant.barcode?;
        let theirs = other.variants.iter().position(|other| other.barcode == Some(barcode))?;
        let is_of_one = |reading: &Reading| {
            let mut named = reading
                .variants
                .iter()
                .filter(|variant| variant.barcode == Some(barcode));
            named.next().is_some() && named.next().is_none()
        };
        Some(((is_of_one(one) && is_of_one(other)).then_some((at, theirs)), barcode))
    });
    // Barcodes that distinguish variants come first.
    shared.min_by_key(|(places, _)| places.is_none())
}

pub(crate) fn by_model<'a>(one: &'a Reading, other: &Reading) -> Option<(Places, &'a str)> {
    one.variants.iter().enumerate().find_map(|(at, variant)| {
        let sku = variant.sku.as_deref()?;
        let theirs = other
            .variants
            .iter()
            .position(|other| other.sku.as_deref() == Some(sku))?;
        Some(((at, theirs), sku))
    })
}

/// Words of each title that the other title lacks, by sound. Options of the other product may contain them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs<'a> {
    pub(crate) one: &'a [&'a str],
    pub(crate) other: &'a [&'a str],
}

/// Returns `true` if each product has at least one variant with all the words that its options must contain. A kurta in
/// red or blue, for example, has no variant that is both.
pub(crate) fn are_offered(one: &Reading, other: &Reading, needs: Needs<'_>) -> bool {
    let all: Vec<&str> = needs.one.iter().chain(needs.other).copied().collect();
    [one, other].into_iter().all(|reading| {
        let wanted = offered(reading, &all);
        let has_all = |variant: &VariantReading| wanted.iter().all(|word| variant.words.contains(*word));
        wanted.is_empty() || reading.variants.iter().any(has_all)
    })
}

pub(crate) fn share_pack(one: &Reading, other: &Reading) -> bool {
    one.variants.is_empty()
        || other.variants.is_empty()
        || one.variants.iter().any(|mine| {
            other
                .variants
                .iter()
                .any(|theirs| pack(mine, one) == pack(theirs, other))
        })
}

fn pack(variant: &VariantReading, of: &Reading) -> u32 {
    variant.pack.unwrap_or(of.pack)
}

/// Returns the first variants of both products that agree.
pub(crate) fn alike(one: &Reading, other: &Reading, needs: Needs<'_>) -> Option<Places> {
    let of_one = Side::of(one, offered(one, needs.other));
    let of_other = Side::of(other, offered(other, needs.one));
    let fits = |mine: &VariantReading, theirs: &VariantReading| {
        of_one.needs.iter().all(|word| mine.words.contains(*word))
            && of_other.needs.iter().all(|word| theirs.words.contains(*word))
            && pack(mine, one) == pack(theirs, other)
            && of_other.says(mine, theirs)
            && of_one.says(theirs, mine)
    };
    if let ([mine], [theirs]) = (one.variants.as_slice(), other.variants.as_slice()) {
        // A product without variants matches the only variant of the other product.
        let is_only = mine.is_unsaid() || theirs.is_unsaid();
        return (is_only || fits(mine, theirs)).then_some((0, 0));
    }
    one.variants.iter().enumerate().find_map(|(at, mine)| {
        let theirs = other.variants.iter().position(|theirs| fits(mine, theirs))?;
        Some((at, theirs))
    })
}

struct Side<'a> {
    reading: &'a Reading,
    title: FxHashSet<&'a str>,
    /// Words that at least one variant has.
    offered: FxHashSet<&'a str>,
    /// Words that a matching variant must have.
    needs: Vec<&'a str>,
}

impl<'a> Side<'a> {
    fn of(reading: &'a Reading, needs: Vec<&'a str>) -> Self {
        let offered = reading.variants.iter().flat_map(|variant| &variant.words);
        Self {
            title: reading.words.iter().map(|word| word.sound.as_str()).collect(),
            offered: offered.map(String::as_str).collect(),
            reading,
            needs,
        }
    }

    /// Returns `true` if the `own` variant's words or this product's title contain all words of the other product's
    /// variant. Title words that distinguish this product's variants do not count for every variant.
    fn says(&self, variant: &VariantReading, own: &VariantReading) -> bool {
        let word = |word: &String| {
            own.words.contains(word) || (self.title.contains(word.as_str()) && !self.offered.contains(word.as_str()))
        };
        let quantity = |wanted: &Quantity| {
            let said = own.quantities.iter().chain(&self.reading.quantities);
            said.into_iter().any(|said| said.is_same(*wanted))
        };
        variant.words.iter().all(word) && variant.quantities.iter().all(quantity)
    }
}

/// Returns the words that at least one variant has. All other words apply to the product as a whole.
fn offered<'a>(reading: &Reading, words: &[&'a str]) -> Vec<&'a str> {
    let by_any = |word: &&str| reading.variants.iter().any(|variant| variant.words.contains(*word));
    words.iter().copied().filter(by_any).collect()
}
