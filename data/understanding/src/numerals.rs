use std::borrow::Cow;
use std::ops::Range;

use crate::tokenizer;
use crate::tokens::Token;

/// Larger amounts are not converted to digits.
const THOUSANDTHS_MAX: u64 = 100_000_000_000;

/// Converts spelled amounts of a hundred or more to digits, such as `two thousand`, `do hazar` and `dhai sau`. `2
/// hazar` stays because other rules read it.
pub(crate) fn in_digits(text: &str) -> Cow<'_, str> {
    let tokens = tokenizer::cut(text);
    let mut written = String::new();
    let (mut at, mut from) = (0, 0);
    while at < tokens.len() {
        if let Some(times) = range(&tokens, at) {
            let place = place(&tokens, at..at + 1);
            let thousandths = tokens.get(at).and_then(|token| token.number).unwrap_or(0);
            written.push_str(text.get(from..place.start).unwrap_or_default());
            written.push_str(&(thousandths.saturating_mul(times) / 1_000).to_string());
            from = place.end;
            at += 2;
            continue;
        }
        let Some((taken, thousandths)) = amount(tokens.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        let Some(thousandths) = thousandths else {
            at += taken;
            continue;
        };
        let place = place(&tokens, at..at + taken);
        written.push_str(text.get(from..place.start).unwrap_or_default());
        written.push_str(&(thousandths / 1_000).to_string());
        from = place.end;
        at += taken;
    }
    if from == 0 {
        return text.into();
    }
    written.push_str(text.get(from..).unwrap_or_default());
    written.into()
}

/// Returns the factor of the first of two amounts, which is 1000 for `2-3 hazar` and `2 to 3k`.
pub(crate) fn range(tokens: &[Token], at: usize) -> Option<u64> {
    let (first, second) = (tokens.get(at)?.number?, tokens.get(at + 2)?);
    let is_range = matches!(tokens.get(at + 1)?.word.as_str(), "-" | "to" | "se");
    let times = match tokens.get(at + 3).and_then(|next| scale(&next.word)) {
        Some(times) => times,
        None if second.word.ends_with('k') => 1_000,
        None => return None,
    };
    let second = second.number.filter(|_| is_range)?;
    (first < 1_000_000 && (first < second || second >= 1_000_000)).then_some(times)
}

fn place(tokens: &[Token], range: Range<usize>) -> Range<usize> {
    let start = tokens.get(range.start).map_or(0, |token| token.at.start);
    let last = range.end.checked_sub(1).and_then(|last| tokens.get(last));
    start..last.map_or(start, |token| token.at.end)
}

/// Returns the number of tokens of the amount at the start. The amount is `None` if other rules read it.
pub(crate) fn amount(tokens: &[Token]) -> Option<(usize, Option<u64>)> {
    let (mut total, mut group, mut part) = (0_u64, None::<u64>, Part::default());
    let (mut end, mut whole, mut spelled) = (0, 0, false);
    for (at, token) in tokens.iter().enumerate() {
        let word = token.word.as_str();
        if let Some(scale) = scale(word) {
            // Only this function reads hundreds. Other rules read `2 hazar`.
            spelled |= scale == 100 || at == 0;
            let value = part.count(group.take())?.checked_mul(scale)?;
            if scale == 100 {
                group = Some(value);
            } else {
                total = total.checked_add(value)?;
            }
            (whole, end) = (total.checked_add(group.unwrap_or(0))?, at + 1);
        } else if let Some(share) = share(word).filter(|_| group.is_none()) {
            (part, spelled) = (share, true);
        } else if let Some(count) = unit(word).filter(|count| may_follow(group, *count)) {
            let is_behind_hundreds = group.is_some_and(|group| group >= 100_000);
            let more = group.unwrap_or(0).checked_add(count * 1_000)?;
            (group, spelled) = (Some(more), true);
            if is_behind_hundreds {
                (whole, end) = (total.checked_add(more)?, at + 1);
            }
        } else if let Some(number) = token.number.filter(|_| group.is_none() && end == 0) {
            group = Some(number);
        } else if !(word == "and" && end > 0 && tokens.get(at + 1).is_some_and(|next| unit(&next.word).is_some())) {
            break;
        }
    }
    let is_amount = whole > 0 && whole <= THOUSANDTHS_MAX;
    (end > 0 && is_amount).then_some((end, spelled.then_some(whole)))
}

#[derive(Debug)]
pub(crate) struct Tens {
    pub(crate) tokens: usize,
    pub(crate) thousandths: u64,
}

