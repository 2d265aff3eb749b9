use std::sync::LazyLock;

use data_text::{indexed_words, stem};
use rustc_hash::FxHashSet;

use super::languages;
use super::tables::{Negator, TABLES};

/// Maximum number of words between a negator and the denied thing, as in `without silicones, parabens or sulfates`.
const BETWEEN_MAX: usize = 5;

/// Single words before a thing that a product lacks, in every language.
static WITHOUT: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let own = TABLES.negators.single(|kind| *kind == Negator::Lacks);
    own.chain(languages::without_words()).chain(["free"]).collect()
});

/// Returns true if a product text mentions a thing, given as its stem, and denies it at each mention, as in `no
/// sulfates`, `sulfate-free` or `sans sulfates`.
#[must_use]
pub fn denies(text: &str, thing: &str) -> bool {
    let words: Vec<_> = indexed_words(text).into_iter().filter(|word| word.is_main).collect();
    let mentions = || words.iter().enumerate().filter(|(_, word)| *stem(&word.text) == *thing);
    let is_denied = |at: usize| {
        let is_suffixed = words
            .get(at + 1)
            .is_some_and(|next| TABLES.suffixes.contains(next.text.as_str()));
        let mut behind = at;
        // A negator counts within its sentence only.
        let before = words.get(..at).unwrap_or_default().iter().rev().take(BETWEEN_MAX);
        let mut before = before.take_while(|word| {
            let next = words.get(behind).map_or(text.len(), |next| next.offsets.start);
            behind -= 1;
            let between = text.get(word.offsets.end..next).unwrap_or_default();
            !between.contains(['.', ';', '!', '?', ':', '\n'])
        });
        is_suffixed || before.any(|word| WITHOUT.contains(word.text.as_str()))
    };
    mentions().next().is_some() && mentions().all(|(at, _)| is_denied(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_denies_a_thing_if_it_says_at_each_mention_that_it_is_not_there() {
        for (text, thing, is_denied) in [
            ("Definit sans sulfates.", "sulfate", true),
            ("No parabens, silicones or sulfates", "sulfate", true),
            ("Sulfate-free foam", "sulfate", true),
            ("Ohne Leder genäht", "leder", true),
            ("Cut from one piece of leather", "leather", false),
            ("No fuss. Leather inside", "leather", false),
            ("Without leather straps; the sole is leather", "leather", false),
            ("Soft canvas", "leather", false),
        ] {
            assert_eq!(denies(text, &stem(thing)), is_denied, "{text}");
        }
    }
}
