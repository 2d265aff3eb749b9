use std::ops::Range;

use super::intent::{BrandNames, NAME_WORDS_MAX, spoken};
use super::numerals;
use super::sentence::Sentence;
use super::tables::{Negator, TABLES};
use super::tokens::Token;
use super::{Absence, Meaning};

/// Maximum number of words of an object before its negator.
const OBJECT_WORDS_MAX: usize = 3;

/// Maximum number of words of the last object in a list after `except`.
const LAST_WORDS_MAX: usize = 2;

/// Words before the name of a brand.
const BRAND_CUES: [&str; 4] = ["from", "by", "brand", "brands"];

/// After these words, `from` does not introduce a brand: `free from`, `apart from`.
const OTHER_FROM: [&str; 3] = ["free", "apart", "aside"];

/// Words before `not` that make it say what a product does: `that will not leak`. Nothing is refused then.
const AUXILIARIES: [&str; 9] = ["will", "would", "does", "do", "did", "can", "could", "should", "must"];

/// Words of a negator whose list of objects may continue with `and`: `except nike and adidas`.
const EXCEPTIVE: [&str; 5] = ["except", "excluding", "exclude", "than", "apart"];

struct Object {
    tokens: Range<usize>,
    brand: Option<usize>,
    /// True if nearby words call the object a brand.
    is_said: bool,
}

impl Object {
    fn words(tokens: Range<usize>) -> Self {
        Self {
            tokens,
            brand: None,
            is_said: false,
        }
    }
}

struct Ahead {
    negator: Range<usize>,
    kind: Negator,
    is_exceptive: bool,
    /// True if the words introduce the name of a brand.
    is_of_brand: bool,
}

/// A negation without any other content is ignored, because users do not search for everything except one thing.
pub(super) fn read(sentence: &mut Sentence<'_>, names: &dyn BrandNames) {
    let mut at = 0;
    while at < sentence.tokens.len() {
        at = one(sentence, at, names).max(at + 1);
    }
}

/// Reads the negation at a token and returns the index of the next token.
fn one(sentence: &mut Sentence<'_>, at: usize, names: &dyn BrandNames) -> usize {
    let rest = sentence.tokens.get(at..).unwrap_or_default();
    if !rest.first().is_some_and(Token::is_free) {
        return at + 1;
    }
    if let Some((words, ())) = TABLES.names.at(rest) {
        let name = sentence.tokens.get_mut(at..at + words).unwrap_or_default();
        name.iter_mut().for_each(|token| token.is_name = true);
        return at + words;
    }
    if rest.first().is_some_and(|token| token.is_minus && token.is_word()) {
        return minus(sentence, at, names);
    }
    if let Some((words, ())) = TABLES.negators_behind.at(rest)
        && let Some(object) = before(sentence, at, words, names)
    {
        let meaning = match object.brand {
            Some(brand) => Meaning::ExcludedBrand(brand),
            None => Meaning::Lacking(lacking(&words_of(sentence, &object.tokens))),
        };
        sentence.read(object.tokens.start..at + words, meaning);
        return at + words;
    }
    let is_of_verb = || {
        at.checked_sub(1)
            .is_some_and(|before| sentence.is(before, &AUXILIARIES))
    };
    if let Some((words, kind)) = TABLES.negators.at(rest) {
        if words == 1 && sentence.is(at, &["not"]) && is_of_verb() {
            sentence.read(at..at + 1, Meaning::Asking);
            return at + 1;
        }
        let negator = rest.get(..words).unwrap_or_default();
        let has = |words: &[&str]| negator.iter().any(|token| words.contains(&token.word.as_str()));
        let ahead = Ahead {
            negator: at..at + words,
            kind: *kind,
            is_exceptive: has(&EXCEPTIVE) || has(&["but"]) && !has(&["not"]),
            is_of_brand: has(&BRAND_CUES) && !has(&OTHER_FROM),
        };
        return refuse(sentence, &ahead, names).unwrap_or(at + words);
    }
    suffix(sentence, at).unwrap_or(at + 1)
}

/// Reads a minus sign before a word, as in `-black` or `-mom-fit`.
fn minus(sentence: &mut Sentence<'_>, at: usize, names: &dyn BrandNames) -> usize {
    let object = joined(sentence, at);
    if sentence.says_more(|other| object.contains(&other)) {
        let tokens = sentence.tokens.get(object.clone()).unwrap_or_default();
        let meaning = match spoken(tokens, names) {
            Some((words, brand)) if words == object.len() && !brand.is_plain && !says_other(tokens) => {
                Meaning::ExcludedBrand(brand.at)
            }
            _ => Meaning::Excluded(vec![words_of(sentence, &object)]),
        };
        sentence.read(object.clone(), meaning);
    }
    object.end
}

