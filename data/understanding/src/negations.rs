use std::ops::Range;

use super::sentence::Sentence;
use super::tables::{Negator, TABLES};
use super::{Lacking, Meaning};

/// Reads what is not wanted. A negation with nothing besides it is none: nobody looks for everything but one thing.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let mut at = 0;
    while at < sentence.tokens.len() {
        at = one(sentence, at).max(at + 1);
    }
}

/// Reads what begins at a token; answers where to go on.
fn one(sentence: &mut Sentence<'_>, at: usize) -> usize {
    let rest = sentence.tokens.get(at..).unwrap_or_default();
    if !rest.first().is_some_and(super::tokens::Token::is_free) {
        return at + 1;
    }
    if let Some((words, ())) = TABLES.names.at(rest) {
        let name = sentence.tokens.get_mut(at..at + words).unwrap_or_default();
        name.iter_mut().for_each(|token| token.is_name = true);
        return at + words;
    }
    if rest.first().is_some_and(|token| token.is_minus && token.is_word()) {
        return minus(sentence, at);
    }
    if let Some((words, ())) = TABLES.negators_behind.at(rest)
        && let Some(object) = before(sentence, at)
    {
        let lacking = lacking(&words_of(sentence, &object));
        sentence.read(object.start..at + words, Meaning::Lacking(lacking));
        return at + words;
    }
    if let Some((words, negator)) = TABLES.negators.at(rest) {
        return ahead(sentence, at, words, *negator).unwrap_or(at + words);
    }
    suffix(sentence, at).unwrap_or(at + 1)
}

/// `-black`, `-mom-fit`
fn minus(sentence: &mut Sentence<'_>, at: usize) -> usize {
    let object = joined(sentence, at);
    if sentence.content().any(|other| !object.contains(&other)) {
        let words = words_of(sentence, &object);
        sentence.read(object.clone(), Meaning::Excluded(vec![words]));
    }
    object.end
}

/// A token and those that are joined to it by hyphens.
fn joined(sentence: &Sentence<'_>, at: usize) -> Range<usize> {
    let more = sentence.tokens.get(at + 1..).unwrap_or_default();
    let more = more
        .iter()
        .take_while(|token| token.is_joined && token.is_free())
        .count();
    at..at + 1 + more
}

/// The word before a negator that stands behind it.
fn before(sentence: &Sentence<'_>, at: usize) -> Option<Range<usize>> {
    let is_skipped = |at: &usize| {
        let token = sentence.tokens.get(*at);
        token.is_some_and(|token| TABLES.skipped.contains(token.word.as_str()))
    };
    let object = (0..at).rev().find(|at| !is_skipped(at))?;
    let others = sentence.content().any(|other| other != object);
    (sentence.is_content(object) && sentence.tokens.get(object)?.is_free() && others).then_some(object..object + 1)
}

/// Reads what stands behind a negator of so many words; answers where to go on, `None` where nothing does.
fn ahead(sentence: &mut Sentence<'_>, at: usize, words: usize, negator: Negator) -> Option<usize> {
    let is_skipped = |at: &usize| {
        let token = sentence.tokens.get(*at);
        token.is_some_and(|token| token.is_free() && TABLES.skipped.contains(token.word.as_str()))
    };
    let start = (at + words..sentence.tokens.len()).find(|at| !is_skipped(at))?;
    let mut objects = vec![object(sentence, at, start)?];
    while let Some(next) = also(sentence, objects.last()?.end, negator) {
        objects.push(next);
    }
    let is_object = |other: &usize| objects.iter().any(|object| object.contains(other));
    if !sentence.content().any(|other| !is_object(&other)) {
        return None;
    }
    let end = objects.last()?.end;
    match negator {
        Negator::Not => {
            let objects = objects.iter().map(|object| words_of(sentence, object)).collect();
            sentence.read(at..end, Meaning::Excluded(objects));
        }
        Negator::Lacks => {
            let mut from = at;
            for object in objects {
                let lacking = lacking(&words_of(sentence, &object));
                sentence.read(from..object.end, Meaning::Lacking(lacking));
                from = object.end;
            }
        }
    }
    Some(end)
}

/// What is not wanted, from `start` on: what hyphens join, two words where these are all that is left behind the thing
/// itself, else one.
fn object(sentence: &Sentence<'_>, negator: usize, start: usize) -> Option<Range<usize>> {
    let is_object = |at: usize| {
        let token = sentence.tokens.get(at);
        let free = token
            .is_some_and(|token| token.is_free() && token.is_word() && !TABLES.stops.contains(token.word.as_str()));
        free && sentence.is_content(at)
    };
    if !is_object(start) {
        return None;
    }
    let joined = joined(sentence, start);
    if joined.len() > 1 || is_stated(sentence, start) {
        return Some(start..joined.end.max(start + 2));
    }
    let tail = (start..sentence.tokens.len()).take_while(|at| is_object(*at)).count();
    let ends = start + tail >= sentence.tokens.len();
    let has_thing = sentence.content().any(|at| at < negator);
    let words = if tail == 2 && ends && has_thing { 2 } else { 1 };
    Some(start..start + words)
}

/// Whether two words are how titles say that they lack something: who wants no `noise cancelling` does not lack noise.
fn is_stated(sentence: &Sentence<'_>, at: usize) -> bool {
    let words = sentence
        .tokens
        .get(at..at + 2)
        .map(|words| [&words[0].word, &words[1].word].map(String::as_str).join(" "));
    words.is_some_and(|words| TABLES.says.values().flatten().any(|way| *way == words))
}

/// What else is not wanted: `black or white`.
fn also(sentence: &Sentence<'_>, at: usize, negator: Negator) -> Option<Range<usize>> {
    let start = at + 1;
    if !sentence.is_content(start) || !sentence.tokens.get(start)?.is_free() {
        return None;
    }
    let is_colour = |at: usize| {
        sentence
            .tokens
            .get(at)
            .is_some_and(|token| TABLES.colours.contains(token.word.as_str()))
    };
    let both = negator == Negator::Lacks || at.checked_sub(1).is_some_and(is_colour) && is_colour(start);
    let goes_on = sentence.is(at, &["or", "nor", "ya", "/"]) || both && sentence.is(at, &["and", "aur", "&"]);
    goes_on.then(|| joined(sentence, start))
}

/// `sugar free`, `grain-free`
fn suffix(sentence: &mut Sentence<'_>, at: usize) -> Option<usize> {
    let (token, next) = (sentence.tokens.get(at)?, sentence.tokens.get(at + 1)?);
    let is_suffix = next.is_free() && TABLES.suffixes.contains(next.word.as_str());
    let is_less = next.word == "less" && !TABLES.says.contains_key(token.word.as_str());
    if !is_suffix || is_less || !sentence.is_content(at) || !token.is_word() {
        return None;
    }
    let mut lacking = lacking(&token.word);
    lacking.of.clear();
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

fn lacking(of: &str) -> Lacking {
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
    Lacking {
        of: of.to_owned(),
        stated,
    }
}
