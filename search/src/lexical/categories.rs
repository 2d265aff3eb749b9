use data_index::terms::names_nothing;
use data_index::{CategoryNode, Release};
use data_model::CategoryId;
use data_text::{Analysis, analyse};
use rustc_hash::FxHashMap;

use super::group::{GroupWord, TermGroup};
use super::terms::QueryTerms;

/// Words before the purpose or the components of a product. The head noun precedes them.
const BEHIND: [&str; 9] = [
    "for",
    "with",
    "in",
    "from",
    "of",
    "without",
    "compatible",
    "fits",
    "fitting",
];
/// Words of `BEHIND` before a purpose, or the whole to which the product belongs.
const PURPOSE: [&str; 5] = ["for", "of", "compatible", "fits", "fitting"];

/// Names of the categories with products.
#[derive(Debug, Default)]
pub(super) struct CategoryNames {
    /// Other words of each name, by the stem of its last word.
    names: FxHashMap<Box<str>, Vec<Name>>,
}

/// Product that a query names, matched with category names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuerySubject {
    /// Sorted categories whose name is the query's head noun.
    pub(crate) categories: Vec<CategoryId>,
    /// Product, if the query names nothing else.
    pub(crate) thing: Option<Thing>,
    /// Purpose, if the query states one.
    pub(crate) purpose: Option<Purpose>,
}

/// Product with its purpose, as in `blade for lawn mower`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Purpose {
    /// Stems of the words for the product.
    pub(crate) heads: Vec<String>,
    /// Words for the purpose.
    pub(crate) others: Vec<String>,
}

/// Product that a query names by a category name alone, such as `laptop` or `coffee table`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    /// Stem of the head noun.
    pub(crate) stem: String,
    /// Sorted categories of the release with the same head noun in their names.
    pub(crate) called_so: Vec<CategoryId>,
}

#[derive(Debug)]
struct Name {
    category: CategoryId,
    /// True if the name is an activity, as in `Nursing`. A word with the same stem, such as `nurse`, does not name it.
    is_activity: bool,
    rest: Vec<Box<str>>,
}

impl CategoryNames {
    pub(super) fn of(release: &Release) -> Self {
        let mut names = Self::default();
        release.category_tree().iter().for_each(|node| names.add(node));
        names
    }

    fn add(&mut self, node: &CategoryNode) {
        for name in parts(node.category.name) {
            let mut stems = analyse(Analysis::Stemmed, &name)
                .into_iter()
                .map(|word| word.text.into_boxed_str());
            if let Some(last) = stems.next_back() {
                let name = Name {
                    category: node.category.id,
                    is_activity: is_activity(&name),
                    rest: stems.collect(),
                };
                self.names.entry(last).or_default().push(name);
            }
        }
        node.children.iter().for_each(|node| self.add(node));
    }

    /// Returns the categories with exactly this name, given as stems.
    pub(super) fn called<'a>(&'a self, stems: &'a [String]) -> impl Iterator<Item = CategoryId> + 'a {
        let (last, rest) = stems
            .split_last()
            .map_or(("", stems), |(last, rest)| (last.as_str(), rest));
        let names = self.names.get(last).into_iter().flatten();
        let fitting =
            names.filter(move |name| name.rest.iter().map(|stem| &**stem).eq(rest.iter().map(String::as_str)));
        fitting.map(|name| name.category)
    }

    /// Returns the categories whose name is the kind of product in the query, directly or by a synonym.
    pub(super) fn named(&self, text: &str, terms: &QueryTerms, groups: &[TermGroup]) -> QuerySubject {
        let Some(head) = head(text, terms) else {
            return QuerySubject::default();
        };
        let holds = |stem: &str| {
            let words = groups
                .iter()
                .flat_map(|group| &group.variants)
                .flat_map(|variant| &variant.words);
            words.into_iter().any(|word| word.stem == stem)
        };
        let own = terms.iter().nth(head);
        let heads = groups.get(head).into_iter().flat_map(|group| &group.variants);
        let called_so = heads
            .filter_map(|variant| variant.words.last())
            .filter_map(|word| Some((word, self.names.get(word.stem.as_str())?)))
            .flat_map(|(word, names)| {
                let own = own.filter(|own| own.stemmed == word.stem);
                let is_called = move |name: &&Name| own.is_none_or(|own| is_activity(&own.plain) == name.is_activity);
                names.iter().filter(is_called)
            });
        let called_so: Vec<&Name> = called_so.collect();
        let fitting = || {
            let names = called_so.iter().copied();
            names.filter(|name| name.rest.iter().all(|stem| holds(stem)))
        };
        // The query is just a category name if each of its other words is in the name.
        let says_all = |name: &Name| {
            let mut others = groups.iter().enumerate().filter(|(at, _)| *at != head);
            let is_of_name = |word: &GroupWord| name.rest.iter().any(|stem| **stem == *word.stem);
            others.all(|(_, group)| group.variants.iter().flat_map(|variant| &variant.words).any(is_of_name))
        };
        let thing = fitting().any(says_all).then(|| Thing {
            stem: terms
                .iter()
                .nth(head)
                .map(|term| term.stemmed.clone())
                .unwrap_or_default(),
            called_so: sorted(called_so.iter().map(|name| name.category)),
        });
        QuerySubject {
            categories: sorted(fitting().map(|name| name.category)),
            thing,
            purpose: purpose(text, terms, groups, head),
        }
    }
}

