//! Detects templates that were not filled in.

use crate::item::{Item, Sense};
use crate::words::Words;

/// Words in placeholders: `[insert amount]`, `[your store name]`.
const SLOTS: Words = Words(
    "insert, amount, number, threshold, value, fee, price, your, store, name, date, time, hours, days, city, \
     country, currency, choose, rate, percent, brand, company, betrag, montant",
);
/// Words that start an instruction for the shop's owner.
const TELLS: Words = Words("state, mention, specify, explain, describe, include, insert, add your, clearly");
/// Strings that occur only in unfinished text.
const MARKS: [&str; 6] = ["{{", "__", "......", "lorem", "ipsum", "choose threshold"];

/// Returns true if a sentence contains a blank, a placeholder or an instruction for the shop's owner.
pub(crate) fn is_template(text: &str, items: &[Item]) -> bool {
    let lower = text.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
        || lower
            .match_indices(' ')
            .take(2)
            .any(|(end, _)| TELLS.has(&lower[..end]))
        || [('[', ']'), ('{', '}'), ('<', '>')]
            .iter()
            .any(|(open, close)| has_slot(&lower, *open, *close))
        || has_blank_word(text)
        || has_example(items)
}

/// Returns true for brackets that are empty or contain a placeholder name. Brackets with a statement do not count.
fn has_slot(lower: &str, open: char, close: char) -> bool {
    let mut inner = lower.split(open).skip(1).filter_map(|rest| rest.split_once(close));
    inner.any(|(inner, _)| {
        let words: Vec<&str> = words(inner).collect();
        let has_digit = inner.chars().any(|char| char.is_ascii_digit());
        let is_empty = words.iter().all(|word| is_blank(word));
        let is_slot = words.len() <= 4 && !has_digit && words.iter().any(|word| SLOTS.has(word));
        (is_empty && !has_digit) || is_slot || words.first().is_some_and(|first| is_blank(first))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

fn is_blank(word: &str) -> bool {
    word.len() <= 4 && word.chars().all(|char| char == 'x')
}

/// Returns true for `XX days`, but not for `24 x 7`.
fn has_blank_word(text: &str) -> bool {
    let words: Vec<&str> = words(text).collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_number = |at: Option<&&str>| at.is_some_and(|word| word.chars().all(|char| char.is_ascii_digit()));
        let is_times = at > 0 && is_number(words.get(at - 1)) && is_number(words.get(at + 1));
        let is_letters = *word != "y" && word.len() <= 4 && word.chars().all(|char| "xXyYN".contains(char));
        // `N. E. states` contains initials.
        is_letters && !is_times && !matches!((*word, words.get(at + 1)), ("N", Some(&"E" | &"East")))
    })
}

/// Returns true for example amounts, such as `e.g. ₹999`.
fn has_example(items: &[Item]) -> bool {
    let is_amount = |item: &Item| matches!(item.sense, Sense::Money(_) | Sense::Days(_) | Sense::Clock(_));
    let is_mark = |item: &Item| matches!(item.word(), "e.g" | "eg" | "z.b");
    let mark = items.iter().position(is_mark);
    mark.is_some_and(|mark| {
        let ends = |item: &&Item| item.sense != Sense::Sign(')');
        items[mark..].iter().take(4).take_while(ends).any(is_amount)
    })
}
