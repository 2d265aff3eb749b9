//! The rules of `categories.tsv` as a trie over words.

use std::sync::LazyLock;

use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::words::each_word;

static RULES: &str = include_str!("../../../../data/reference/categories.tsv");

/// The one table of the process, built at first use.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(RULES).0);

/// A word no rule knows.
pub(super) const UNKNOWN: u32 = 0;

/// Stands for the path of nouns that alone do not tell a category.
const OPEN: &str = "-";

/// Stands for the path of phrases that tell nothing about the product.
const FEATURE: &str = "+";

/// The node every phrase starts at.
pub(super) const ROOT: u32 = 0;

/// Most words in one phrase.
pub(super) const PHRASE_WORDS_MAX: usize = 4;

/// How much a phrase says about the product that bears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Hides the nouns in it: "single handle", "gift box".
    Feature,
    /// Means the product only where it is all a product type or a tag says ("Caps"); elsewhere an open noun.
    Alone,
    /// Names a department: any noun of the title knows better.
    Broad,
    /// Also a colour, a taste, a motif, a make: holds if nothing else is named.
    Weak,
    /// A product noun; the last one of a phrase is its head.
    Head,
    /// Decides wherever it stands.
    Decisive,
}

/// Where a phrase leads.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `None`: the noun is known, but alone it does not tell the category ("kit", "case").
    pub(super) category: Option<ProductCategory>,
    pub(super) strength: Strength,
    /// Any of these words has to stand in the same text; empty: holds always.
    pub(super) context: Vec<u32>,
}

/// Why a line or a phrase of the file is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadRule {
    /// A line without a path and a tab.
    NoPath,
    /// The path is none of the taxonomy.
    NoSuchCategory(String),
    /// No word, or more than [`PHRASE_WORDS_MAX`].
    PhraseLength(String),
    /// The same phrase with the same context stands elsewhere.
    Repeated(String),
}

#[derive(Debug, Default)]
pub(super) struct Table {
    words: FxHashMap<Box<[u8]>, u32>,
    /// From a node by a word to the next node.
    edges: FxHashMap<(u32, u32), u32>,
    /// The edges out of the root, by word: most words of a title start no phrase.
    starts: Vec<u32>,
    nodes: Vec<Vec<Rule>>,
    audience: Vec<u32>,
    uncounted: Vec<u32>,
}

/// Words that say who a product is for, or how much of the shop a tag covers.
static AUDIENCE: &str = "all men women mens womens unisex ladies kids boys girls new our";

/// What comes with a numbered model rather than in numbers.
static UNCOUNTED: &str = "case cover sleeve band strap charger battery";

