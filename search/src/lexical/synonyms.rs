use std::sync::Arc;

use data_text::{Analysis, analyse};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::group::{GroupWord, TermGroup, TermVariant};
use super::term::QueryTerm;
use super::terms::QueryTerms;
use super::vocabulary::Spelling;

/// Words that shoppers use for the same thing, built in or added by an operator. A query for a word also finds its
/// synonyms with a lower weight. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Synonyms {
    rules: Arc<FxHashMap<Box<str>, Vec<Rule>>>,
    /// Digest of the source texts.
    digest: [u8; 32],
}

/// Malformed line of a synonyms file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the synonyms: {what}")]
pub struct SynonymsError {
    /// Line number from 1.
    pub line: usize,
    /// Fault in the line.
    pub what: &'static str,
}

/// Query word with a synonym that was also searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonym {
    /// Word of the query.
    pub of: String,
    /// Additional word.
    pub to: String,
}

/// Synonyms of a phrase. Phrases are compared by singular words and not by stems, so that a search for something
/// comfortable does not find comforters.
#[derive(Debug)]
struct Rule {
    /// First word, as in the file.
    first: Box<str>,
    /// Further words, in the singular.
    rest: Vec<String>,
    to: Vec<QueryTerm>,
    to_text: Box<str>,
}

/// Weight of a synonym's match, relative to the query's own word.
const FACTOR: f32 = 0.4;
const WORDS_MAX: usize = 3;
/// Maximum number of synonyms in one line or of one query word.
const LINE_MAX: usize = 16;
const OF_WORD_MAX: usize = 6;
/// Maximum number of lines of a file.
const LINES_MAX: usize = 50_000;

impl Synonyms {
    /// Returns the built-in synonyms.
    #[must_use]
    pub fn shipped() -> Self {
        let shipped = include_str!("../../../data/reference/synonyms.tsv");
        // A test reads the file. With a wrong file, search would go on without synonyms.
        Self::read(&[shipped]).unwrap_or_else(|_| Self::none())
    }

    /// Returns no synonyms.
    #[must_use]
    pub fn none() -> Self {
        Self {
            rules: Arc::default(),
            digest: [0; 32],
        }
    }

    /// Returns the built-in synonyms and those of an operator's file. In a line `=<tab>sofa<tab>couch`, the words find
    /// each other. In a line `><tab>joota<tab>shoes`, only queries for the first word find the others. `#` begins a
    /// comment.
    ///
    /// # Errors
    /// The first malformed line.
    pub fn with_operators(file: &str) -> Result<Self, SynonymsError> {
        Self::read(&[include_str!("../../../data/reference/synonyms.tsv"), file])
    }

    fn read(files: &[&str]) -> Result<Self, SynonymsError> {
        let mut rules: FxHashMap<Box<str>, Vec<Rule>> = FxHashMap::default();
        for file in files {
            for (line, text) in (1..).zip(file.lines()) {
                let failed = |what| SynonymsError { line, what };
                let text = text.trim_end();
                if text.is_empty() || text.starts_with('#') {
                    continue;
                }
                if line > LINES_MAX {
                    return Err(failed("too many lines"));
                }
                read_line(text, &mut rules).map_err(failed)?;
            }
        }
        let digest = files
            .iter()
            .fold(Sha256::new(), |digest, file| digest.chain_update(file));
        Ok(Self {
            rules: Arc::new(rules),
            digest: digest.finalize().into(),
        })
    }

    /// Returns a digest that differs whenever the synonyms differ.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the rules whose phrase begins at `at`, with synonyms that products have.
    fn rules_at<'a>(
        &'a self,
        terms: &'a [&QueryTerm],
        at: usize,
        is_held: &'a impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &'a Rule> {
        let rules = terms
            .get(at)
            .and_then(|term| self.rules.get(singular(&term.plain).as_str()));
        rules.into_iter().flatten().filter(move |rule| {
            let words = terms.get(at..=at + rule.rest.len()).unwrap_or_default();
            let follow = words
                .iter()
                .skip(1)
                .map(|word| singular(&word.plain))
                .eq(rule.rest.iter().cloned());
            let together = words
                .windows(2)
                .all(|pair| matches!(pair, [one, other] if one.position + 1 == other.position));
            !words.is_empty() && follow && together && rule.to.iter().all(|to| is_held(&to.stemmed))
        })
    }

