use std::ops::Range;

use super::words::{Words, plain};
use crate::tokenizer;
use crate::tokens::Token;

/// Longer brand names are not compared.
pub(crate) const NAME_WORDS_MAX: usize = 5;

/// Brand with a given name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedBrand {
    /// Index in the caller's list.
    pub at: usize,
    /// True if the brand name is ambiguous. It then refers to the brand only after `from` or `by`, or before `brand`.
    pub is_plain: bool,
}

/// Lookup of brands by name.
pub trait BrandNames {
    /// Returns the brand with this name, which is spelled as [`brand_keys`] does.
    fn named(&self, key: &str) -> Option<NamedBrand>;
}

/// Empty list of brand names.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBrands;

impl BrandNames for NoBrands {
    fn named(&self, _key: &str) -> Option<NamedBrand> {
        None
    }
}

/// Returns the lowercase spellings of a brand name in sentences: word by word, and without spaces.
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

#[derive(Debug)]
pub(super) struct BrandMention {
    pub(super) at: usize,
    pub(super) name: Range<usize>,
    /// Tokens of the name and of the words that mark it as a brand.
    pub(super) with_cues: Range<usize>,
    pub(super) words: String,
    is_said: bool,
}

/// If several names begin at a word, the longest counts.
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

/// A name that is marked as a brand has precedence.
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

/// Returns the number of words and the brand of the longest brand name at the start of the tokens.
pub(crate) fn spoken(tokens: &[Token], names: &dyn BrandNames) -> Option<(usize, NamedBrand)> {
    let free = tokens.iter().take(NAME_WORDS_MAX).take_while(|token| token.is_free());
    let words: Vec<String> = free.map(|token| plain(&token.word)).collect();
    (1..=words.len()).rev().find_map(|count| {
        let brand = names.named(&words.get(..count)?.join(" "))?;
        Some((count, brand))
    })
}
