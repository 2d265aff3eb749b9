use std::ops::Range;

use data_model::CategoryId;

use super::Meaning;
use super::phrases::Phrases;
use super::sentence::Sentence;
use super::tables::{Role, TABLES};

/// A child is younger, in months.
const CHILD_MONTHS_MAX: u32 = 18 * 12;

type Filed = (Range<usize>, Option<Vec<CategoryId>>);

/// Reads for whom and for when: categories where nothing else is named, else words that are no part of a product.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let thing = first(sentence, &TABLES.thing, &[]).map(|(range, ())| range);
    let gift = first(sentence, &TABLES.gift, thing.as_slice()).map(|(range, ())| range);
    let who = filed(sentence, &TABLES.who, &[]);
    let taken: Vec<_> = who.iter().map(|(range, _)| range.clone()).collect();
    let when = filed(sentence, &TABLES.when, &taken);
    let taken: Vec<_> = taken
        .into_iter()
        .chain(when.iter().map(|(range, _)| range.clone()))
        .collect();
    let kind = filed(sentence, &TABLES.kind, &taken);
    if gift.is_some() {
        return of_gift(sentence, gift, [who, kind, when]);
    }
    let for_whom = who.as_ref().is_some_and(|(range, _)| is_for(sentence, range));
    let child = sentence.age.filter(|months| *months < CHILD_MONTHS_MAX);
    if for_whom || child.is_some() {
        return of_person(sentence, who.filter(|_| for_whom), kind);
    }
    of_wear(sentence);
}

/// The first phrase of a table that overlaps none of the `taken` tokens.
fn first<'t, T>(
    sentence: &Sentence<'_>,
    table: &'t Phrases<T>,
    taken: &[Range<usize>],
) -> Option<(Range<usize>, &'t T)> {
    (0..sentence.tokens.len()).find_map(|at| {
        let (words, meaning) = table.at(sentence.tokens.get(at..)?)?;
        let range = at..at + words;
        let is_taken = taken
            .iter()
            .any(|taken| taken.start < range.end && range.start < taken.end);
        (!is_taken).then_some((range, meaning))
    })
}

fn filed(sentence: &Sentence<'_>, table: &Phrases<Vec<CategoryId>>, taken: &[Range<usize>]) -> Option<Filed> {
    first(sentence, table, taken).map(|(range, categories)| (range, Some(categories.clone())))
}

/// `for my mother`, `maa ke liye`
fn is_for(sentence: &Sentence<'_>, who: &Range<usize>) -> bool {
    let before = |back| who.start.checked_sub(back);
    let whose = ["my", "mere", "meri", "apni", "apne", "our", "the", "a", "new"];
    before(1).is_some_and(|at| sentence.is(at, &["for", "my", "meri", "mere", "apni", "apne"]))
        || before(2).is_some_and(|at| sentence.is(at, &["for"]) && sentence.is(at + 1, &whose))
        || sentence.is(who.end, &["ke", "k", "के"]) && sentence.is(who.end + 1, &["liye", "liy", "lie", "लिए"])
}

/// Whether nothing can be looked for but what these tokens are.
fn is_all(sentence: &Sentence<'_>, ranges: &[&Range<usize>]) -> bool {
    sentence
        .content()
        .all(|at| ranges.iter().any(|range| range.contains(&at)))
}

fn of_gift(sentence: &mut Sentence<'_>, gift: Option<Range<usize>>, [who, kind, when]: [Option<Filed>; 3]) {
    let fan = first(sentence, &TABLES.fan, &[]).map(|(range, ())| range);
    let found: Vec<Range<usize>> = [&who, &kind, &when]
        .into_iter()
        .flatten()
        .map(|(range, _)| range.clone())
        .chain(gift.clone())
        .chain(fan.clone())
        .collect();
    if is_all(sentence, &found.iter().collect::<Vec<_>>()) {
        let child = children(sentence).filter(|_| who.is_none());
        let categories = [who, kind, when]
            .into_iter()
            .flatten()
            .find_map(|(_, categories)| categories);
        let categories = child.or(categories).unwrap_or_else(|| TABLES.any.clone());
        return tell(sentence, &found, Meaning::Gift(categories));
    }
    // A thing is named: it decides.
    let person = who.map(|(range, _)| range).into_iter().chain(fan);
    let others = person.chain(gift).collect::<Vec<_>>();
    others.into_iter().for_each(|range| of_recipient(sentence, range));
}

fn of_person(sentence: &mut Sentence<'_>, who: Option<Filed>, kind: Option<Filed>) {
    let found: Vec<Range<usize>> = [&who, &kind]
        .into_iter()
        .flatten()
        .map(|(range, _)| range.clone())
        .collect();
    if is_all(sentence, &found.iter().collect::<Vec<_>>()) {
        let of_who = who.and_then(|(_, categories)| categories);
        if let Some(categories) = of_who.or_else(|| children(sentence)) {
            tell(sentence, &found, Meaning::Gift(categories));
        }
    } else if let Some((range, _)) = who {
        of_recipient(sentence, range);
    }
}

/// What children of the age that the query names get.
fn children(sentence: &Sentence<'_>) -> Option<Vec<CategoryId>> {
    let months = sentence.age?;
    let of_age = TABLES
        .children
        .iter()
        .find(|(from, to, _)| (*from..*to).contains(&months))?;
    Some(of_age.2.clone())
}

/// Takes out whom it is for, with the words that say so.
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

fn of_wear(sentence: &mut Sentence<'_>) {
    let Some((wear, categories)) = filed(sentence, &TABLES.wear, &[]) else {
        return;
    };
    let Some((clothes, ())) = first(sentence, &TABLES.clothes, std::slice::from_ref(&wear)) else {
        return;
    };
    // `something warm for winter`: two words that say the same.
    let more = filed(sentence, &TABLES.wear, &[wear.clone(), clothes.clone()]);
    let ranges: Vec<Range<usize>> = [wear, clothes]
        .into_iter()
        .chain(more.map(|(range, _)| range))
        .collect();
    if let Some(categories) = categories.filter(|_| is_all(sentence, &ranges.iter().collect::<Vec<_>>())) {
        tell(sentence, &ranges, Meaning::Wear(categories));
    }
}

/// Takes note of categories that several stretches of the text tell together, with what only joins them.
fn tell(sentence: &mut Sentence<'_>, ranges: &[Range<usize>], meaning: Meaning) {
    let age = sentence.take_age();
    let all = ranges.iter().chain(&age);
    let start = all.clone().map(|range| range.start).min().unwrap_or(0);
    let end = all.map(|range| range.end).max().unwrap_or(0);
    // What was read for itself in between stays what it is.
    let is_joined = (start..end).all(|at| {
        let own = ranges.iter().chain(&age).any(|range| range.contains(&at));
        own || sentence.tokens.get(at).is_some_and(super::tokens::Token::is_free)
            || sentence.role(at) == Some(Role::Stop)
    });
    if is_joined {
        return sentence.read(start..end, meaning);
    }
    for range in ranges {
        let told = sentence.tokens.get_mut(range.clone()).unwrap_or_default();
        told.iter_mut().for_each(|token| token.is_read = true);
    }
    if let Some(first) = ranges.first() {
        sentence.read(first.clone(), meaning);
    }
}
