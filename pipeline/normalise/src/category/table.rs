//! Stores the rules of `categories.tsv` as a trie over words.

use std::sync::{LazyLock, OnceLock};

use google_taxonomy::ProductCategory;
use rustc_hash::{FxHashMap, FxHashSet};

use super::vectors::Names;
use super::words::each_word;

static RULES: &str = include_str!("../../../../data/reference/categories.tsv");
static NOUNS: &str = include_str!("../../../../data/reference/category-nouns.tsv");
static SETTINGS: &str = include_str!("../../../../data/reference/category-settings.tsv");
static COLOURS: &str = include_str!("../../../../data/reference/colours.txt");

/// The table is built at its first use.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::without(FxHashSet::default()));

/// Minimum number of letters of a noun at the end of a compound word, and of the letters before it.
const ENDING_AFTER_MIN: usize = 3;
const ENDING_BYTES_MIN: usize = 4;

/// Id of a word that is in no rule.
pub(super) const UNKNOWN: u32 = 0;

/// Mark in place of a path, for nouns that name a category only with further words.
const OPEN: &str = "-";

/// Mark in place of a path, for phrases that do not indicate the kind of the product.
const FEATURE: &str = "+";

/// Every phrase starts at this node.
pub(super) const ROOT: u32 = 0;

pub(super) const PHRASE_WORDS_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The phrase hides the nouns that it contains, as in "single handle" and "gift box".
    Feature,
    /// The phrase names the product only if it is the whole product type or tag ("Caps"). Elsewhere it is a noun
    /// without a category.
    Alone,
    /// The phrase names a department. Any noun of the title takes precedence.
    Broad,
    /// The word is also a colour, flavour, motif or brand. It counts only if no other word names a product.
    Weak,
    /// The phrase is a product noun. The last product noun in a noun phrase is its head.
    Head,
    /// The phrase decides regardless of its position.
    Decisive,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `None` if the noun names a category only with further words ("kit", "case").
    pub(super) category: Option<ProductCategory>,
    pub(super) strength: Strength,
    /// Words of which one must be in the same text. If there are none, the rule always applies.
    pub(super) context: Vec<u32>,
    /// Second meaning of the phrase, for shops that sell such things.
    pub(super) other: Option<ProductCategory>,
}

/// Error in a line or phrase of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadRule {
    /// The line has no path and tab.
    NoPath,
    /// The path is not in the taxonomy.
    NoSuchCategory(String),
    /// The phrase has no words, or more than [`PHRASE_WORDS_MAX`].
    PhraseLength(String),
    /// Another line defines the same phrase with the same context.
    Repeated(String),
    /// A second meaning is given for a phrase without a first meaning above it.
    NoFirstMeaning(String),
}

/// Words that change the category of a product. For example, baby clothes are not in the category of clothes.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) words: Vec<u32>,
    /// Products of the first category and its subcategories move to the second.
    pub(super) moves: Vec<(ProductCategory, ProductCategory)>,
}

#[derive(Debug)]
pub(crate) struct Table {
    words: FxHashMap<Box<[u8]>, u32>,
    /// The next node for each node and word.
    edges: FxHashMap<(u32, u32), u32>,
    /// Edges out of the root by word. It is an array because most words of a title start no phrase.
    starts: Vec<u32>,
    nodes: Vec<Vec<Rule>>,
    audience: Vec<u32>,
    uncounted: Vec<u32>,
    parts: Vec<u32>,
    /// `true` for the id of a word that does not indicate the kind of a product.
    plain: Vec<bool>,
    /// Categories of the phrases that end in each word.
    meanings: FxHashMap<u32, Vec<ProductCategory>>,
    settings: Vec<Setting>,
    /// Nouns at the end of German and Dutch compound words, each with the id of its word.
    ends: FxHashMap<Box<[u8]>, u32>,
    /// Phrases that are excluded, to measure their effect.
    left_out: FxHashSet<String>,
    /// Phrases that name a category, as they are written.
    pub(super) phrases: Vec<(Box<str>, ProductCategory)>,
    pub(super) vectors: OnceLock<Names>,
    /// Categories of accessories and parts, by the singular name of the product they are for.
    pub(super) accessories: FxHashMap<&'static str, ProductCategory>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            words: FxHashMap::default(),
            edges: FxHashMap::default(),
            starts: Vec::new(),
            nodes: vec![Vec::new()],
            audience: Vec::new(),
            uncounted: Vec::new(),
            parts: Vec::new(),
            plain: Vec::new(),
            meanings: FxHashMap::default(),
            settings: Vec::new(),
            ends: FxHashMap::default(),
            left_out: FxHashSet::default(),
            phrases: Vec::new(),
            vectors: OnceLock::new(),
            accessories: FxHashMap::default(),
        }
    }
}