    /// Returns true for each query word with synonyms that products have. It is not corrected.
    pub(super) fn covered(&self, terms: &QueryTerms, is_held: impl Fn(&str) -> bool) -> Vec<bool> {
        let terms: Vec<&QueryTerm> = terms.iter().collect();
        let mut covered = vec![false; terms.len()];
        for at in 0..terms.len() {
            for rule in self.rules_at(&terms, at, &is_held) {
                let of = covered.get_mut(at..=at + rule.rest.len()).unwrap_or_default();
                of.fill(true);
            }
        }
        covered
    }

    /// A word that begins a phrase is a real word, even if the catalogue lacks it.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.rules.contains_key(singular(word).as_str())
    }

    /// Returns the single-word synonyms of a word.
    pub(super) fn of_word(&self, word: &str) -> impl Iterator<Item = String> {
        let rules = self.rules.get(singular(word).as_str()).into_iter().flatten();
        let single = rules.filter(|rule| rule.rest.is_empty() && rule.to.len() == 1);
        single.map(|rule| rule.to_text.to_string())
    }

    /// Returns the words of all phrases with synonyms that products have, each with the synonym's first word.
    pub(super) fn spellings(&self, is_held: impl Fn(&str) -> bool) -> impl Iterator<Item = Spelling<'_>> {
        let leads = move |rule: &&Rule| rule.to.iter().all(|to| is_held(&to.stemmed));
        let rules = self.rules.values().flatten().filter(leads);
        rules.flat_map(|rule| {
            let to = rule.to.first().map_or("", |to| to.plain.as_str());
            let words = std::iter::once(&*rule.first).chain(rule.rest.iter().map(String::as_str));
            words.map(move |word| Spelling { word, to })
        })
    }

    /// Adds the synonyms that products have to the groups of a query's words, and returns them.
    pub(super) fn add(
        &self,
        terms: &QueryTerms,
        groups: &mut [TermGroup],
        is_held: impl Fn(&str) -> bool,
    ) -> Vec<Synonym> {
        let mut used = Vec::new();
        let terms: Vec<&QueryTerm> = terms.iter().collect();
        // A word of a phrase with synonyms is not matched again alone, because it has another meaning in the phrase.
        let mut used_up = 0;
        for at in 0..terms.len() {
            let rules: Vec<&Rule> = self.rules_at(&terms, at, &is_held).collect();
            let longest = rules.iter().map(|rule| at + rule.rest.len() + 1).max().unwrap_or(0);
            let counts = |rule: &&&Rule| at + rule.rest.len() + 1 > used_up && at + rule.rest.len() + 1 == longest;
            for rule in rules.iter().filter(counts) {
                let words = terms.get(at..=at + rule.rest.len()).unwrap_or_default();
                let of = groups.get_mut(at..=at + rule.rest.len()).unwrap_or_default();
                if of.iter().any(|group| group.variants.len() > OF_WORD_MAX) {
                    continue;
                }
                for group in of {
                    group.variants.push(TermVariant {
                        words: rule.to.iter().map(GroupWord::of).collect(),
                        factor: FACTOR,
                        is_apart: false,
                    });
                }
                let of = words.iter().map(|word| word.plain.as_str()).collect::<Vec<_>>();
                used.push(Synonym {
                    of: of.join(" "),
                    to: rule.to_text.to_string(),
                });
            }
            used_up = used_up.max(longest);
        }
        used
    }
}

/// Removes an English plural ending.
fn singular(word: &str) -> String {
    let of = |ending: &str, singular: &str| {
        let rest = word.strip_suffix(ending).filter(|rest| rest.chars().count() >= 2)?;
        Some(format!("{rest}{singular}"))
    };
    let hissed = || {
        ["sses", "shes", "ches", "xes"]
            .into_iter()
            .find_map(|ending| of(ending, ending.strip_suffix("es")?))
    };
    let plain = || of("s", "").filter(|rest| !rest.ends_with(['s', 'u', 'i']));
    of("ies", "y")
        .or_else(hissed)
        .or_else(plain)
        .unwrap_or_else(|| word.to_owned())
}

impl Default for Synonyms {
    fn default() -> Self {
        Self::shipped()
    }
}

