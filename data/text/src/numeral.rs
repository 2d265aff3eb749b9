/// Number at the start of a text, as people of any country write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numeral {
    /// Digits without grouping, with a decimal point: `1299.50`. `None` if the digits are no number, as in `1.2.3`.
    pub decimal: Option<String>,
    /// Length in the text, in bytes.
    pub bytes: usize,
}

/// Maximum number of digits before the decimals, in thousandths.
const WHOLE_MAX: usize = 10;

/// Digits of a number up to the next separator.
#[derive(Debug, Default)]
struct Group {
    /// The separator before the digits.
    separator: Option<char>,
    digits: String,
}

impl Numeral {
    /// Reads the number at the start of a text, in Latin or Devanagari digits.
    ///
    /// Groups of three digits between equal separators are thousands, and so are the groups of `1,29,900`. The last
    /// comma or point is the decimal separator if another number of digits follows it, if another separator precedes
    /// it, and in `0,750`. A single one before three digits is decimal in a currency with three decimals.
    #[must_use]
    pub fn at(text: &str, has_three_decimals: bool) -> Self {
        let (mut groups, mut bytes) = (vec![Group::default()], 0);
        while let Some(char) = text.get(bytes..).and_then(|rest| rest.chars().next()) {
            let next = bytes + char.len_utf8();
            let ahead = || text.get(next..).unwrap_or_default().chars().map_while(digit).count();
            match (digit(char), groups.last_mut()) {
                (Some(digit), Some(group)) => group.digits.push(digit),
                _ if bytes > 0 && (matches!(char, ',' | '.') && ahead() > 0 || is_gap(char) && ahead() == 3) => {
                    groups.push(Group {
                        separator: Some(char),
                        digits: String::new(),
                    });
                }
                _ => break,
            }
            bytes = next;
        }
        Self {
            decimal: decimal(groups, has_three_decimals),
            bytes,
        }
    }

    /// Returns the value in thousandths. `None` for finer and for longer numbers.
    #[must_use]
    pub fn thousandths(&self) -> Option<u64> {
        let decimal = self.decimal.as_ref()?;
        let (whole, decimals) = decimal.split_once('.').unwrap_or((decimal, ""));
        let decimals = decimals.trim_end_matches('0');
        let is_exact = decimals.len() <= 3 && whole.len() <= WHOLE_MAX;
        is_exact
            .then(|| format!("{whole}{decimals:0<3}").parse().ok())
            .flatten()
    }
}

fn digit(char: char) -> Option<char> {
    match char {
        '0'..='9' => Some(char),
        '०'..='९' => char::from_digit(u32::from(char) - u32::from('०'), 10),
        _ => None,
    }
}

/// Returns true for separators of thousands that are no decimal separators.
const fn is_gap(char: char) -> bool {
    matches!(char, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

fn decimal(mut groups: Vec<Group>, has_three_decimals: bool) -> Option<String> {
    let last = groups.last()?;
    let is_decimal = last.separator.is_some_and(|char| !is_gap(char))
        && match groups.as_slice() {
            [whole, last] => {
                let is_group = last.digits.len() == 3 && whole.digits.len() <= 3 && !whole.digits.starts_with('0');
                has_three_decimals || !is_group
            }
            [.., before, last] => before.separator != last.separator,
            _ => false,
        };
    let decimals = if is_decimal { groups.pop() } else { None };
    let [first, behind @ ..] = groups.as_slice() else {
        return None;
    };
    if let [inner @ .., last] = behind {
        let is_of = |len| inner.iter().all(|group| group.digits.len() == len);
        let is_equal = inner.iter().all(|group| group.separator == last.separator);
        let is_grouped = is_equal && last.digits.len() == 3 && (is_of(3) || is_of(2) && first.digits.len() <= 2);
        if !is_grouped || first.digits.len() > 3 || first.digits.starts_with('0') {
            return None;
        }
    }
    let whole: String = groups.iter().map(|group| group.digits.as_str()).collect();
    match decimals {
        _ if whole.is_empty() => None,
        Some(decimals) => Some(format!("{whole}.{}", decimals.digits)),
        None => Some(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Option<u64> {
        let numeral = Numeral::at(text, false);
        assert_eq!(numeral.bytes, text.len(), "{text}");
        numeral.thousandths()
    }

    #[test]
    fn the_last_separator_is_decimal_unless_three_digits_follow() {
        for (text, thousandths) in [
            ("12,50", 12_500),
            ("12.5", 12_500),
            ("1.299", 1_299_000),
            ("1.299,50", 1_299_500),
            ("1,299.500", 1_299_500),
            ("1 299,50", 1_299_500),
            ("1\u{202f}299\u{202f}000", 1_299_000_000),
            ("1'299.50", 1_299_500),
            ("1,29,900", 129_900_000),
            ("0,750", 750),
            ("1299.505", 1_299_505),
            ("१,२९९", 1_299_000),
        ] {
            assert_eq!(of(text), Some(thousandths), "{text}");
        }
        assert_eq!(
            ["1.2.3", "12.03.2024", "1,2,3", "0,500,000", "1.2345"].map(of),
            [None; 5]
        );
        assert_eq!(Numeral::at("8 500 gm", false).bytes, 5);
        assert_eq!(Numeral::at("15 128", true).decimal.as_deref(), Some("15128"));
        assert_eq!(Numeral::at("2 1299", false).decimal.as_deref(), Some("2"));
    }

    /// Writes digits in groups of three, or in Indian groups.
    fn grouped(whole: u64, separator: &str, is_indian: bool) -> String {
        let digits = whole.to_string();
        let mut written = String::new();
        for (at, digit) in digits.chars().enumerate() {
            let left = digits.len() - at;
            let begins = left == 3
                || left > 3
                    && if is_indian {
                        !left.is_multiple_of(2)
                    } else {
                        left.is_multiple_of(3)
                    };
            if at > 0 && begins {
                written.push_str(separator);
            }
            written.push(digit);
        }
        written
    }

    proptest! {
        #[test]
        fn an_amount_reads_back_from_every_notation(minor in 0..10_u64.pow(9), places in prop::sample::select(vec![0, 2, 3])) {
            let unit = 10_u64.pow(places);
            let (whole, rest) = (minor / unit, minor % unit);
            let width = places as usize;
            for (separator, point, is_indian) in [
                ("", ".", false), ("", ",", false), (",", ".", false), (",", ".", true), (".", ",", false), (" ", ",", false),
                ("\u{a0}", ",", false), ("\u{202f}", ",", false), ("'", ".", false), ("\u{2019}", ".", false),
            ] {
                let mut text = grouped(whole, separator, is_indian);
                // `1.299` is a thousand in every other currency, so that one with three decimals states them.
                let is_whole = places == 0 || (rest == 0 && places == 2);
                if !is_whole {
                    text = format!("{text}{point}{rest:0width$}");
                }
                let read = Numeral::at(&text, places == 3);
                prop_assert_eq!(read.bytes, text.len());
                prop_assert_eq!(read.thousandths(), Some(minor * 1_000 / unit), "{}", text);
            }
        }

        #[test]
        fn any_text_begins_with_its_number(text in ".{0,20}|[0-9., ']{0,20}") {
            for has_three_decimals in [false, true] {
                prop_assert!(text.get(Numeral::at(&text, has_three_decimals).bytes..).is_some());
            }
        }
    }
}