/// Returns the range of a token and of those that hyphens join to it.
fn joined(sentence: &Sentence<'_>, at: usize) -> Range<usize> {
    let more = sentence.tokens.get(at + 1..).unwrap_or_default();
    let more = more
        .iter()
        .take_while(|token| token.is_joined && token.is_free())
        .count();
    at..at + 1 + more
}

/// Returns the object before a negator of `words` words. It is one word, or up to three words if the wanted product
/// follows the negator, as in `green tea ke alawa chai`.
fn before(sentence: &Sentence<'_>, at: usize, words: usize, names: &dyn BrandNames) -> Option<Object> {
    let is_skipped = |at: &usize| {
        let token = sentence.tokens.get(*at);
        token.is_some_and(|token| TABLES.skipped.contains(token.word.as_str()))
    };
    let is_object = |at: &usize| sentence.is_content(*at) && sentence.tokens.get(*at).is_some_and(Token::is_free);
    let last = (0..at).rev().find(|at| !is_skipped(at)).filter(is_object)?;
    let has_thing = sentence.content().any(|other| other >= at + words);
    let most = if has_thing { OBJECT_WORDS_MAX } else { 1 };
    let object = match brand_before(sentence, last, names) {
        Some(object) => object,
        None => {
            let first = (0..=last).rev().take(most).take_while(is_object).last()?;
            Object::words(first..last + 1)
        }
    };
    let is_refused = |other: usize| object.tokens.contains(&other) || (at..at + words).contains(&other);
    sentence.says_more(is_refused).then_some(object)
}

/// Returns the brand whose name ends at a token, or before it if the token is `brand`.
fn brand_before(sentence: &Sentence<'_>, last: usize, names: &dyn BrandNames) -> Option<Object> {
    let is_said = sentence.is(last, &["brand", "brands"]);
    let end = last + usize::from(!is_said);
    (end.saturating_sub(NAME_WORDS_MAX)..end).find_map(|first| {
        let tokens = sentence.tokens.get(first..end)?;
        let (words, brand) = spoken(tokens, names)?;
        let is_sure = is_said || !brand.is_plain && !says_other(tokens);
        (words == tokens.len() && is_sure).then(|| Object {
            tokens: first..last + 1,
            brand: Some(brand.at),
            is_said,
        })
    })
}

/// Reads the objects after a negator. Returns the index of the next token, or `None` without an object.
fn refuse(sentence: &mut Sentence<'_>, ahead: &Ahead, names: &dyn BrandNames) -> Option<usize> {
    let mut objects = vec![first(sentence, ahead, names)?];
    while let Some(next) = also(sentence, objects.last()?, ahead, names) {
        objects.push(next);
    }
    let is_object = |other: usize| objects.iter().any(|object| object.tokens.contains(&other));
    let is_number = |at: usize| {
        let token = sentence.tokens.get(at);
        token.is_some_and(|token| token.number.is_some() || numerals::is_count(&token.word))
    };
    // A bare number is a quantity and not a thing, as in `minus five`.
    if objects.iter().all(|object| object.tokens.clone().all(is_number)) || !sentence.says_more(is_object) {
        return None;
    }
    let end = objects.last()?.tokens.end;
    let is_one = ahead.kind == Negator::Not && objects.iter().all(|object| object.brand.is_none());
    if is_one {
        let words = objects.iter().map(|object| words_of(sentence, &object.tokens));
        let words = words.collect();
        sentence.read(ahead.negator.start..end, Meaning::Excluded(words));
        return Some(end);
    }
    let mut from = ahead.negator.start;
    for Object { tokens, brand, .. } in objects {
        let meaning = match (brand, ahead.kind) {
            (Some(brand), _) => Meaning::ExcludedBrand(brand),
            (None, Negator::Not) => Meaning::Excluded(vec![words_of(sentence, &tokens)]),
            (None, Negator::Lacks) => Meaning::Lacking(lacking(&words_of(sentence, &tokens))),
        };
        sentence.read(from..tokens.end, meaning);
        from = tokens.end;
    }
    Some(end)
}