/// Words that name the users of a product, or the share of the shop that a tag covers.
static AUDIENCE: &str = "all men women mens womens unisex ladies kids boys girls new our";

/// A number before one of these things is a model number and not a count.
static UNCOUNTED: &str = "case cover sleeve band strap charger battery";

/// Words of a product that is a part of another product.
static PARTS: &str = "spare spares sparepart replacement ersatzteil ersatzteile detachee repuesto recambio ricambio ricambi \
    onderdeel onderdelen reserveonderdelen";

/// Words other than colours that do not indicate the kind of the product.
static PLAIN: &str = "size small medium large xl xxl xs mini maxi midi long short slim regular relaxed oversized fit unisex \
    men man women woman boy girl kid adult new old edition limited classic premium luxury original pure organic natural \
    set pack pair piece combo bundle duo trio boite caja paquete paire paar juego lot single double triple twin queen king full series collection style model version gen pro max \
    plus lite ultra printed print striped solid plain embroidered floral cotton linen silk wool leather denim velvet \
    chiffon georgette satin polyester rayon wooden metal steel stainless glass ceramic plastic bamboo silicone rubber \
    handmade handcrafted handwoven vintage modern design designer clearance sale inch left right replica authentic";

impl Table {
    /// Creates a table from these rules only. Returns its invalid lines.
    #[cfg(test)]
    pub(super) fn read(text: &str) -> (Self, Vec<(usize, BadRule)>) {
        let mut table = Self::default();
        let bad = table.add_rules(text);
        table.finish();
        (table, bad)
    }

    /// Creates the table from all files, without these phrases.
    pub(super) fn without(phrases: FxHashSet<String>) -> Self {
        let mut table = Self {
            left_out: phrases,
            ..Self::default()
        };
        table.add_rules(RULES);
        table.left_out = FxHashSet::default();
        table.add_rules(NOUNS);
        table.add_names();
        table.add_settings(SETTINGS);
        table.finish();
        table
    }

    pub(super) fn spelt(&self, ids: &[u32]) -> String {
        let spelt = |id: &u32| {
            let word = self.words.iter().find(|(_, known)| *known == id);
            word.map_or_else(String::new, |(form, _)| String::from_utf8_lossy(form).into_owned())
        };
        ids.iter().map(spelt).collect::<Vec<_>>().join(" ")
    }

