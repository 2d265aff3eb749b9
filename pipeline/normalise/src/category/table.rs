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

/// The node every phrase starts at.
pub(super) const ROOT: u32 = 0;

/// Most words in one phrase.
pub(super) const PHRASE_WORDS_MAX: usize = 4;

/// How much a phrase says about the product that bears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
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
    /// `None`: the noun is known, but it alone does not tell the category ("kit", "case").
    pub(super) category: Option<ProductCategory>,
    pub(super) strength: Strength,
    /// Any of these words has to stand in the same text; empty: holds always.
    pub(super) context: Vec<u32>,
}

/// Why a line of the file is no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadRule {
    Columns,
    NoSuchCategory,
    PhraseLength,
    Mark,
    Repeated,
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
}

/// Words that say who a product is for, or how much of the shop a tag covers.
static AUDIENCE: &str = "all men women mens womens unisex ladies kids boys girls new our";

impl Table {
    /// Reads the rules; a line that is none is reported by its number and left out.
    pub(super) fn read(text: &str) -> (Self, Vec<(usize, BadRule)>) {
        let mut table = Self {
            nodes: vec![Vec::new()],
            ..Self::default()
        };
        let mut bad = Vec::new();
        let mut pairs = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match table.add_line(line) {
                Ok(phrase) if phrase.len() == 2 => pairs.push(phrase),
                Ok(_) => {}
                Err(error) => bad.push((number + 1, error)),
            }
        }
        table.join_pairs(&pairs);
        for word in forms(AUDIENCE) {
            let id = table.intern(&word);
            table.audience.push(id);
        }
        table.starts = vec![ROOT; table.words.len() + 1];
        for (&(node, word), &to) in &table.edges {
            if node == ROOT
                && let Some(start) = table.starts.get_mut(word as usize)
            {
                *start = to;
            }
        }
        for rules in &mut table.nodes {
            rules.sort_by_key(|rule| rule.context.is_empty());
        }
        (table, bad)
    }

    /// `phrase TAB path [TAB mark] [TAB context]`
    fn add_line(&mut self, line: &str) -> Result<Vec<Box<[u8]>>, BadRule> {
        let mut columns = line.split('\t');
        let (Some(phrase), Some(path)) = (columns.next(), columns.next()) else {
            return Err(BadRule::Columns);
        };
        let category = match path {
            "-" => None,
            _ => Some(ProductCategory::from_name(path).map_err(|_| BadRule::NoSuchCategory)?),
        };
        let strength = match columns.next().unwrap_or("") {
            "" => Strength::Head,
            "weak" => Strength::Weak,
            "broad" => Strength::Broad,
            "decisive" => Strength::Decisive,
            _ => return Err(BadRule::Mark),
        };
        let mut context = Vec::new();
        for word in forms(columns.next().unwrap_or("")) {
            context.push(self.intern(&word));
        }
        let phrase = forms(phrase);
        if phrase.is_empty() || phrase.len() > PHRASE_WORDS_MAX {
            return Err(BadRule::PhraseLength);
        }
        let mut node = ROOT;
        for word in &phrase {
            let word = self.intern(word);
            node = self.edge(node, word);
        }
        let Some(rules) = self.nodes.get_mut(node as usize) else {
            return Err(BadRule::PhraseLength);
        };
        if rules.iter().any(|rule| rule.context == context) {
            return Err(BadRule::Repeated);
        }
        rules.push(Rule {
            category,
            strength,
            context,
        });
        Ok(phrase)
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

    pub(super) fn rules(&self, node: u32) -> &[Rule] {
        self.nodes.get(node as usize).map_or(&[], Vec::as_slice)
    }
}

fn forms(text: &str) -> Vec<Box<[u8]>> {
    let mut forms = Vec::new();
    each_word(text, |word| forms.push(word.form.into()));
    forms
}
