//! Translates queries and titles from other languages to English, word by word.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use data_text::{Analysis, analyse};
use rustc_hash::FxHashMap;

use super::tables::{is_kept, lines};

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::shipped);

const LANGUAGES: &str = include_str!("../../reference/understanding/languages.tsv");
/// German, French, Spanish, Italian and Dutch, in the order of the file.
const COUNT: usize = 5;
/// Maximum bytes of a translated query.
const BYTES_MAX: usize = 200;
/// Minimum number of letters of a word whose ending may be replaced, and of its stem.
const INFLECTED_CHARS_MIN: usize = 4;
const STEM_CHARS_MIN: usize = 3;
/// Minimum number of letters of a compound word, and of each of its components.
const COMPOUND_CHARS_MIN: usize = 7;
const COMPONENT_CHARS_MIN: usize = 3;
/// Minimum number of letters of a word that identifies a language.
const TELLING_CHARS_MIN: usize = 4;
/// An apostrophe follows these elided words.
const ELIDED: [&str; 14] = [
    "d", "l", "j", "qu", "s", "n", "m", "c", "un", "dell", "all", "nell", "sull", "dall",
];
/// Letters between the components of a compound word.
const LINKS: [&str; 7] = ["", "s", "n", "en", "es", "er", "e"];
/// Minimum number of letters of a component that is in no language file.
const KNOWN_CHARS_MIN: usize = 4;
/// Inflected endings of each language, each with the ending in the language file.
const ENDINGS: [&[(&str, &str)]; COUNT] = [
    &[
        ("e", ""),
        ("en", ""),
        ("n", ""),
        ("er", ""),
        ("es", ""),
        ("em", ""),
        ("s", ""),
        ("en", "e"),
    ],
    &[("s", ""), ("x", ""), ("e", ""), ("es", "")],
    &[("s", ""), ("es", ""), ("a", "o"), ("as", "o"), ("os", "o"), ("as", "a")],
    &[
        ("i", "o"),
        ("i", "e"),
        ("e", "a"),
        ("a", "o"),
        ("e", "o"),
        ("hi", "o"),
        ("he", "a"),
    ],
    &[("en", ""), ("s", ""), ("e", ""), ("n", ""), ("je", ""), ("jes", "")],
];

#[derive(Debug)]
struct Form {
    /// Words after the first.
    rest: Box<[Box<str>]>,
    english: &'static str,
    language: u8,
    /// True if English also has the word.
    is_shared: bool,
    /// True for grammatical words, which name nothing.
    is_grammar: bool,
}

/// Words of all languages. A phrase has the key of its folded first word.
#[derive(Debug, Default)]
struct Lexicon {
    forms: FxHashMap<Box<str>, Vec<Form>>,
}

#[derive(Debug, Clone)]
struct Match {
    words: usize,
    english: Cow<'static, str>,
    is_shared: bool,
    is_grammar: bool,
    /// True for an inflected form or a compound of known words.
    is_made: bool,
}

#[derive(Debug)]
struct Word {
    text: String,
    at: Range<usize>,
}

/// A query translated to English.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedQuery {
    /// Text of the query in English.
    pub text: String,
    typed: String,
    pieces: Vec<Piece>,
}

/// Phrase of a translated query, with its range in the typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    english: Range<usize>,
    typed: Range<usize>,
    /// True if words of another language that name something were translated.
    is_translated: bool,
}

/// Typed words with their English translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation<'a> {
    /// Words as typed.
    pub of: &'a str,
    /// English translation.
    pub to: &'a str,
}

