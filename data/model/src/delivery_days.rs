//! Parses delivery times from the name or description of a delivery rate.

const DAYS_MAX: u16 = 90;

/// Returns the minimum and maximum number of days in a text such as `3-5 business days`, or `None` if the text states
/// no days.
#[must_use]
pub fn delivery_days(text: &str) -> Option<(u16, u16)> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let at = words.iter().position(|word| matches!(*word, "day" | "days"))?;
    let mut before = words[..at].iter().rev().peekable();
    before.next_if(|word| matches!(**word, "business" | "working" | "calendar"));
    let most = number(before.next()?)?;
    before.next_if(|word| matches!(**word, "to" | "and"));
    let fewest = before.next().and_then(|word| number(word));
    Some((fewest.filter(|fewest| *fewest <= most).unwrap_or(most), most))
}

fn number(word: &str) -> Option<u16> {
    word.parse().ok().filter(|days| *days <= DAYS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_where_they_are_stated() {
        for (text, told) in [
            ("Standard (3-5 business days)", Some((3, 5))),
            ("3 to 5 days", Some((3, 5))),
            ("2–4 working days", Some((2, 4))),
            ("within 7 days", Some((7, 7))),
            ("Same day", None),
            ("Express", None),
            ("Rs 500 in 2000 days", None),
            ("", None),
        ] {
            assert_eq!(delivery_days(text), told, "{text}");
        }
    }
}