/// Returns true for a colour, or a component that products can lack, even if it is also the name of a brand.
fn says_other(tokens: &[Token]) -> bool {
    let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
    let words = words.join(" ");
    TABLES.colours.contains(words.as_str()) || TABLES.says.contains_key(words.as_str())
}

fn first(sentence: &Sentence<'_>, ahead: &Ahead, names: &dyn BrandNames) -> Option<Object> {
    let is_joined = |at: usize| sentence.tokens.get(at).is_some_and(|token| token.is_joined);
    let is_skipped = |at: &usize| {
        let token = sentence.tokens.get(*at);
        let is_silent = token.is_some_and(|token| token.is_free() && TABLES.skipped.contains(token.word.as_str()));
        is_silent && !is_joined(at + 1)
    };
    // If a hyphen follows the negator, its last word is the first word of the object: `not in-ear`.
    let from = ahead.negator.end - usize::from(is_joined(ahead.negator.end));
    let start = (from..sentence.tokens.len()).find(|at| !is_skipped(at))?;
    let brand = brand(sentence, ahead, ahead.negator.end, names);
    let object = object(sentence, ahead.negator.start, start).map(Object::words);
    match (brand, object) {
        // A brand name of one word may be the start of a longer object, as in `boat neck`.
        (Some(brand), Some(object)) if !brand.is_said && brand.tokens.len() < object.tokens.len() => Some(object),
        (brand, object) => brand.or(object),
    }
}

/// Returns the brand named from `from` on, after filler words and words such as `brand`. An ambiguous name needs such a
/// word.
fn brand(sentence: &Sentence<'_>, ahead: &Ahead, from: usize, names: &dyn BrandNames) -> Option<Object> {
    let is_cue = |at: usize| sentence.is(at, &BRAND_CUES);
    let mut is_said = ahead.is_of_brand;
    for start in from..sentence.tokens.len() {
        let rest = sentence.tokens.get(start..)?;
        if let Some((words, brand)) = spoken(rest, names) {
            let name = rest.get(..words).unwrap_or_default();
            let end = start + words;
            let is_named = sentence.is(end, &["brand", "brands"]);
            is_said |= is_named;
            if is_said || !brand.is_plain && !says_other(name) {
                return Some(Object {
                    tokens: start..end + usize::from(is_named),
                    brand: Some(brand.at),
                    is_said,
                });
            }
        }
        is_said |= is_cue(start);
        let word = rest.first().filter(|token| token.is_free())?.word.as_str();
        if !is_cue(start) && !TABLES.skipped.contains(word) {
            return None;
        }
    }
    None
}

/// Returns the tokens of the object from `start` on. Hyphenated words are one object. Two words are one if nothing else
/// follows the product itself. Otherwise the object is one word.
fn object(sentence: &Sentence<'_>, negator: usize, start: usize) -> Option<Range<usize>> {
    // An object may be a measure, as in `not 55 inch`.
    let measured = sentence.tokens.get(start..start + 2).unwrap_or_default();
    if measured.iter().all(Token::is_free) && is_measure(measured) {
        return Some(start..start + 2);
    }
    let is_object = |at: usize| {
        let token = sentence.tokens.get(at);
        let free = token
            .is_some_and(|token| token.is_free() && token.is_word() && !TABLES.stops.contains(token.word.as_str()));
        free && sentence.is_content(at)
    };
    // Filler words can be part of an object with a hyphen, as in `over-ear`.
    let joined = joined(sentence, start);
    if joined.len() > 1 && sentence.tokens.get(start).is_some_and(Token::is_free) {
        return Some(joined);
    }
    if !is_object(start) {
        return None;
    }
    if is_stated(sentence, start) {
        return Some(start..start + 2);
    }
    let tail = (start..sentence.tokens.len()).take_while(|at| is_object(*at)).count();
    let ends = start + tail >= sentence.tokens.len();
    let has_thing = sentence.content().any(|at| at < negator);
    let words = if tail == 2 && ends && has_thing { 2 } else { 1 };
    Some(start..start + words)
}

/// Returns true for a number and its unit, which text analysis reads as one word.
fn is_measure(tokens: &[Token]) -> bool {
    let [number, unit] = tokens else { return false };
    let text = || format!("{} {}", number.word, unit.word);
    number.number.is_some() && unit.is_word() && data_text::plain_words(&text()).len() == 1
}