/// Reads an amount below a hundred, such as `eighty` or `twenty five`. Ambiguous words do not count.
pub(crate) fn tens(tokens: &[Token]) -> Option<Tens> {
    const OTHERS: [&str; 5] = ["das", "bis", "tis", "saath", "barah"];
    let word = |at: usize| tokens.get(at).map(|token| token.word.as_str());
    let first = word(0).filter(|word| !OTHERS.contains(word)).and_then(unit)?;
    let second = word(1)
        .and_then(unit)
        .filter(|second| first >= 20 && first % 10 == 0 && *second < 10);
    (first >= 10).then(|| Tens {
        tokens: 1 + usize::from(second.is_some()),
        thousandths: (first + second.unwrap_or(0)) * 1_000,
    })
}

/// Returns true if a count can continue the number before it, as in `twenty five` and `five hundred fifty`.
fn may_follow(group: Option<u64>, count: u64) -> bool {
    group.is_none_or(|group| group % 100_000 == 0 || count < 10 && group % 10_000 == 0 && group % 100_000 >= 20_000)
}

/// Fraction words before a number, as in `sadhe teen` (three and a half).
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    thousandths: i64,
    alone: bool,
}

impl Part {
    /// Without a number, the scale counts once.
    fn count(&mut self, group: Option<u64>) -> Option<u64> {
        let part = std::mem::take(self);
        let count = match group {
            None if part.alone => 0,
            None => 1_000,
            Some(count) => count,
        };
        count.checked_add_signed(part.thousandths).filter(|count| *count > 0)
    }
}

fn share(word: &str) -> Option<Part> {
    let part = |thousandths, alone| Some(Part { thousandths, alone });
    match word {
        "dedh" | "डेढ़" => part(1_500, true),
        "dhai" | "ढाई" => part(2_500, true),
        "sadhe" | "saadhe" | "साढ़े" => part(500, false),
        "sava" | "सवा" => part(250, false),
        "paune" | "पौने" => part(-250, false),
        _ => None,
    }
}

fn scale(word: &str) -> Option<u64> {
    match word {
        "hundred" | "sau" | "सौ" => Some(100),
        word if word.len() > 2 => crate::tables::multiplier(word),
        _ => None,
    }
}

/// Returns true for the word of a number below a hundred.
pub(crate) fn is_count(word: &str) -> bool {
    unit(word).is_some()
}

fn unit(word: &str) -> Option<u64> {
    const WORDS: [(u64, &str); 30] = [
        (1, "a one ek एक"),
        (2, "two do दो"),
        (3, "three teen तीन"),
        (4, "four char chaar चार"),
        (5, "five paanch panch पाँच पांच"),
        (6, "six chhe chhah छह छः"),
        (7, "seven saat सात"),
        (8, "eight aath आठ"),
        (9, "nine nau नौ"),
        (10, "ten das दस"),
        (11, "eleven gyarah"),
        (12, "twelve barah"),
        (13, "thirteen terah"),
        (14, "fourteen chaudah"),
        (15, "fifteen pandrah"),
        (16, "sixteen solah"),
        (17, "seventeen satrah"),
        (18, "eighteen atharah"),
        (19, "nineteen unnis"),
        (20, "twenty bees bis बीस"),
        (25, "pachees pachis पच्चीस"),
        (30, "thirty tees tis तीस"),
        (35, "paintees"),
        (40, "forty chalis chaalis चालीस"),
        (50, "fifty pachas pachaas पचास"),
        (60, "sixty saath साठ"),
        (70, "seventy sattar सत्तर"),
        (75, "pachattar"),
        (80, "eighty assi अस्सी"),
        (90, "ninety nabbe नब्बे"),
    ];
    let found = WORDS
        .iter()
        .find(|(_, words)| words.split(' ').any(|known| known == word));
    found.map(|(count, _)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_words_become_digits_and_other_words_stay() {
        for (text, digits) in [
            ("under two thousand rupees", "under 2000 rupees"),
            ("five hundred se kam", "500 se kam"),
            ("do hazar tak", "2000 tak"),
            ("paanch sau ke andar", "500 ke andar"),
            ("dhai hazar", "2500"),
            ("dedh sau", "150"),
            ("sadhe teen hazar tak", "3500 tak"),
            ("paune do hazar", "1750"),
            ("one thousand five hundred", "1500"),
            ("twelve hundred and fifty", "1250"),
            ("5 sau", "500"),
            ("2-3 hazar ki saree", "2000-3 hazar ki saree"),
            ("2 to 3k", "2000 to 3k"),
            ("2-3 years", "2-3 years"),
            ("ek lakh bees hazar", "120000"),
            ("under a thousand", "under 1000"),
            ("दो हज़ार से कम", "2000 से कम"),
            // Amounts in digits stay because later rules read them.
            ("2 hazar", "2 hazar"),
            ("2k", "2k"),
            ("do you sell four mugs", "do you sell four mugs"),
            ("a mug", "a mug"),
            ("one two three", "one two three"),
            ("", ""),
        ] {
            assert_eq!(in_digits(text), digits, "{text}");
        }
    }
}
