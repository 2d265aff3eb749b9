use data_model::BrandSlug;
use data_understanding::Meaning;

use super::{Bounds, MINOR_MAX, facets};
use crate::catalogue::{BrandList, SearchFor, SearchOrder};
use crate::intent::Constraints;

/// Maximum length in bytes of a text that the search interprets. A longer text is only searched for its words.
const TEXT_BYTES_MAX: usize = 200;

/// Brand that products must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brand {
    Any,
    Known(BrandSlug),
    /// No brand, because the text is no slug.
    Nothing,
}

/// Constraints on products, from the interpretation and the request.
#[derive(Debug)]
pub(crate) struct ProductCriteria {
    pub(crate) wanted: Constraints,
    pub(crate) bounds: Bounds,
    /// Required brand; `Nothing` if the request and the sentence name different brands.
    pub(crate) brand: Brand,
    /// `true` if the sentence is searched as plain words.
    pub(crate) as_typed: bool,
}

impl ProductCriteria {
    /// Returns the searches for the wanted products, the most precise first. The list is empty if no product can match.
    pub(crate) fn searches(&self) -> Vec<SearchFor> {
        let wanted = &self.wanted;
        if self.brand == Brand::Nothing || self.bounds.is_empty() {
            return Vec::new();
        }
        let mut texts = vec![text_of_sentence(&wanted.text)];
        if let Some(words) = &wanted.words {
            texts.insert(usize::from(!words.is_grounded), with_unwanted(&words.text, wanted));
        }
        let facets = facets::of(wanted);
        let mut searches = Vec::new();
        for text in texts {
            let search = self.whole(text);
            if !facets.is_empty() {
                searches.push(SearchFor {
                    facets: facets.clone(),
                    ..search.clone()
                });
            }
            searches.push(search);
        }
        searches
    }

    /// Returns searches with relaxed filters: at first each relaxes one filter, and the last one relaxes all. If the
    /// price limit is relaxed, the nearest prices come first.
    pub(crate) fn wider(&self, brands: &BrandList) -> Vec<SearchFor> {
        let search = self.whole(text_of_sentence(&self.wanted.text));
        let text = if self.as_typed {
            search.text.clone()
        } else {
            text_of_sentence(&without_refusals(&self.wanted.text, brands))
        };
        let all = SearchFor {
            text: text.clone(),
            with_sold_out: true,
            as_typed: self.as_typed,
            ..SearchFor::default()
        };
        let mut searches = Vec::new();
        let Bounds {
            min_minor, max_minor, ..
        } = self.bounds;
        if self.brand != Brand::Nothing {
            searches.extend(max_minor.map(|max| SearchFor {
                price_min_minor: Some(max.saturating_add(1).min(MINOR_MAX)),
                price_max_minor: None,
                order: SearchOrder::Cheapest,
                ..search.clone()
            }));
            searches.extend(min_minor.map(|min| SearchFor {
                price_min_minor: None,
                price_max_minor: Some(min.saturating_sub(1)),
                order: SearchOrder::Dearest,
                ..search.clone()
            }));
        }
        if self.brand != Brand::Nothing && !self.bounds.is_empty() {
            let with_sold_out = true;
            searches.extend([
                SearchFor {
                    brand: None,
                    ..search.clone()
                },
                SearchFor { text, ..search.clone() },
                SearchFor {
                    with_sold_out,
                    ..search.clone()
                },
            ]);
        }
        searches.push(all);
        // The search with all filters has already run.
        let mut asked = vec![search];
        for search in searches {
            if !asked.contains(&search) {
                asked.push(search);
            }
        }
        asked.split_off(1)
    }

    /// Builds a search with all supported filters.
    fn whole(&self, text: String) -> SearchFor {
        let Bounds {
            min_minor,
            max_minor,
            currency,
        } = self.bounds;
        SearchFor {
            text,
            price_min_minor: min_minor,
            price_max_minor: max_minor,
            currency: (!self.bounds.is_open()).then_some(currency),
            brand: match &self.brand {
                Brand::Known(slug) => Some(slug.clone()),
                Brand::Any | Brand::Nothing => None,
            },
            as_typed: self.as_typed,
            ..SearchFor::default()
        }
    }
}

/// Removes the unwanted things from a text.
fn without_refusals(text: &str, brands: &BrandList) -> String {
    let read = data_understanding::read(text, brands);
    let refusals = read.parts.into_iter().filter(|part| {
        matches!(
            part.meaning,
            Meaning::Excluded(_) | Meaning::ExcludedBrand(_) | Meaning::Lacking(_)
        )
    });
    refusals.fold(text.to_owned(), |text, part| text.replacen(&part.text, " ", 1))
}

/// Returns the search text for the sentence: the sentence itself if the search can interpret it, else its start and the
/// unwanted things.
fn text_of_sentence(sentence: &str) -> String {
    let mut words = sentence.split(|char: char| !char.is_alphanumeric() && char != '\'');
    let names_nothing = |word: &str| word.is_empty() || data_understanding::is_of_sentences(&word.to_lowercase());
    if words.all(names_nothing) {
        // A text such as `anything under 500` asks for the best products within the filters.
        return String::new();
    }
    if sentence.len() <= TEXT_BYTES_MAX {
        return sentence.to_owned();
    }
    let mut text = String::new();
    for word in sentence.split_whitespace() {
        if text.len() + word.len() >= TEXT_BYTES_MAX {
            break;
        }
        text.push_str(word);
        text.push(' ');
    }
    text.trim_end().to_owned()
}

/// Combines a model's words with the unwanted things in a form that the search interprets.
fn with_unwanted(words: &str, wanted: &Constraints) -> String {
    let mut text = words.to_owned();
    for unwanted in &wanted.unwanted {
        let more = if unwanted.lacking.is_empty() {
            format!(" not {}", unwanted.what)
        } else {
            format!(" without {}", unwanted.what)
        };
        if text.len() + more.len() <= TEXT_BYTES_MAX {
            text.push_str(&more);
        }
    }
    text
}