/// Returns true if titles state the lack of something with two words. A search without `noise cancelling` does not mean
/// without noise.
fn is_stated(sentence: &Sentence<'_>, at: usize) -> bool {
    let words = sentence
        .tokens
        .get(at..at + 2)
        .map(|words| [&words[0].word, &words[1].word].map(String::as_str).join(" "));
    words.is_some_and(|words| TABLES.says.values().flatten().any(|way| *way == words))
}

/// Returns another object after `last`, as in `black or white` or `except nike and adidas`.
fn also(sentence: &Sentence<'_>, last: &Object, ahead: &Ahead, names: &dyn BrandNames) -> Option<Object> {
    let at = last.tokens.end;
    let start = at + 1;
    let (is_or, is_and) = (
        sentence.is(at, &["or", "nor", "ya", "/"]),
        sentence.is(at, &["and", "aur", "&", "+"]),
    );
    if !is_or && !is_and {
        return None;
    }
    let brand = brand(sentence, ahead, start, names);
    if brand.is_some() && (is_or || last.brand.is_some() || ahead.is_exceptive) {
        return brand;
    }
    if !sentence.is_content(start) || !sentence.tokens.get(start)?.is_free() {
        return None;
    }
    let is_colour = |at: usize| {
        sentence
            .tokens
            .get(at)
            .is_some_and(|token| TABLES.colours.contains(token.word.as_str()))
    };
    let colours = || at.checked_sub(1).is_some_and(is_colour) && is_colour(start);
    let both = ahead.kind == Negator::Lacks || colours();
    let tokens = if is_or || both {
        joined(sentence, start)
    } else {
        last_of_list(sentence, ahead, start)?
    };
    Some(Object::words(tokens))
}

/// Returns the last object of a list that follows a product, as in `shoes except nike and new balance`.
fn last_of_list(sentence: &Sentence<'_>, ahead: &Ahead, start: usize) -> Option<Range<usize>> {
    let is_object = |at: &usize| {
        let token = sentence.tokens.get(*at);
        let is_word = token
            .is_some_and(|token| token.is_free() && token.is_word() && !TABLES.stops.contains(token.word.as_str()));
        is_word && sentence.is_content(*at)
    };
    let words = (start..sentence.tokens.len()).take_while(is_object).count();
    let ends = start + words == sentence.tokens.len() && (1..=LAST_WORDS_MAX).contains(&words);
    let has_thing = || sentence.content().any(|at| at < ahead.negator.start);
    (ahead.is_exceptive && ends && has_thing()).then(|| start..start + words)
}

/// Reads an absence with the negator at the end, such as `sugar free` or `grain-free`.
fn suffix(sentence: &mut Sentence<'_>, at: usize) -> Option<usize> {
    let (token, next) = (sentence.tokens.get(at)?, sentence.tokens.get(at + 1)?);
    let is_suffix = next.is_free() && TABLES.suffixes.contains(next.word.as_str());
    let is_less = next.word == "less" && !TABLES.says.contains_key(token.word.as_str());
    // In `chocolate free of sugar`, the absent thing follows.
    let is_ahead = sentence.is(at + 2, &["of"]);
    if !is_suffix || is_less || is_ahead || !sentence.is_content(at) || !token.is_word() {
        return None;
    }
    let lacking = Absence {
        is_left: true,
        ..lacking(&token.word)
    };
    let others = sentence.content().any(|other| other != at && other != at + 1);
    if others {
        sentence.note(at..at + 2, Meaning::Lacking(lacking));
    }
    Some(at + 2)
}

fn words_of(sentence: &Sentence<'_>, tokens: &Range<usize>) -> String {
    let tokens = sentence.tokens.get(tokens.clone()).unwrap_or_default();
    let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
    words.join(" ")
}

fn lacking(of: &str) -> Absence {
    let mut stated: Vec<String> = TABLES
        .says
        .get(of)
        .into_iter()
        .flatten()
        .map(|way| (*way).to_owned())
        .collect();
    let singular = of.strip_suffix('s').filter(|singular| singular.len() > 2);
    for word in std::iter::once(of).chain(singular) {
        stated.extend(["free", "less"].map(|end| format!("{word} {end}")));
        stated.push(format!("{word}less"));
        stated.extend(["no", "non", "zero", "without"].map(|begin| format!("{begin} {word}")));
    }
    let mut seen = rustc_hash::FxHashSet::default();
    stated.retain(|way| seen.insert(way.clone()));
    Absence {
        of: of.to_owned(),
        stated,
        is_claimed: TABLES.says.contains_key(of),
        is_left: false,
    }
}