    /// Returns the invalid lines.
    pub(super) fn add_rules(&mut self, text: &str) -> Vec<(usize, BadRule)> {
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
                match self.add(phrase.trim(), category, feature) {
                    Ok(words) if words.len() == 2 => pairs.push(words),
                    Ok(_) => {}
                    Err(error) => bad.push((number + 1, error)),
                }
            }
        }
        self.join_pairs(&pairs);
        bad
    }

    /// Adds `[~*!=^%]phrase [context]`. Returns the words of the phrase.
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
        let is_other = phrase.starts_with('^');
        let mut words = forms(phrase);
        if phrase.starts_with('%')
            && let Some(end) = words.pop()
        {
            let word: Box<[u8]> = [b"%", &*end].concat().into();
            let id = self.intern(&word);
            self.ends.insert(end, id);
            words.push(word);
        }
        if words.is_empty() || words.len() > PHRASE_WORDS_MAX {
            return Err(BadRule::PhraseLength(entry.to_owned()));
        }
        let spelt = words
            .iter()
            .map(|word| String::from_utf8_lossy(word))
            .collect::<Vec<_>>();
        if self.left_out.contains(&spelt.join(" ")) || self.left_out.contains(&spelt.concat()) {
            return Ok(Vec::new());
        }
        let context = forms(context).iter().map(|word| self.intern(word)).collect();
        let (mut node, mut last) = (ROOT, UNKNOWN);
        for word in &words {
            last = self.intern(word);
            node = self.edge(node, last);
        }
        if let Some(category) = category {
            let phrase = phrase.trim_start_matches(['~', '*', '!', '=', '^', '%']).trim();
            self.phrases.push((phrase.into(), category));
        }
        if let Some(category) = category.filter(|_| strength != Strength::Broad) {
            let meanings = self.meanings.entry(last).or_default();
            if !meanings.contains(&category) {
                meanings.push(category);
            }
        }
        let Some(rules) = self.nodes.get_mut(node as usize) else {
            return Err(BadRule::PhraseLength(entry.to_owned()));
        };
        let known = rules.iter_mut().find(|rule| rule.context == context);
        match known {
            Some(known) if is_other && known.other.is_none() && category.is_some() => known.other = category,
            Some(_) => return Err(BadRule::Repeated(entry.to_owned())),
            None if is_other => return Err(BadRule::NoFirstMeaning(entry.to_owned())),
            None => rules.push(Rule {
                category,
                strength,
                context,
                other: None,
            }),
        }
        Ok(words)
    }

    /// Sorts rules with a context first, and fills the array of root edges.
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
        for word in forms(PARTS) {
            let id = self.intern(&word);
            self.parts.push(id);
        }
        for word in COLOURS.lines().chain([PLAIN]).flat_map(forms) {
            let id = self.intern(&word) as usize;
            if self.plain.len() <= id {
                self.plain.resize(id + 1, false);
            }
            if let Some(plain) = self.plain.get_mut(id) {
                *plain = true;
            }
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

    /// Adds each two-word phrase as a single word too, because "air fryer" is also written "airfryer".
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

    /// Adds a phrase with its category, unless the phrase already has a rule.
    pub(super) fn add_unless_known(&mut self, entry: &str, category: ProductCategory) -> Result<(), BadRule> {
        let mut node = Some(ROOT);
        for word in forms(entry) {
            node = node
                .zip(self.word(&word))
                .and_then(|edge| self.edges.get(&edge).copied());
        }
        if node.is_some_and(|node| node != ROOT && !self.rules(node).is_empty()) {
            return Err(BadRule::Repeated(entry.to_owned()));
        }
        self.add(entry, Some(category), false).map(|_| ())
    }

    /// A setting is a line of words that starts with `@`, followed by one line of path TAB path for each move.
    pub(super) fn add_settings(&mut self, text: &str) -> Vec<(usize, BadRule)> {
        let mut bad = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(words) = line.strip_prefix('@') {
                let words = forms(words).iter().map(|word| self.intern(word)).collect();
                self.settings.push(Setting {
                    words,
                    moves: Vec::new(),
                });
                continue;
            }
            let category =
                |path: &str| ProductCategory::from_name(path).map_err(|_| BadRule::NoSuchCategory(path.to_owned()));
            let read = line.split_once('\t').ok_or(BadRule::NoPath);
            match read.and_then(|(from, to)| Ok((category(from)?, category(to)?))) {
                Ok(pair) => self
                    .settings
                    .last_mut()
                    .into_iter()
                    .for_each(|setting| setting.moves.push(pair)),
                Err(error) => bad.push((number + 1, error)),
            }
        }
        bad
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

    /// Returns the noun at the end of a compound word, such as "Lederjacke" or "Bürostühle".
    pub(super) fn ending(&self, form: &[u8]) -> Option<u32> {
        if form.len() < ENDING_AFTER_MIN + ENDING_BYTES_MIN {
            return None;
        }
        let plurals: [&[u8]; 5] = [b"", b"n", b"en", b"e", b"er"];
        let stems = plurals.iter().filter_map(|plural| form.strip_suffix(*plural));
        let ends = |stem: &[u8]| {
            let starts = ENDING_AFTER_MIN..(stem.len() + 1).saturating_sub(ENDING_BYTES_MIN);
            starts
                .filter_map(|start| stem.get(start..))
                .find_map(|end| self.ends.get(end).copied())
        };
        stems.into_iter().find_map(ends)
    }

    pub(super) fn next(&self, node: u32, word: u32) -> Option<u32> {
        if node == ROOT {
            return self.starts.get(word as usize).copied().filter(|&to| to != ROOT);
        }
        self.edges.get(&(node, word)).copied()
    }

    /// Words that may precede a product name in a tag.
    pub(super) fn audience(&self) -> &[u32] {
        &self.audience
    }

    /// Words that a number before them does not count.
    pub(super) fn uncounted(&self) -> &[u32] {
        &self.uncounted
    }

    pub(super) fn part_words(&self) -> &[u32] {
        &self.parts
    }

    pub(super) fn is_plain(&self, word: u32) -> bool {
        self.plain.get(word as usize).copied().unwrap_or(false)
    }

    pub(super) fn meanings(&self, word: u32) -> &[ProductCategory] {
        self.meanings.get(&word).map_or(&[], Vec::as_slice)
    }

    pub(super) fn settings(&self) -> &[Setting] {
        &self.settings
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
