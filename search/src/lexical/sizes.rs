use super::term::QueryTerm;

/// Joins sizes into one word, as the index has them: `6x9` for `6 x 9`, `6' x 9'` and `6 by 9`, if products have it.
pub(super) fn joined(words: Vec<QueryTerm>, is_held: impl Fn(&str) -> bool) -> Vec<QueryTerm> {
    let mut joined: Vec<QueryTerm> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let size = size(words.get(at..).unwrap_or_default()).filter(|(size, _)| is_held(size));
        let Some((size, taken)) = size else {
            joined.push(word.clone());
            at += 1;
            continue;
        };
        joined.push(QueryTerm {
            stemmed: size.clone(),
            plain: size,
            position: word.position,
        });
        at += taken;
    }
    joined
}

/// Returns the size at the start of the words, and the number of its words.
fn size(words: &[QueryTerm]) -> Option<(String, usize)> {
    let first = words.first()?;
    if let Some((one, other)) = first.plain.split_once('x') {
        // Both sides may be in one word, as in `6ftx9ft`.
        let (one, other) = (side(one)?, side(other)?);
        let glued = format!("{one}x{other}");
        return (glued != first.plain).then_some((glued, 1));
    }
    let one = side(&first.plain)?;
    let next = words.get(1)?;
    if matches!(next.plain.as_str(), "x" | "by") {
        let other = words.get(2)?;
        // If both sides have a unit, they stay separate words, which are more specific.
        let both_told = one != first.plain && side(&other.plain)? != other.plain;
        return (!both_told).then(|| Some((format!("{one}x{}", side(&other.plain)?), 3)))?;
    }
    let other = side(next.plain.strip_prefix('x')?)?;
    Some((format!("{one}x{other}"), 2))
}

/// Removes the unit of a side.
fn side(word: &str) -> Option<&str> {
    let digits = word.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let is_number = digits.starts_with(|char: char| char.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let unit = word.get(digits.len()..)?;
    (is_number && matches!(unit, "" | "ft" | "in" | "cm" | "mm" | "m")).then_some(digits)
}

#[cfg(test)]
mod tests {
    use crate::lexical::terms::QueryTerms;

    fn words(text: &str) -> String {
        let terms = QueryTerms::of(text, |size| size != "7x7");
        terms
            .iter()
            .map(|term| term.plain.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_size_is_one_word_however_it_is_written() {
        for text in [
            "6x9",
            "6 x 9",
            "6 X 9",
            "6 by 9",
            "6'x9'",
            "6' x 9",
            "6ftx9ft",
            "6\u{d7}9",
            "6 \u{d7} 9",
            "6 x 9 ft",
        ] {
            assert_eq!(words(&format!("blue {text} rug")), "blue 6x9 rug", "{text}");
        }
        assert_eq!(words("12.5 x 9 x 3"), "12.5x9 x 3");
        assert_eq!(words("12 x 12 tile"), "12x12 tile");
    }

    #[test]
    fn what_is_no_size_or_told_with_its_units_or_held_by_nothing_stays() {
        for (text, expected) in [
            ("6 ft x 9 ft", "6ft x 9ft"),
            ("xbox x 9", "xbox x 9"),
            ("7 x 7", "7 x"),
            ("6 x", "6 x"),
            ("x 9", "x 9"),
            ("stand by me", "stand me"),
            ("9 by", "9"),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
