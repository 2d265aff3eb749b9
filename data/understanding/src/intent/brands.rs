use std::ops::Range;

use super::words::{Words, plain};
use crate::tokenizer;
use crate::tokens::Token;

/// Most words of a brand's name that are looked at.
pub(crate) const NAME_WORDS_MAX: usize = 5;

/// A brand that a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedBrand {
    /// Its place in the list of whoever knows brands.
    pub at: usize,
    /// True where the name says other things as often: it names the brand only behind `from`, `by` or before `brand`.
    pub is_plain: bool,
}

/// The names of brands.
pub trait BrandNames {
    /// The brand of this name, in one of the ways that [`brand_keys`] spells it.
    fn named(&self, key: &str) -> Option<NamedBrand>;
}

/// No brand is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBrands;

impl BrandNames for NoBrands {
    fn named(&self, _key: &str) -> Option<NamedBrand> {
        None
    }
}

/// The spellings of a brand's name in sentences, in small letters: word by word, and all letters in one.
#[must_use]
pub fn brand_keys(name: &str) -> Vec<String> {
    let words: Vec<String> = tokenizer::cut(name)
        .into_iter()
        .map(|token| plain(&token.word))
        .collect();
    let letters: String = name
        .to_lowercase()
        .chars()
        .filter(|char| char.is_alphanumeric())
        .collect();
    let mut keys = vec![words.join(" "), letters];
    keys.retain(|key| key.chars().filter(|char| char.is_alphanumeric()).count() > 1);
    keys.dedup();
    keys
}

/// A brand's name in a sentence.
#[derive(Debug)]
pub(super) struct BrandMention {
    pub(super) at: usize,
    /// Its tokens.
    pub(super) name: Range<usize>,
    /// Its tokens, and those that say that it is a brand.
    pub(super) with_cues: Range<usize>,
    /// Its words.
    pub(super) words: String,
    is_said: bool,
}

/// Every brand that a sentence names; of names that begin at a word the longest counts.
pub(super) fn read(words: &Words, names: &dyn BrandNames) -> Vec<BrandMention> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((range, key, brand)) = longest(words, at, names) else {
            at += 1;
            continue;
        };
        at = range.end;
        let (before, behind) = (["from", "by", "brand"], ["brand", "brands"]);
        let from = range.start - usize::from(words.is_before(range.start, 1, &before));
        let end = range.end + usize::from(words.is(range.end, &behind));
        let is_said = from < range.start || end > range.end;
        if is_said || !brand.is_plain {
            found.push(BrandMention {
                at: brand.at,
                name: range,
                with_cues: from..end,
                words: key,
                is_said,
            });
        }
    }
    found
}

/// The brand that is meant of those that are named: one that is said to be a brand goes ahead of others.
pub(super) fn meant(named: Vec<BrandMention>) -> Option<BrandMention> {
    let said = named.iter().position(|named| named.is_said).unwrap_or(0);
    named.into_iter().nth(said)
}

fn longest(words: &Words, at: usize, names: &dyn BrandNames) -> Option<(Range<usize>, String, NamedBrand)> {
    let free = (at..words.len()).take(NAME_WORDS_MAX).map_while(|at| words.at(at));
    let free: Vec<&str> = free.collect();
    (1..=free.len()).rev().find_map(|count| {
        let key = free.get(..count)?.join(" ");
        let brand = names.named(&key)?;
        Some((at..at + count, key, brand))
    })
}

/// The brand whose name stands at the beginning of these tokens, and how many words the name has; of several the longest.
pub(crate) fn spoken(tokens: &[Token], names: &dyn BrandNames) -> Option<(usize, NamedBrand)> {
    let free = tokens.iter().take(NAME_WORDS_MAX).take_while(|token| token.is_free());
    let words: Vec<String> = free.map(|token| plain(&token.word)).collect();
    (1..=words.len()).rev().find_map(|count| {
        let brand = names.named(&words.get(..count)?.join(" "))?;
        Some((count, brand))
    })
}
