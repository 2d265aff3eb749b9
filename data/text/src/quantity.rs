use unicode_normalization::UnicodeNormalization;

use super::units;
use super::word::Word;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) number: String,
    pub(super) unit: Option<&'static str>,
    pub(super) words: usize,
}

/// Denominators of fractions. `24/7` and `50/50` are not fractions.
const DENOMINATORS: [u32; 8] = [2, 3, 4, 5, 8, 16, 32, 64];

/// Checks for a fraction whose slash is at `at` and whose first character is at `start`.
pub(super) fn fraction_at(text: &str, start: usize, at: usize) -> Option<()> {
    let upper = text.get(start..at)?;
    let lower = text.get(at + 1..)?;
    let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
    fraction(upper, lower.get(..digits)?).map(|_| ())
}

/// Returns the value of a fraction in ten-thousandths.
fn fraction(upper: &str, lower: &str) -> Option<u32> {
    if upper.len() > 2 || lower.len() > 2 {
        return None;
    }
    let (upper, lower): (u32, u32) = (upper.parse().ok()?, lower.parse().ok()?);
    (upper > 0 && upper < lower && DENOMINATORS.contains(&lower)).then(|| (20_000 * upper + lower) / (2 * lower))
}

/// Converts a number that ends in a fraction character, such as `½` or `1½`, to a decimal number.
pub(super) fn with_drawn_fraction(word: &str) -> Option<String> {
    let drawn = word.chars().next_back().filter(|char| !char.is_ascii())?;
    let whole = word.strip_suffix(drawn)?;
    if whole.len() > 3 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let spelt: String = std::iter::once(drawn).nfkc().collect();
    let (upper, lower) = spelt.split_once('\u{2044}')?;
    let part = fraction(upper, lower)?;
    Some(decimal(if whole.is_empty() { 0 } else { whole.parse().ok()? }, part))
}

/// Reads the quantity that begins with the word at `at`: `3 m`, `3m`, `1-1/2 in.`, `6"`, `5' `, or a bare number that
/// is not in canonical spelling.
pub(super) fn read(text: &str, words: &[Word], at: usize) -> Option<Quantity> {
    let word = words.get(at)?;
    if !word.text.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    if let Some((number, unit)) = units::glued(&word.text) {
        return Some(Quantity {
            number: units::canonical_number(number).to_owned(),
            unit: Some(unit),
            words: 1,
        });
    }
    // Words such as `1/2in` consist of a fraction and a unit.
    let digits = word.text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    if let Some((upper, lower)) = digits.split_once('/')
        && let Some(part) = fraction(upper, lower)
        && let Some((_, unit)) = units::glued(&format!("1{}", word.text.get(digits.len()..)?))
    {
        return Some(Quantity {
            number: decimal(0, part),
            unit: Some(unit),
            words: 1,
        });
    }
    let (number, taken) = number(text, words, at)?;
    let (unit, unit_words) = unit(text, words, at + taken).map_or((None, 0), |(unit, words)| (Some(unit), words));
    Some(Quantity {
        number,
        unit,
        words: taken + unit_words,
    })
}

/// Returns the number of words that the number spans, which is two if a fraction follows.
fn number(text: &str, words: &[Word], at: usize) -> Option<(String, usize)> {
    let word = words.get(at)?;
    if let Some((upper, lower)) = word.text.split_once('/') {
        return Some((decimal(0, fraction(upper, lower)?), 1));
    }
    if !units::is_number(&word.text) {
        return None;
    }
    if let Some(next) = words.get(at + 1)
        && let Some((upper, lower)) = next.text.split_once('/')
        && let Some(part) = fraction(upper, lower)
        && matches!(text.get(word.offsets.end..next.offsets.start), Some(" " | "-"))
        && word.text.len() <= 3
        && let Ok(whole) = word.text.parse()
    {
        return Some((decimal(whole, part), 2));
    }
    Some((units::canonical_number(&word.text).to_owned(), 1))
}

fn decimal(whole: u32, ten_thousandths: u32) -> String {
    units::canonical_number(&format!("{whole}.{ten_thousandths:04}")).to_owned()
}

/// Reads the unit from the word at `at`, which follows a number. Also returns the number of words of the unit, which is
/// 0 for `"`.
fn unit(text: &str, words: &[Word], at: usize) -> Option<(&'static str, usize)> {
    let after = words.get(at - 1)?.offsets.end;
    let rest = text.get(after..)?;
    let mut chars = rest.trim_start_matches(' ').chars();
    match (chars.next(), chars.next()) {
        (Some('"' | '\u{201d}' | '\u{2033}'), _) | (Some('\'' | '\u{2019}'), Some('\'' | '\u{2019}')) => {
            return Some(("in", 0));
        }
        (Some('\'' | '\u{2019}' | '\u{2032}'), next) if !next.is_some_and(char::is_alphabetic) => {
            return Some(("ft", 0));
        }
        _ => {}
    }
    let next = words.get(at)?;
    let between = text.get(after..next.offsets.start)?;
    if between.len() > 2 || !between.chars().all(|char| char == ' ' || char == '-') {
        return None;
    }
    if let Some(second) = words.get(at + 1)
        && let Some(unit) = units::of_two_words(&next.text, &second.text)
        && matches!(
            text.get(next.offsets.end..second.offsets.start),
            Some(" " | "-" | ". " | ".")
        )
    {
        return Some((unit, 2));
    }
    let (unit, always) = units::apart(&next.text)?;
    // `in` is also a preposition. It is a unit with a full stop, before `x`, before the name of a side, or at the end
    // of the text.
    let ends = || {
        let rest = text.get(next.offsets.end..).unwrap_or_default();
        let dotted = rest
            .strip_prefix('.')
            .is_some_and(|rest| !rest.starts_with(|char: char| char.is_ascii_digit()));
        let last = rest.trim_start().is_empty() || rest.starts_with([',', ';', ')']);
        let side = words
            .get(at + 1)
            .is_some_and(|side| matches!(side.text.as_str(), "x" | "w" | "h" | "d" | "l"));
        unit == "in" && (dotted || last || side)
    };
    (always || ends()).then_some((unit, 1))
}
