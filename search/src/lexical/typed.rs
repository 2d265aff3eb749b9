use data_text::plain_words;

use super::group::{GroupWord, TermGroup, TermVariant};
use super::languages::FACTOR;
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;

/// Adds the words as typed to translated words, if products have them. Products with the typed words come first,
/// because the translation has a lower weight.
pub(super) fn add(typed: &[Synonym], terms: &QueryTerms, groups: &mut [TermGroup], is_held: impl Fn(&str) -> bool) {
    let stems: Vec<&str> = terms.iter().map(|term| term.stemmed.as_str()).collect();
    for Synonym { of, to } in typed {
        let english = data_text::stems(to);
        let own = plain_words(of).into_iter();
        let words: Vec<GroupWord> = own.map(|word| GroupWord::of(&QueryTerm::of_word(&word, 0))).collect();
        let is_said = !english.is_empty() && !words.is_empty() && words.iter().all(|word| is_held(&word.stem));
        let at = stems.windows(english.len().max(1)).position(|stems| stems == english);
        let Some(at) = at.filter(|_| is_said) else { continue };
        for group in groups.iter_mut().skip(at).take(english.len()) {
            group.variants.retain(|variant| variant.words != words);
            group.variants.iter_mut().for_each(|variant| variant.factor *= FACTOR);
            let variant = TermVariant {
                words: words.clone(),
                factor: 1.0,
                is_apart: true,
            };
            group.variants.insert(0, variant);
        }
    }
}
