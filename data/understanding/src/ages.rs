use super::Meaning;
use super::sentence::Sentence;
use super::tables::{self, TABLES};

/// Age of a person in months.
pub(super) struct Age {
    pub(super) tokens: std::ops::Range<usize>,
    pub(super) months: u32,
}

/// Maximum age of a person in thousandths of a year.
const YEARS_MAX: u64 = 110_000;

/// Records the age of a person, as in `5 year old`, `age 6` and `8 saal ke`. The gift rules use it later, and its
/// number is then not read as a size.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let Some(age) = (0..sentence.tokens.len()).find_map(|at| age(sentence, at)) else {
        return;
    };
    sentence.age = Some(age.months);
    sentence.read(age.tokens, Meaning::Age(age.months));
}

fn age(sentence: &Sentence<'_>, at: usize) -> Option<Age> {
    let tokens = &sentence.tokens;
    let number = tokens
        .get(at)?
        .number
        .filter(|number| *number <= YEARS_MAX && tokens[at].is_free())?;
    let whole = u32::try_from(number / 1_000).ok()?;
    let is = |at: usize, words: &[&str]| {
        tokens
            .get(at)
            .is_some_and(|token| token.is_free() && words.contains(&&*token.word))
    };
    let before = |back: usize, words: &[&str]| at.checked_sub(back).is_some_and(|at| is(at, words));
    // In a range such as `2-3 years`, the older age counts.
    let next = tokens.get(at + 1)?;
    if matches!(next.word.as_str(), "-" | "to" | "se") && tokens.get(at + 2).is_some_and(|token| token.number.is_some())
    {
        let later = age(sentence, at + 2)?;
        return Some(Age {
            tokens: at..later.tokens.end,
            ..later
        });
    }
    let unit = TABLES.age_units.get(next.word.as_str()).copied();
    let end = at + 1 + usize::from(unit.is_some());
    let is_said = is(
        end,
        &[
            "old", "olds", "ke", "ka", "ki", "baby", "kid", "girl", "boy", "child", "के", "का", "की",
        ],
    ) && unit.is_some()
        || unit.is_some() && (before(1, &["for", "aged", "age"]) || before(2, &["for"]) || sentence.has_gift())
        || before(1, &["age", "aged"])
        || tables::is_age_word(&next.word);
    if !is_said {
        return None;
    }
    let months = if unit == Some(1) {
        whole
    } else {
        whole.saturating_mul(12)
    };
    let start = if before(1, &["age", "aged"]) { at - 1 } else { at };
    let start = if start.checked_sub(1).is_some_and(|for_| is(for_, &["for"])) {
        start - 1
    } else {
        start
    };
    let end = end + usize::from(is(end, &["old", "olds"]));
    Some(Age {
        tokens: start..end,
        months,
    })
}
