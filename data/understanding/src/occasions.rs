use std::ops::Range;

use data_model::CategoryId;

use super::Meaning;
use super::intent::audiences_named;
use super::needs;
use super::phrases::Phrases;
use super::sentence::Sentence;
use super::tables::{Role, TABLES};

/// A younger person is a child.
const CHILD_MONTHS_MAX: u32 = 18 * 12;

#[derive(Clone)]
struct PhraseMatch<T> {
    ranges: Vec<Range<usize>>,
    answers: T,
}

/// Reads the recipient and the occasion. If the query names no product, they imply categories. Otherwise they are words
/// that do not belong to the product.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let thing = ranges(sentence, &TABLES.thing, &[]);
    let gift = ranges(sentence, &TABLES.gift, &thing);
    let who = found(sentence, &TABLES.who, &[]);
    let mut taken: Vec<Range<usize>> = who.iter().flat_map(|who| who.ranges.clone()).collect();
    let when = found(sentence, &TABLES.when, &taken);
    taken.extend(when.iter().flat_map(|when| when.ranges.clone()));
    let kind = found(sentence, &TABLES.kind, &taken);
    if !gift.is_empty() {
        return of_gift(sentence, gift, [who, kind, when]);
    }
    let is_for_any = |found: &PhraseMatch<_>| found.ranges.iter().any(|range| is_for(sentence, range));
    let is_of_person = |found: &PhraseMatch<_>| found.ranges.iter().any(|range| is_person(sentence, range));
    let who = who
        .filter(is_for_any)
        .or_else(|| kind.clone().filter(|kind| is_of_person(kind) && is_for_any(kind)));
    let child = sentence.age.filter(|months| *months < CHILD_MONTHS_MAX);
    if who.is_some() || child.is_some() {
        return of_person(sentence, who, kind);
    }
    of_wear(sentence, kind);
}

/// Returns the phrases of a table that do not overlap the `taken` tokens.
fn each<'t, T>(sentence: &Sentence<'_>, table: &'t Phrases<T>, taken: &[Range<usize>]) -> Vec<(Range<usize>, &'t T)> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = sentence.tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let found = table.at(rest).map(|(words, meaning)| (at..at + words, meaning));
        let is_taken = |range: &Range<usize>| {
            taken
                .iter()
                .any(|taken| taken.start < range.end && range.start < taken.end)
        };
        match found.filter(|(range, _)| !is_taken(range)) {
            Some((range, meaning)) => {
                at = range.end;
                all.push((range, meaning));
            }
            None => at += 1,
        }
    }
    all
}

fn ranges<T>(sentence: &Sentence<'_>, table: &Phrases<T>, taken: &[Range<usize>]) -> Vec<Range<usize>> {
    each(sentence, table, taken)
        .into_iter()
        .map(|(range, _)| range)
        .collect()
}

fn found<T: Clone>(sentence: &Sentence<'_>, table: &Phrases<T>, taken: &[Range<usize>]) -> Option<PhraseMatch<T>> {
    let all = each(sentence, table, taken);
    // The longest phrase is the most specific. Of equally long phrases, the first counts.
    let answers = all.iter().rev().max_by_key(|(range, _)| range.len())?.1.clone();
    let ranges = all.into_iter().map(|(range, _)| range).collect();
    Some(PhraseMatch { ranges, answers })
}

/// Returns true for phrases such as `for my mother` and `maa ke liye`.
fn is_for(sentence: &Sentence<'_>, who: &Range<usize>) -> bool {
    let before = |back| who.start.checked_sub(back);
    let whose = ["my", "mere", "meri", "apni", "apne", "our", "the", "a", "new"];
    before(1).is_some_and(|at| sentence.is(at, &["for", "my", "meri", "mere", "apni", "apne"]))
        || before(2).is_some_and(|at| sentence.is(at, &["for"]) && sentence.is(at + 1, &whose))
        || sentence.is(who.end, &["ke", "k", "के"]) && sentence.is(who.end + 1, &["liye", "liy", "lie", "लिए"])
}

/// Returns true for words such as `her` and `my kid`. The name of a department alone is a title word.
fn is_person(sentence: &Sentence<'_>, range: &Range<usize>) -> bool {
    let is_whose = |at| sentence.is(at, &["my", "meri", "mere", "apni", "apne", "our"]);
    let is_audience = || {
        let word = sentence.tokens.get(range.start);
        word.is_some_and(|token| !audiences_named(&token.word).is_empty())
    };
    sentence.is(range.start, &["her", "him"]) || range.start.checked_sub(1).is_some_and(is_whose) && is_audience()
}

/// Returns true if the query has no search words other than these tokens.
fn is_all(sentence: &Sentence<'_>, ranges: &[Range<usize>]) -> bool {
    let soft = self::ranges(sentence, &TABLES.soft, ranges);
    let is_told = |at: usize| ranges.iter().chain(&soft).any(|range| range.contains(&at));
    sentence.content().all(is_told)
}

