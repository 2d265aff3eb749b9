use data_index::Release;

use super::categories::QuerySubject;
use super::group::TermGroup;
use super::groups::OpenGroups;
use super::index::TextIndex;
use super::lexical_query::LexicalQuery;
use super::repair::{self, Correction};
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;
use super::{either, forms, numbers, orthography, prefix, typed};

/// Terms of a text, with corrections of words that no product has, and synonyms.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) terms: QueryTerms,
    groups: Vec<TermGroup>,
    pub(super) corrections: Vec<Correction>,
    /// Product that the query names. See [`super::LexicalHits::named`].
    pub(super) named: QuerySubject,
    pub(super) synonyms: Vec<Synonym>,
    /// Likeliest completion of the last word, if that is used as a prefix.
    pub(super) completed: Option<Correction>,
}

impl Query {
    pub(super) fn of(release: &Release, index: &TextIndex, wanted: &LexicalQuery<'_>) -> Self {
        let mut corrections = Vec::new();
        let mut completion = None;
        let is_held = |stem: &str| release.parts().iter().any(|part| part.holds(stem));
        let is_titled = |word: &str| index.vocabulary.count(word) > 0;
        let mut terms = QueryTerms::of(wanted.text, is_held);
        if !wanted.as_typed {
            let mut are_known = known(index, &terms, is_held);
            if are_known.last() == Some(&false) {
                completion = terms
                    .iter()
                    .next_back()
                    .and_then(|last| prefix::complete(release, index, last, terms.len() == 1));
                if let (Some(_), Some(last)) = (&completion, are_known.last_mut()) {
                    *last = true;
                }
            }
            if are_known.contains(&false)
                && let Some((mended, corrected)) = repair::mend(index, &terms, &are_known)
            {
                // A word that was joined with the previous one is complete and not a prefix.
                completion = completion.filter(|_| last_of(&mended) == last_of(&terms));
                (terms, corrections) = (mended, corrected);
            }
        }
        let mut groups: Vec<TermGroup> = terms.iter().map(TermGroup::of).collect();
        let mut synonyms = forms::add(index, &terms, &mut groups, is_held);
        let mut completed = None;
        if let (Some((to, completion)), Some(last), Some(term)) =
            (completion, groups.last_mut(), terms.iter().next_back())
        {
            let from = term.plain.clone();
            completed = Some(Correction { from, to });
            // The completions replace the word itself, and precede its other spellings.
            let spellings = last.variants.split_off(last.variants.len().min(1));
            *last = completion;
            last.variants.extend(spellings);
        }
        if !wanted.as_typed {
            let numbers = numbers::add(&terms, &mut groups, is_held);
            let spellings = orthography::add(&terms, &mut groups, is_titled);
            for synonym in numbers
                .into_iter()
                .chain(spellings)
                .chain(index.synonyms.add(&terms, &mut groups, is_held))
                .chain(index.languages.add(&terms, &mut groups, is_held))
            {
                forms::tell(&mut synonyms, synonym);
            }
            typed::add(wanted.typed, &terms, &mut groups, is_held);
            either::add(wanted.text, &terms, &mut groups);
        }
        // An incomplete word does not show the kind of product yet.
        let named = match completed {
            None if !wanted.as_typed => index.category_names.named(wanted.text, &terms, &groups),
            _ => QuerySubject::default(),
        };
        Self {
            named,
            terms,
            groups,
            corrections,
            synonyms,
            completed,
        }
    }

    /// Uses the last word also as a prefix, if possible. The returned query applies if no product has every word.
    pub(super) fn continued(&self, index: &TextIndex, text: &str) -> Option<Self> {
        let (last, own) = (self.terms.iter().next_back()?, self.groups.last()?);
        // If the text continues after the word, the word is complete.
        let is_last = text.to_lowercase().ends_with(last.plain.as_str());
        if self.completed.is_some() || self.groups.len() < 2 || !is_last {
            return None;
        }
        let (to, group) = prefix::continued(index, last, own)?;
        let mut groups = self.groups.clone();
        groups.pop();
        groups.push(group);
        Some(Self {
            terms: self.terms.clone(),
            groups,
            corrections: self.corrections.clone(),
            named: QuerySubject::default(),
            synonyms: self.synonyms.clone(),
            completed: Some(Correction {
                from: last.plain.clone(),
                to,
            }),
        })
    }

    pub(super) fn open<'a>(&'a self, release: &'a Release, index: &TextIndex) -> OpenGroups<'a> {
        let open = OpenGroups::of(release, index, &self.groups);
        if self.completed.is_some() {
            open.last_as_one(index)
        } else {
            open
        }
    }
}

/// Returns true for each query word if products have it or one of its synonyms.
fn known(index: &TextIndex, terms: &QueryTerms, is_held: impl Fn(&str) -> bool + Copy) -> Vec<bool> {
    let is_titled = |word: &str| index.vocabulary.count(word) > 0;
    let is_known = |term: &QueryTerm| {
        is_held(&term.stemmed) && !repair::is_mistaken(index, term)
            || index.languages.leads(&term.stemmed)
            || orthography::is_written(&term.plain, is_titled)
    };
    // A word with synonyms counts as known.
    let covered = index.synonyms.covered(terms, is_held);
    let known = terms.iter().zip(covered);
    known.map(|(term, covered)| covered || is_known(term)).collect()
}

fn last_of(terms: &QueryTerms) -> Option<&str> {
    terms.iter().next_back().map(|term| &*term.plain)
}
