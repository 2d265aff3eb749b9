use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::reading::Reading;

#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) skus: Vec<u64>,
    /// Hashes of the words of the title and of all words together. The combination can be rare even if every word is
    /// common.
    pub(crate) words: Vec<u64>,
}

impl Keys {
    pub(crate) fn of(reading: &Reading) -> Self {
        let mut sounds = sounds(reading);
        let mut words: Vec<u64> = sounds.iter().map(|sound| hash((0_u8, sound))).collect();
        sounds.sort_unstable();
        words.push(hash((1_u8, sounds)));
        let skus = reading.variants.iter().filter_map(|variant| variant.sku.as_deref());
        let mut skus: Vec<u64> = skus.map(|sku| hash((2_u8, sku))).collect();
        for keys in [&mut words, &mut skus] {
            keys.sort_unstable();
            keys.dedup();
        }
        Self { skus, words }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = u64> {
        self.skus.iter().chain(&self.words).copied()
    }
}

/// Returns a sort key that puts similar products next to each other: words, amounts and the pack size in the title.
pub(crate) fn said(reading: &Reading) -> String {
    let mut sounds = sounds(reading);
    sounds.sort_unstable();
    let traits = reading.traits.iter().filter(|(kind, _)| kind.is_whole());
    let mut traits: Vec<Vec<&String>> = traits
        .flat_map(|(_, values)| values)
        .map(|value| {
            let mut words: Vec<&String> = value.iter().collect();
            words.sort_unstable();
            words
        })
        .collect();
    traits.sort_unstable();
    format!(
        "{} {} {:?} {traits:?}",
        sounds.join(" "),
        reading.pack,
        reading.quantities
    )
}

fn sounds(reading: &Reading) -> Vec<&str> {
    let words = reading.words.iter();
    let words = words.filter(|word| !word.is_link() && !reading.names.contains(&word.sound));
    words.map(|word| word.sound.as_str()).collect()
}

pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