fn of_gift(
    sentence: &mut Sentence<'_>,
    gift: Vec<Range<usize>>,
    [who, kind, when]: [Option<PhraseMatch<Vec<CategoryId>>>; 3],
) {
    let fan = ranges(sentence, &TABLES.fan, &[]);
    let people = [&who, &kind, &when]
        .into_iter()
        .flatten()
        .flat_map(|found| found.ranges.clone());
    let all: Vec<Range<usize>> = people.chain(gift.iter().cloned()).chain(fan.iter().cloned()).collect();
    if is_all(sentence, &all) {
        let child = children(sentence).filter(|_| who.is_none());
        let categories = [who, kind, when]
            .into_iter()
            .flatten()
            .map(|found| found.answers)
            .next();
        let categories = child.or(categories).unwrap_or_else(|| TABLES.any.clone());
        return tell(sentence, &all, Meaning::Gift(categories));
    }
    // The query's product decides. Without a recipient, `gift` may be part of the product's name.
    let kind = kind.map(|kind| kind.ranges).unwrap_or_default();
    let who: Vec<_> = who
        .map(|who| who.ranges)
        .unwrap_or_default()
        .into_iter()
        .chain(kind.into_iter().filter(|range| is_person(sentence, range)))
        .collect();
    let is_given = |range: &Range<usize>| sentence.is(range.end, &["for", "to"]);
    if !who.is_empty() || !fan.is_empty() || gift.iter().any(is_given) {
        let others = who.into_iter().chain(fan).chain(gift);
        others.for_each(|range| of_recipient(sentence, range));
    }
}

fn of_person(
    sentence: &mut Sentence<'_>,
    who: Option<PhraseMatch<Vec<CategoryId>>>,
    kind: Option<PhraseMatch<Vec<CategoryId>>>,
) {
    let all: Vec<Range<usize>> = [&who, &kind]
        .into_iter()
        .flatten()
        .flat_map(|found| found.ranges.clone())
        .collect();
    if is_all(sentence, &all) {
        let categories = who.map(|who| who.answers).or_else(|| children(sentence));
        if let Some(categories) = categories {
            tell(sentence, &all, Meaning::Gift(categories));
        }
    } else if let Some(who) = who {
        // `wrap my newborn` names a purpose and not the recipient of a product.
        needs::read_leaving(sentence, 0);
        if sentence.tells_categories() {
            return;
        }
        let fan = ranges(sentence, &TABLES.fan, &who.ranges);
        who.ranges
            .into_iter()
            .chain(fan)
            .for_each(|range| of_recipient(sentence, range));
    }
}

fn children(sentence: &Sentence<'_>) -> Option<Vec<CategoryId>> {
    let months = sentence.age?;
    let of_age = TABLES
        .children
        .iter()
        .find(|(from, to, _)| (*from..*to).contains(&months))?;
    Some(of_age.2.clone())
}

/// Removes the recipient from the text, with the words that introduce it.
fn of_recipient(sentence: &mut Sentence<'_>, range: Range<usize>) {
    let mut start = range.start;
    while start
        .checked_sub(1)
        .is_some_and(|at| sentence.is(at, &["for", "my", "mere", "meri", "apni", "apne", "our", "a", "the"]))
    {
        start -= 1;
    }
    let mut end = range.end;
    while sentence.is(
        end,
        &["ke", "k", "liye", "for", "के", "लिए", "ideas", "idea", "item", "items"],
    ) {
        end += 1;
    }
    sentence.read(start..end, Meaning::Recipient);
}

fn of_wear(sentence: &mut Sentence<'_>, kind: Option<PhraseMatch<Vec<CategoryId>>>) {
    // `something warm for winter` has two words with the same meaning.
    let Some(wear) = found(sentence, &TABLES.wear, &[]) else {
        return;
    };
    let clothes = ranges(sentence, &TABLES.clothes, &wear.ranges);
    let kind = kind.map(|kind| kind.ranges).unwrap_or_default();
    let all: Vec<Range<usize>> = wear
        .ranges
        .into_iter()
        .chain(clothes.iter().cloned())
        .chain(kind)
        .collect();
    if !clothes.is_empty() && is_all(sentence, &all) {
        tell(sentence, &all, Meaning::Wear(wear.answers));
    }
}

/// Records categories that several phrases name together. The words between them are included.
fn tell(sentence: &mut Sentence<'_>, ranges: &[Range<usize>], meaning: Meaning) {
    let age = sentence.take_age();
    let soft = self::ranges(sentence, &TABLES.soft, ranges);
    let all = ranges.iter().chain(&age).chain(&soft);
    let start = all.clone().map(|range| range.start).min().unwrap_or(0);
    let end = all.map(|range| range.end).max().unwrap_or(0);
    // The phrases are read as one only if the words between them have no other meaning.
    let is_joined = (start..end).all(|at| {
        let own = ranges.iter().chain(&age).any(|range| range.contains(&at));
        own || sentence.tokens.get(at).is_some_and(super::tokens::Token::is_free)
            || sentence.role(at) == Some(Role::Stop)
    });
    if is_joined {
        return sentence.read(start..end, meaning);
    }
    for range in ranges.iter().chain(&soft) {
        let told = sentence.tokens.get_mut(range.clone()).unwrap_or_default();
        told.iter_mut().for_each(|token| token.is_read = true);
    }
    if let Some(first) = ranges.first() {
        sentence.read(first.clone(), meaning);
    }
}