impl Table {
    /// Reads the rules; what is none is reported by its line and left out.
    pub(super) fn read(text: &str) -> (Self, Vec<(usize, BadRule)>) {
        let mut table = Self {
            nodes: vec![Vec::new()],
            ..Self::default()
        };
        let mut bad = Vec::new();
        let mut pairs = Vec::new();
        let (mut category, mut feature) = (None, false);
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((path, phrases)) = line.split_once('\t') else {
                bad.push((number + 1, BadRule::NoPath));
                continue;
            };
            if !path.is_empty() {
                category = ProductCategory::from_name(path).ok();
                feature = path == FEATURE;
                if category.is_none() && !feature && path != OPEN {
                    bad.push((number + 1, BadRule::NoSuchCategory(path.to_owned())));
                }
            }
            for phrase in phrases.split(',') {
                match table.add(phrase.trim(), category, feature) {
                    Ok(words) if words.len() == 2 => pairs.push(words),
                    Ok(_) => {}
                    Err(error) => bad.push((number + 1, error)),
                }
            }
        }
        table.join_pairs(&pairs);
        table.finish();
        (table, bad)
    }

    /// Adds `[~*!=]phrase [context]`; gives the words of the phrase.
    fn add(
        &mut self,
        entry: &str,
        category: Option<ProductCategory>,
        feature: bool,
    ) -> Result<Vec<Box<[u8]>>, BadRule> {
        let (phrase, context) = entry.split_once('[').unwrap_or((entry, ""));
        let strength = match phrase.as_bytes().first() {
            Some(b'~') => Strength::Weak,
            Some(b'*') => Strength::Broad,
            Some(b'!') => Strength::Decisive,
            Some(b'=') => Strength::Alone,
            _ if feature => Strength::Feature,
            _ => Strength::Head,
        };
        let words = forms(phrase);
        if words.is_empty() || words.len() > PHRASE_WORDS_MAX {
            return Err(BadRule::PhraseLength(entry.to_owned()));
        }
        let context = forms(context).iter().map(|word| self.intern(word)).collect();
        let mut node = ROOT;
        for word in &words {
            let word = self.intern(word);
            node = self.edge(node, word);
        }
        let rules = self
            .nodes
            .get_mut(node as usize)
            .filter(|rules| !rules.iter().any(|rule| rule.context == context));
        let Some(rules) = rules else {
            return Err(BadRule::Repeated(entry.to_owned()));
        };
        rules.push(Rule {
            category,
            strength,
            context,
        });
        Ok(words)
    }

    /// Rules with a context are tried first; the edges out of the root get their array.
    fn finish(&mut self) {
        for rules in &mut self.nodes {
            rules.sort_by_key(|rule| rule.context.is_empty());
        }
        for word in forms(AUDIENCE) {
            let id = self.intern(&word);
            self.audience.push(id);
        }
        for word in forms(UNCOUNTED) {
            let id = self.intern(&word);
            self.uncounted.push(id);
        }
        self.starts = vec![ROOT; self.words.len() + 1];
        for (&(node, word), &to) in &self.edges {
            if node == ROOT
                && let Some(start) = self.starts.get_mut(word as usize)
            {
                *start = to;
            }
        }
    }

    /// "air fryer" is also written "airfryer".
    fn join_pairs(&mut self, pairs: &[Vec<Box<[u8]>>]) {
        for pair in pairs {
            let [first, second] = &**pair else { continue };
            let node = [first, second].into_iter().try_fold(ROOT, |node, form| {
                let word = self.word(form)?;
                self.edges.get(&(node, word)).copied()
            });
            let rules = node.map(|node| self.rules(node).to_vec()).unwrap_or_default();
            let joined = self.intern(&[&**first, &**second].concat());
            if self.edges.contains_key(&(ROOT, joined)) {
                continue;
            }
            let to = self.edge(ROOT, joined);
            if let Some(slot) = self.nodes.get_mut(to as usize) {
                *slot = rules;
            }
        }
    }

    fn intern(&mut self, word: &[u8]) -> u32 {
        let next = u32::try_from(self.words.len() + 1).unwrap_or(UNKNOWN);
        *self.words.entry(word.into()).or_insert(next)
    }

    fn edge(&mut self, node: u32, word: u32) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(0);
        let to = *self.edges.entry((node, word)).or_insert(next);
        if to == next {
            self.nodes.push(Vec::new());
        }
        to
    }

    pub(super) fn word(&self, form: &[u8]) -> Option<u32> {
        self.words.get(form).copied()
    }

    pub(super) fn next(&self, node: u32, word: u32) -> Option<u32> {
        if node == ROOT {
            return self.starts.get(word as usize).copied().filter(|&to| to != ROOT);
        }
        self.edges.get(&(node, word)).copied()
    }

    /// Words before a phrase that leave a tag a name of products.
    pub(super) fn audience(&self) -> &[u32] {
        &self.audience
    }

    /// Words that a number before them does not count.
    pub(super) fn uncounted(&self) -> &[u32] {
        &self.uncounted
    }

    pub(super) fn rules(&self, node: u32) -> &[Rule] {
        self.nodes.get(node as usize).map_or(&[], Vec::as_slice)
    }
}

fn forms(text: &str) -> Vec<Box<[u8]>> {
    let mut forms = Vec::new();
    each_word(text, |word| forms.push(word.form.into()));
    forms
}