impl TranslatedQuery {
    /// Translates a query to English. Returns `None` if the text is already in English or in an unknown language.
    /// `is_titled` returns true for words that titles contain, which do not identify a language. `is_english` returns
    /// true for words of English text, even if other languages have them too.
    #[must_use]
    pub fn of(text: &str, is_titled: impl Fn(&str) -> bool, is_english: impl Fn(&str) -> bool) -> Option<Self> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let words = words(text);
        let is_strange = |word: &Word| {
            let is_word = word.text.chars().all(char::is_alphabetic);
            is_word && !is_titled(&word.text) && !is_kept(&word.text)
        };
        let is_long = |word: &Word| word.text.chars().count() >= TELLING_CHARS_MIN && !is_english(&word.text);
        // Titles may contain such words, but between words of their language they identify it.
        let joins = |word: &Word| LEXICON.joins(&word.text) && is_long(word);
        let is_number = |word: &Word| word.text.starts_with(|char: char| char.is_ascii_digit());
        let is_followed = |at: usize| words.get(at).is_some_and(is_number);
        if !words
            .iter()
            .any(|word| is_strange(word) || joins(word) || is_number(word))
        {
            return None;
        }
        let is_known = |word: &str| is_titled(word) || is_english(word);
        let matches: Vec<[Option<Match>; COUNT]> = (0..words.len())
            .map(|at| LEXICON.at(words.get(at..).unwrap_or_default(), &is_known))
            .collect();
        // A short word may be a prefix of another word, and English text also contains foreign words. Neither is
        // evidence of a language.
        let is_telling = |word: &Word| is_strange(word) && is_long(word);
        let tells = |at: usize, found: &Match| {
            let stretch = words.get(at..at + found.words).unwrap_or_default();
            let is_phrase = stretch.len() > 1 && !found.is_shared;
            // Words before a number show the relation of numbers, as in `tra 50 e 100`.
            let bounds = found.is_grammar && !found.english.is_empty() && is_followed(at + found.words);
            if bounds && !stretch.iter().any(|word| is_english(&word.text)) {
                return true;
            }
            stretch.iter().any(is_telling) || is_phrase && stretch.iter().any(is_strange)
        };
        let score = |language: usize| {
            let (mut at, mut score, mut is_told) = (0, 0, false);
            let (mut is_joined, mut is_named) = (false, false);
            while let Some(found) = matches.get(at) {
                let Some(found) = found.get(language).and_then(Option::as_ref) else {
                    at += 1;
                    continue;
                };
                is_told |= tells(at, found);
                let stretch = words.get(at..at + found.words).unwrap_or_default();
                is_joined |= found.is_grammar && stretch.iter().any(joins);
                is_named |= !found.is_grammar && !found.is_shared && stretch.iter().any(is_long);
                score += found.words * (2 - usize::from(found.is_grammar));
                at += found.words;
            }
            (is_told || is_joined && is_named).then_some(score)
        };
        let told = (0..COUNT)
            .rev()
            .filter_map(|language| Some((score(language)?, language)));
        let (_, language) = told.max_by_key(|(score, _)| *score)?;
        Some(Self::in_english(text, &words, |at| {
            matches.get(at)?.get(language)?.as_ref()
        }))
    }

    fn in_english<'m>(text: &str, words: &[Word], found: impl Fn(usize) -> Option<&'m Match>) -> Self {
        let mut translated = Self {
            text: String::with_capacity(text.len() + 16),
            typed: text.to_owned(),
            pieces: Vec::with_capacity(words.len()),
        };
        let (mut at, mut from) = (0, 0);
        while let Some(word) = words.get(at) {
            let found = found(at);
            let last = words.get(at + found.map_or(1, |found| found.words) - 1).unwrap_or(word);
            let typed = word.at.start..last.at.end;
            translated
                .text
                .push_str(text.get(from..typed.start).unwrap_or_default());
            let start = translated.text.len();
            let own = || text.get(typed.clone()).unwrap_or_default();
            translated
                .text
                .push_str(found.map_or_else(own, |found| &*found.english));
            from = typed.end;
            translated.pieces.push(Piece {
                english: start..translated.text.len(),
                typed,
                is_translated: found.is_some_and(|found| !found.is_grammar),
            });
            at += found.map_or(1, |found| found.words);
        }
        translated.text.push_str(text.get(from..).unwrap_or_default());
        translated
    }

    /// Returns the typed words for `part` of the English text.
    #[must_use]
    pub fn typed<'a>(&'a self, part: &'a str) -> &'a str {
        let start = self.text.find(part).unwrap_or(0);
        let end = start + part.len();
        let within = |piece: &&Piece| piece.english.start < end && start < piece.english.end;
        let mut pieces = self.pieces.iter().filter(within);
        let Some(first) = pieces.next() else { return part };
        let last = pieces.next_back().unwrap_or(first);
        // Punctuation before and after words is the same in both texts.
        let from = first.typed.start - first.english.start.saturating_sub(start).min(first.typed.start);
        let to = last.typed.end + end.saturating_sub(last.english.end);
        self.typed.get(from..to).unwrap_or(part)
    }

    /// Returns the translated words that name something.
    pub fn words(&self) -> impl Iterator<Item = Translation<'_>> {
        let translated = self.pieces.iter().filter(|piece| piece.is_translated);
        translated.filter_map(|piece| {
            Some(Translation {
                of: self.typed.get(piece.typed.clone())?,
                to: self.text.get(piece.english.clone())?,
            })
        })
    }
}