fn read_line(text: &str, rules: &mut FxHashMap<Box<str>, Vec<Rule>>) -> Result<(), &'static str> {
    let mut fields = text.split('\t');
    let both_ways = match fields.next() {
        Some("=") => true,
        Some(">") => false,
        _ => return Err("a line must begin with `=` or `>`, followed by a tab"),
    };
    let phrases: Vec<(&str, Vec<QueryTerm>)> = fields.map(|field| (field.trim(), words(field))).collect();
    if phrases.len() < 2 || phrases.len() > LINE_MAX {
        return Err("a line must have 2 to 16 synonyms");
    }
    if phrases
        .iter()
        .any(|(_, words)| words.is_empty() || words.len() > WORDS_MAX)
    {
        return Err("a synonym must have 1 to 3 words");
    }
    for (at, (_, from)) in phrases
        .iter()
        .enumerate()
        .take(if both_ways { phrases.len() } else { 1 })
    {
        for (to_at, (to_text, to)) in phrases.iter().enumerate() {
            // Forms with the same stem find each other anyway.
            let same = from
                .iter()
                .map(|word| &word.stemmed)
                .eq(to.iter().map(|word| &word.stemmed));
            let Some((first, rest)) = from.split_first().filter(|_| to_at != at && !same) else {
                continue;
            };
            let of_first = rules.entry(singular(&first.plain).into()).or_default();
            of_first.push(Rule {
                first: first.plain.as_str().into(),
                rest: rest.iter().map(|word| singular(&word.plain)).collect(),
                to: to.clone(),
                to_text: to_text.to_lowercase().into(),
            });
        }
    }
    Ok(())
}

/// Splits a synonym into words, including stop words, because its words are searched as adjacent words.
fn words(text: &str) -> Vec<QueryTerm> {
    let plain = analyse(Analysis::Plain, text);
    (0..)
        .zip(plain)
        .map(|(position, word)| QueryTerm::of_word(&word.text, position))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(synonyms: &Synonyms, query: &str) -> Vec<String> {
        let terms = QueryTerms::of(query, |_| true);
        let mut groups: Vec<TermGroup> = terms.iter().map(TermGroup::of).collect();
        let used = synonyms.add(&terms, &mut groups, |stem| stem != "absent");
        used.into_iter()
            .map(|used| format!("{}→{}", used.of, used.to))
            .collect()
    }

    #[test]
    fn words_find_each_other_or_one_the_other() {
        let synonyms = Synonyms::read(&["# remark\n=\tSofas\tcouch\tlove seat\n\n>\tjoota\tshoes\tabsent\n"]).unwrap();
        assert_eq!(of(&synonyms, "blue sofa"), ["sofa→couch", "sofa→love seat"]);
        assert_eq!(of(&synonyms, "Love Seats"), ["love seats→sofas", "love seats→couch"]);
        assert_eq!(of(&synonyms, "love blue seat"), Vec::<String>::new());
        assert_eq!(of(&synonyms, "joota"), ["joota→shoes"]);
        assert_eq!(of(&synonyms, "shoes love"), Vec::<String>::new());
    }

    #[test]
    fn words_that_share_a_stem_alone_do_not_find_each_other_s_synonyms() {
        let synonyms = Synonyms::read(&["=\tcomforter\tquilt\n=\tdress\tfrock\n=\tcherry\tmorello\n"]).unwrap();
        assert_eq!(of(&synonyms, "comfortable chair"), Vec::<String>::new());
        assert_eq!(of(&synonyms, "comforters"), ["comforters→quilt"]);
        assert_eq!(of(&synonyms, "dresses"), ["dresses→frock"]);
        assert_eq!(of(&synonyms, "cherries"), ["cherries→morello"]);
    }

    #[test]
    fn the_file_that_ships_can_be_read() {
        let shipped = Synonyms::read(&[include_str!("../../../data/reference/synonyms.tsv")]).unwrap();
        assert!(shipped.rules.len() > 400, "{}", shipped.rules.len());
        assert!(of(&shipped, "joota").contains(&"joota→shoes".to_owned()));
        assert!(of(&shipped, "t shirt").contains(&"t shirt→tee".to_owned()));
    }

    #[test]
    fn a_line_that_is_wrong_is_told() {
        for (file, line) in [
            ("=\tone\ttwo\nsofa couch\n", 2),
            ("=\tone\n", 1),
            ("=\tone\t\n", 1),
            (">\ta b c d\te\n", 1),
        ] {
            assert_eq!(Synonyms::with_operators(file).unwrap_err().line, line, "{file}");
        }
        assert!(Synonyms::with_operators("=\tone\ttwo\n").is_ok());
    }
}
