use std::sync::LazyLock;

use data_model::{CategoryId, CurrencyCode};
use data_text::stems;
use rustc_hash::{FxHashMap, FxHashSet};

use super::phrases::Phrases;
use super::{Answers, Meaning, Superlative};

/// A malformed line is skipped, because a test checks the files.
pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(Tables::shipped);

const WORDS: &str = include_str!("../../reference/understanding/words.tsv");
const PRICES: &str = include_str!("../../reference/understanding/prices.tsv");
const NEGATIONS: &str = include_str!("../../reference/understanding/negations.tsv");
const STATES: &str = include_str!("../../reference/understanding/states.tsv");
const OCCASIONS: &str = include_str!("../../reference/understanding/occasions.tsv");
const COLOURS: &str = include_str!("../../reference/colours.txt");

/// Price words that also occur in names with a number, such as `Air Max 97` and `Planner for 2027`.
const UNSURE: [&str; 18] = [
    "max", "maximum", "min", "minimum", "for", "in", "at", "@", "over", "plus", "only", "about", "near", "to", "-",
    "se", "mein", "me",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Ask,
    Beside,
    Stop,
    Grammar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriceRule {
    Most,
    Least,
    Between,
    About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Word(&'static str),
    Amount,
}

#[derive(Debug)]
pub(super) struct PricePattern {
    pub(super) rule: PriceRule,
    pub(super) pieces: Vec<Piece>,
    /// True if the amounts must have a currency or be large.
    pub(super) certain: bool,
    /// True if the words may also be a name, as in `max 97`.
    pub(super) unsure: bool,
}

impl PricePattern {
    pub(super) fn amounts(&self) -> usize {
        self.pieces.iter().filter(|piece| **piece == Piece::Amount).count()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Negator {
    Not,
    Lacks,
}

/// State of a product, such as on sale.
#[derive(Debug)]
pub(super) enum State {
    /// A state, at any position.
    Is(Meaning),
    /// Marked down, if the words end the text.
    Last,
    /// No state, because the words are a name.
    Name,
}

/// Purpose that some categories serve.
#[derive(Debug)]
pub(super) struct Need {
    /// Number of word groups, of which all must occur.
    pub(super) groups: u8,
    pub(super) answers: Answers,
}

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) roles: Phrases<Role>,
    kept: FxHashSet<&'static str>,
    pub(super) prices: Vec<PricePattern>,
    pub(super) price_words: FxHashSet<&'static str>,
    pub(super) units: FxHashSet<&'static str>,
    pub(super) before_counts: FxHashSet<&'static str>,
    currencies: FxHashMap<&'static str, CurrencyCode>,
    /// Number of months per unit.
    pub(super) age_units: FxHashMap<&'static str, u32>,
    pub(super) negators: Phrases<Negator>,
    pub(super) negators_behind: Phrases<()>,
    pub(super) suffixes: FxHashSet<&'static str>,
    pub(super) names: Phrases<()>,
    pub(super) says: FxHashMap<&'static str, Vec<&'static str>>,
    pub(super) skipped: FxHashSet<&'static str>,
    pub(super) stops: FxHashSet<&'static str>,
    pub(super) colours: FxHashSet<&'static str>,
    pub(super) states: Phrases<State>,
    pub(super) gift: Phrases<()>,
    pub(super) thing: Phrases<()>,
    pub(super) soft: Phrases<()>,
    pub(super) fan: Phrases<()>,
    pub(super) clothes: Phrases<()>,
    pub(super) who: Phrases<Vec<CategoryId>>,
    pub(super) kind: Phrases<Vec<CategoryId>>,
    pub(super) when: Phrases<Vec<CategoryId>>,
    pub(super) wear: Phrases<Answers>,
    pub(super) any: Vec<CategoryId>,
    /// Gift categories by age range in months.
    pub(super) children: Vec<(u32, u32, Vec<CategoryId>)>,
    pub(super) needs: Vec<Need>,
    /// Needs and their word groups, by the stem of a word in the group.
    pub(super) need_words: FxHashMap<String, Vec<(usize, u8)>>,
}

/// Accepts words and currency symbols.
pub(super) fn currency(word: &str) -> Option<CurrencyCode> {
    TABLES.currencies.get(word).copied()
}

/// Returns the factor of a word after a number, such as a thousand.
pub(super) fn multiplier(word: &str) -> Option<u64> {
    match word {
        "k" | "thousand" | "thousands" | "hazar" | "hazaar" | "hajar" | "हजार" | "हज़ार" => {
            Some(1_000)
        }
        "lakh" | "lakhs" | "lac" | "lacs" | "लाख" => Some(100_000),
        "crore" | "crores" | "करोड़" => Some(10_000_000),
        _ => None,
    }
}

pub(super) fn is_age_unit(word: &str) -> bool {
    TABLES.age_units.contains_key(word)
}

/// Returns true if a word alone marks the preceding number as an age.
pub(super) fn is_age_word(word: &str) -> bool {
    matches!(word, "yo" | "y.o" | "saal" | "sal" | "साल")
}

/// Returns true if a word must not be corrected as a misspelling.
#[must_use]
pub fn is_kept(word: &str) -> bool {
    TABLES.kept.contains(word)
}

/// Of several categories whose path ends in `end`, the one with the shortest path is returned.
pub(super) fn category(end: &str) -> Option<CategoryId> {
    let ends = |path: &&str| {
        let before = path.strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with(" > "))
    };
    let paths = data_taxonomy::all().iter().filter(|category| ends(&category.path));
    let shortest = paths.min_by_key(|category| category.path.matches(" > ").count());
    shortest.map(|category| category.id)
}

/// Returns the lines without comments. Each line is split at the tab into its kind and the rest.
pub(super) fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

impl Tables {
    pub(super) fn is_negation(&self, tokens: &[super::tokens::Token]) -> bool {
        let Some(first) = tokens.first() else { return false };
        let stands = self.negators.at(tokens).is_some() || self.negators_behind.at(tokens).is_some();
        stands || first.is_minus || first.word == "neither" || self.suffixes.contains(first.word.as_str())
    }

    /// Returns true if a single word is purely grammatical.
    pub(super) fn makes_sentences(&self, word: &str) -> bool {
        self.roles.words().any(|known| known == word)
    }

    fn shipped() -> Self {
        let mut tables = Self::default();
        tables.read_words();
        tables.read_prices();
        tables.read_negations();
        tables.read_states();
        lines(OCCASIONS).for_each(|(kind, rest)| tables.read_occasion(kind, rest));
        tables.colours = COLOURS.lines().filter(|line| !line.starts_with('#')).collect();
        let all = [
            tables.gift.words().collect::<Vec<_>>(),
            tables.who.words().collect(),
            tables.kind.words().collect(),
            tables.when.words().collect(),
            tables.wear.words().collect(),
            tables.clothes.words().collect(),
            tables.roles.words().collect(),
            tables.states.words().collect(),
        ];
        tables.kept.extend(all.into_iter().flatten());
        let month = |units: [&'static str; 6], months| units.map(|unit| (unit, months));
        let months = month(["month", "months", "mo", "mahine", "mahina", "महीने"], 1);
        let years = month(["year", "years", "yr", "yrs", "saal", "साल"], 12);
        tables.age_units = months
            .into_iter()
            .chain(years)
            .chain([("yo", 12), ("sal", 12)])
            .collect();
        tables
    }

    fn read_words(&mut self) {
        for (kind, words) in lines(WORDS) {
            let role = match kind {
                "ask" => Role::Ask,
                "beside" => Role::Beside,
                "stop" => Role::Stop,
                "grammar" => Role::Grammar,
                _ => {
                    self.kept.extend(words.split('\t'));
                    continue;
                }
            };
            words.split('\t').for_each(|phrase| self.roles.add(phrase, role));
        }
    }

    fn read_prices(&mut self) {
        for (kind, rest) in lines(PRICES) {
            let rule = match kind {
                "most" => PriceRule::Most,
                "least" => PriceRule::Least,
                "between" => PriceRule::Between,
                "about" => PriceRule::About,
                "currency" => {
                    self.read_currency(rest);
                    continue;
                }
                _ => {
                    let words = match kind {
                        "word" => &mut self.price_words,
                        "unit" => &mut self.units,
                        _ => &mut self.before_counts,
                    };
                    words.extend(rest.split('\t'));
                    continue;
                }
            };
            let pattern = rest.trim_end_matches(',');
            let piece = |word| if word == "N" { Piece::Amount } else { Piece::Word(word) };
            let mut words = pattern.split(' ').filter(|word| *word != "N");
            let unsure = words.all(|word| UNSURE.contains(&word));
            self.prices.push(PricePattern {
                rule,
                pieces: pattern.split(' ').map(piece).collect(),
                certain: pattern.len() < rest.len(),
                unsure,
            });
        }
        self.prices
            .sort_by_key(|pattern| std::cmp::Reverse(pattern.pieces.len()));
    }

    fn read_currency(&mut self, line: &'static str) {
        let mut fields = line.split('\t');
        let Some(code) = fields.next().and_then(|code| code.parse().ok()) else {
            return;
        };
        self.currencies.extend(fields.map(|word| (word, code)));
    }

    fn read_negations(&mut self) {
        for (kind, rest) in lines(NEGATIONS) {
            match kind {
                "not" => self.negators.add(rest, Negator::Not),
                "lacks" => self.negators.add(rest, Negator::Lacks),
                "after" => self.negators_behind.add(rest, ()),
                "suffix" => self.suffixes.extend([rest]),
                "name" => self.names.add(rest, ()),
                "skip" => self.skipped.extend(rest.split('\t')),
                "stop" => self.stops.extend(rest.split('\t')),
                _ => {
                    if let Some((of, ways)) = rest.split_once('\t') {
                        self.says.insert(of, ways.split('\t').collect());
                    }
                }
            }
        }
    }

    fn read_states(&mut self) {
        for (state, phrases) in lines(STATES) {
            for phrase in phrases.split('\t') {
                let meaning = match (state, Superlative::named(state)) {
                    (_, Some(order)) => State::Is(Meaning::Order(order)),
                    ("on_sale", _) => State::Is(Meaning::OnSale),
                    ("in_stock", _) => State::Is(Meaning::InStock),
                    ("last", _) => State::Last,
                    ("nothing", _) => State::Is(Meaning::Asking),
                    _ => State::Name,
                };
                self.states.add(phrase, meaning);
            }
        }
    }

    fn read_occasion(&mut self, kind: &str, rest: &'static str) {
        let mut fields = rest.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let (phrases, categories, hint) = (field(), field(), field());
        let ids = || -> Vec<CategoryId> { categories.split("; ").filter_map(category).collect() };
        let each = |table: &mut Phrases<()>| phrases.split(", ").for_each(|phrase| table.add(phrase, ()));
        let answers = || Answers {
            categories: ids(),
            hint,
        };
        let filed = |table: &mut Phrases<Vec<CategoryId>>| {
            let ids = ids();
            phrases.split(", ").for_each(|phrase| table.add(phrase, ids.clone()));
        };
        match kind {
            "gift" => each(&mut self.gift),
            "thing" => each(&mut self.thing),
            "soft" => each(&mut self.soft),
            "fan" => each(&mut self.fan),
            "clothes" => each(&mut self.clothes),
            "who" => filed(&mut self.who),
            "kind" => filed(&mut self.kind),
            "when" => filed(&mut self.when),
            "wear" => phrases.split(", ").for_each(|phrase| self.wear.add(phrase, answers())),
            "any" => self.any = ids(),
            "child" => {
                let years = phrases.split_once(' ');
                let years = years.and_then(|(from, to)| Some((from.parse::<u32>().ok()?, to.parse::<u32>().ok()?)));
                if let Some((from, to)) = years {
                    self.children.push((from * 12, to * 12, ids()));
                }
            }
            _ => {
                let answers = answers();
                self.read_need(phrases, answers);
            }
        }
    }

    fn read_need(&mut self, groups: &'static str, answers: Answers) {
        let need = self.needs.len();
        let mut count = 0_u8;
        for (group, words) in (0..u8::BITS as u8).zip(groups.split(' ')) {
            count = group + 1;
            for word in words.split('|') {
                for stem in stems(word) {
                    self.need_words.entry(stem).or_default().push((need, group));
                }
                self.kept.insert(word);
            }
        }
        self.needs.push(Need { groups: count, answers });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_of_the_tables_is_one() {
        let named = lines(OCCASIONS).filter_map(|(_, rest)| rest.split_once('\t'));
        let named = named.filter_map(|(_, rest)| rest.split('\t').next());
        for name in named.flat_map(|categories| categories.split("; ")) {
            assert!(category(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn every_line_of_the_tables_is_of_a_kind_that_is_known() {
        let known = [
            (WORDS, "ask beside stop grammar kept"),
            (PRICES, "most least between about word unit before currency"),
            (
                STATES,
                "on_sale in_stock last nothing name price_asc price_desc newest rating size_desc size_asc weight_desc \
                 weight_asc",
            ),
            (NEGATIONS, "not lacks after suffix name says skip stop"),
            (
                OCCASIONS,
                "soft gift thing fan clothes who kind when wear any child need",
            ),
        ];
        for (file, kinds) in known {
            for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let kind = line.split('\t').next().unwrap_or_default();
                assert!(
                    kinds.split(' ').any(|known| known == kind) && line.contains('\t'),
                    "{line:?}"
                );
            }
        }
        assert!(TABLES.currencies.len() > 40 && TABLES.children.len() == 4);
        assert!(TABLES.needs.iter().all(|need| !need.answers.categories.is_empty()));
    }
}