fn is_activity(name: &str) -> bool {
    name.ends_with("ing")
}

/// Returns the purpose if the words name both the product and its purpose.
fn purpose(text: &str, terms: &QueryTerms, groups: &[TermGroup], head: usize) -> Option<Purpose> {
    let words = analyse(Analysis::Plain, text);
    let says = |word: &data_text::Term| PURPOSE.contains(&word.text.as_str());
    let behind = words.iter().skip(1).find(|word| says(word))?.position;
    let thing = terms.iter().nth(head)?;
    if thing.position > behind || names_nothing(&thing.plain) {
        return None;
    }
    let stems = |group: &TermGroup| -> Vec<String> {
        let last = group.variants.iter().filter_map(|variant| variant.words.last());
        last.map(|word| word.stem.clone()).collect()
    };
    let named = terms.iter().zip(groups);
    let others = named.filter(|(term, _)| term.position > behind && !names_nothing(&term.plain));
    let others: Vec<String> = others.flat_map(|(_, group)| stems(group)).collect();
    let heads = stems(groups.get(head)?);
    (!others.is_empty()).then_some(Purpose { heads, others })
}

fn sorted(categories: impl Iterator<Item = CategoryId>) -> Vec<CategoryId> {
    let mut categories: Vec<CategoryId> = categories.collect();
    categories.sort_unstable();
    categories.dedup();
    categories
}

/// Splits a category name into its names. `Tea & Infusions` is tea and infusions, but `TV & Monitor Mounts` are mounts
/// for both.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = name.split(['&', ',', '/']).map(|part| part.trim().to_owned()).collect();
    let Some((head, earlier)) = parts.split_last_mut() else {
        return parts;
    };
    if let Some((_, head)) = head.rsplit_once(' ') {
        let is_singular = |part: &String| !part.ends_with('s') || part.ends_with("ss");
        for part in earlier.iter_mut().filter(|part| is_singular(part)) {
            *part = format!("{part} {head}");
        }
    }
    parts
}

/// Returns the position of the head noun, which is the last word before the purpose that is not a colour or size.
fn head(text: &str, terms: &QueryTerms) -> Option<usize> {
    let words = analyse(Analysis::Plain, text);
    let behind = words
        .iter()
        .skip(1)
        .position(|word| BEHIND.contains(&word.text.as_str()));
    let Some(at) = behind else {
        let last = terms.iter().rposition(|term| !names_nothing(&term.plain));
        return last.or_else(|| terms.len().checked_sub(1));
    };
    let named = words.get(..=at)?;
    let head = named.iter().rfind(|word| !names_nothing(&word.text)).or(named.last())?;
    terms.iter().position(|term| term.plain == head.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_word_before_the_last_is_of_what_the_last_is() {
        assert_eq!(parts("TV & Monitor Mounts"), ["TV Mounts", "Monitor Mounts"]);
        assert_eq!(parts("Chair & Sofa Cushions"), ["Chair Cushions", "Sofa Cushions"]);
        assert_eq!(
            parts("Pool, Fountain & Pond Pumps"),
            ["Pool Pumps", "Fountain Pumps", "Pond Pumps"]
        );
        assert_eq!(
            parts("Printers, Copiers & Fax Machines"),
            ["Printers", "Copiers", "Fax Machines"]
        );
        assert_eq!(parts("Tea & Infusions"), ["Tea", "Infusions"]);
        assert_eq!(parts("Dress Shirts"), ["Dress Shirts"]);
    }

    #[test]
    fn a_colour_size_or_purpose_behind_it_does_not_say_what_the_thing_is() {
        for (text, named) in [
            ("running shoes", "shoes"),
            ("running shoes black men", "shoes"),
            ("case black for phone", "case"),
            ("black", "black"),
        ] {
            let terms = QueryTerms::of(text, |_| true);
            let found = head(text, &terms).and_then(|at| terms.iter().nth(at));
            assert_eq!(found.map(|term| term.plain.as_str()), Some(named), "{text}");
        }
    }
}