/// Returns one English translation of a folded title word per language that has it. A component of a compound word may
/// be an English word that satisfies `is_known`.
pub fn in_english(word: &str, is_known: impl Fn(&str) -> bool) -> impl Iterator<Item = TitleWord> {
    let word = [Word {
        text: word.to_owned(),
        at: 0..0,
    }];
    let found = (0_u8..).zip(LEXICON.at(&word, &is_known));
    let named = found.filter_map(|(language, found)| Some((language, found.filter(|found| !found.is_grammar)?)));
    named.map(|(language, found)| TitleWord {
        english: found.english,
        language,
        is_shared: found.is_shared,
        is_made: found.is_made,
    })
}

/// English translation of a title word in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleWord {
    /// One or more English words.
    pub english: Cow<'static, str>,
    /// Index of the language.
    pub language: u8,
    /// True if English also has the word.
    pub is_shared: bool,
    /// True for an inflected form or a compound.
    pub is_made: bool,
}

/// Returns the single words for `without` and `no` in other languages.
pub fn without_words() -> impl Iterator<Item = &'static str> {
    let denies = |form: &&Form| form.rest.is_empty() && matches!(form.english, "without" | "no");
    let words = LEXICON.forms.iter();
    words
        .filter(move |(_, forms)| forms.iter().any(|form| denies(&form)))
        .map(|(word, _)| &**word)
}

/// Returns true for a folded word of another language, which is therefore not misspelt.
#[must_use]
pub fn is_foreign(word: &str) -> bool {
    in_english(word, |_| false).any(|found| !found.is_shared)
}

impl Lexicon {
    fn shipped() -> Self {
        let mut lexicon = Self::default();
        for (kind, rest) in lines(LANGUAGES) {
            let mut fields = rest.split('\t');
            let english = fields.next().filter(|english| *english != "-").unwrap_or_default();
            for (language, phrases) in (0_u8..).zip(fields) {
                for phrase in phrases.split(", ").filter(|phrase| !phrase.is_empty()) {
                    let plain = phrase.trim_start_matches('~');
                    let mut words = words(plain).into_iter().map(|word| word.text.into_boxed_str());
                    let Some(first) = words.next() else { continue };
                    let of_first = lexicon.forms.entry(first).or_default();
                    of_first.push(Form {
                        rest: words.collect(),
                        english,
                        language,
                        is_shared: plain.len() < phrase.len(),
                        is_grammar: kind == "grammar",
                    });
                }
            }
        }
        lexicon.forms.values_mut().for_each(Vec::shrink_to_fit);
        lexicon.forms.shrink_to_fit();
        lexicon
    }

    /// Returns the translation of the first of `words` for each language. The longest phrase is preferred, then the
    /// first word with another ending, then the first word as a compound.
    fn at(&self, words: &[Word], is_known: &dyn Fn(&str) -> bool) -> [Option<Match>; COUNT] {
        let mut found: [Option<Match>; COUNT] = [const { None }; COUNT];
        let Some(first) = words.first() else { return found };
        for form in self.forms.get(first.text.as_str()).into_iter().flatten() {
            let follow = words.get(1..=form.rest.len()).unwrap_or_default();
            let stands = follow.len() == form.rest.len()
                && follow.iter().zip(&form.rest).all(|(word, rest)| *word.text == **rest);
            let best = found.get_mut(usize::from(form.language));
            let Some(best) =
                best.filter(|best| stands && best.as_ref().is_none_or(|best| best.words <= form.rest.len()))
            else {
                continue;
            };
            *best = Some(Match {
                words: form.rest.len() + 1,
                english: form.english.into(),
                is_shared: form.is_shared,
                is_grammar: form.is_grammar,
                is_made: false,
            });
        }
        if found.iter().all(Option::is_none) {
            for (language, found) in found.iter_mut().enumerate() {
                let form = self.inflected(&first.text, language);
                let english = form.map(|form| Cow::Borrowed(form.english));
                let english = english.or_else(|| self.compound(&first.text, language, 2, &|_| false));
                let english = english.or_else(|| self.compound(&first.text, language, 1, is_known));
                *found = english.map(|english| Match {
                    words: 1,
                    english,
                    is_shared: form.is_some_and(|form| form.is_shared),
                    is_grammar: false,
                    is_made: true,
                });
            }
        }
        found
    }

    /// Returns true for a grammatical word of another language.
    fn joins(&self, word: &str) -> bool {
        let mut forms = self.forms.get(word).into_iter().flatten();
        forms.any(|form| form.is_grammar && !form.is_shared)
    }

    /// Returns `None` for grammatical words and for the first words of phrases.
    fn one(&self, word: &str, language: usize) -> Option<&Form> {
        let mut forms = self.forms.get(word)?.iter();
        forms.find(|form| usize::from(form.language) == language && form.rest.is_empty() && !form.is_grammar)
    }

    /// Removes an inflected ending. Also accepts German umlauts spelled with an `e`, such as `ae`.
    fn inflected(&self, word: &str, language: usize) -> Option<&Form> {
        if word.chars().count() < INFLECTED_CHARS_MIN {
            return None;
        }
        let endings = ENDINGS.get(language).copied().unwrap_or_default().iter();
        let mut forms = endings.filter_map(|(ending, base)| {
            let stem = word
                .strip_suffix(ending)
                .filter(|stem| stem.chars().count() >= STEM_CHARS_MIN)?;
            if !base.is_empty() {
                return self.one(&format!("{stem}{base}"), language);
            }
            let undoubled = || {
                self.one(stem.get(..stem.len() - 1)?, language)
                    .filter(|_| is_doubled(stem))
            };
            self.one(stem, language).or_else(undoubled)
        });
        if let Some(form) = forms.next() {
            return Some(form);
        }
        let is_spelt = ["ae", "oe", "ue"].iter().any(|pair| word.contains(pair));
        if language != 0 || !is_spelt {
            return None;
        }
        let plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u");
        self.one(&plain, language).or_else(|| self.inflected(&plain, language))
    }

    /// Translates a German or Dutch compound word such as `Lederjacke`. Its first component may be one that satisfies
    /// `is_known`, as in `Fleecejacke`, if the word as a whole does not.
    fn compound(
        &self,
        word: &str,
        language: usize,
        depth: usize,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Option<Cow<'static, str>> {
        let is_compounding = matches!(language, 0 | 4);
        if !is_compounding || depth == 0 || word.len() < COMPOUND_CHARS_MIN || is_known(word) {
            return None;
        }
        let mut cuts = word
            .char_indices()
            .map(|(at, _)| at)
            .filter(|at| *at >= COMPONENT_CHARS_MIN && word.len() - *at >= COMPONENT_CHARS_MIN);
        cuts.find_map(|at| {
            let (before, rest) = word.split_at_checked(at)?;
            let with = |ending: &str| self.one(&format!("{before}{ending}"), language);
            let linked = || {
                let mut owns = LINKS.iter().filter_map(|link| before.strip_suffix(link));
                owns.find_map(|own| self.one(own, language).filter(|_| own.len() >= COMPONENT_CHARS_MIN))
            };
            // The verb `wandern` in `Wanderschuhe` is tried before `Wand` with a link.
            let first = with("").or_else(|| with("n")).or_else(linked);
            let first = first.or_else(|| with("e")).or_else(|| with("en"));
            let is_word = before.len() >= KNOWN_CHARS_MIN && rest.len() >= KNOWN_CHARS_MIN && is_known(before);
            let first = first.map(|form| form.english).or(is_word.then_some(before))?;
            let head = self.one(rest, language).or_else(|| self.inflected(rest, language));
            let head = head.map(|form| Cow::Borrowed(form.english));
            let head = head.or_else(|| self.compound(rest, language, depth - 1, is_known))?;
            Some(format!("{first} {head}").into())
        })
    }
}

/// Returns true if a word ends in a double letter.
fn is_doubled(word: &str) -> bool {
    let mut chars = word.bytes().rev();
    let last = chars.next();
    last.is_some_and(|last| last.is_ascii_alphabetic()) && last == chars.next()
}

/// Letters before an apostrophe become a separate word.
fn words(text: &str) -> Vec<Word> {
    let apart: Cow<'_, str> = if text.contains(['\'', '\u{2019}']) {
        elided(text).into()
    } else {
        text.into()
    };
    let terms = analyse(Analysis::Plain, &apart).into_iter();
    let word = |term: data_text::Term| Word {
        text: if term.text.contains('ß') {
            term.text.replace('ß', "ss")
        } else {
            term.text
        },
        at: term.offsets,
    };
    terms.map(word).collect()
}

/// Replaces the apostrophes after elided words by spaces, as in `l'huile d'olive`. The other characters keep their
/// positions.
fn elided(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for char in text.chars() {
        let before = apart
            .rsplit(|char: char| !char.is_alphanumeric())
            .next()
            .unwrap_or_default();
        if matches!(char, '\'' | '\u{2019}') && ELIDED.contains(&before.to_lowercase().as_str()) {
            apart.extend(std::iter::repeat_n(' ', char.len_utf8()));
        } else {
            apart.push(char);
        }
    }
    apart
}

#[cfg(test)]
mod tests;
