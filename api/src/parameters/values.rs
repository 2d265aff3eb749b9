use crate::Rule;

/// Parses an integer from text as pydantic does. The text may have surrounding white space, a sign, leading zeros,
/// single underscores between digits and a fraction of zeros. An integer beyond 64 bits becomes the largest or smallest
/// one.
///
/// # Errors
/// Returns [`Rule::IntParsing`] or, above 4,300 characters, [`Rule::IntParsingSize`].
pub fn parse_integer(text: &str) -> Result<i64, Rule> {
    if text.len() > 4300 {
        return Err(Rule::IntParsingSize);
    }
    let trimmed = text.trim();
    let (negative, digits) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let whole = match digits.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return Err(Rule::IntParsing),
        None => digits,
    };
    let misplaced = whole.starts_with('_') || whole.ends_with('_') || whole.contains("__");
    if whole.is_empty() || misplaced {
        return Err(Rule::IntParsing);
    }
    let mut value: i64 = 0;
    for byte in whole.bytes().filter(|byte| *byte != b'_') {
        if !byte.is_ascii_digit() {
            return Err(Rule::IntParsing);
        }
        value = value.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
    }
    Ok(if negative { -value } else { value })
}

/// Parses a boolean from text as pydantic does, ignoring case.
///
/// # Errors
/// [`Rule::BoolParsing`]
pub fn parse_boolean(text: &str) -> Result<bool, Rule> {
    let is = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["true", "1", "yes", "on", "t", "y"]) {
        Ok(true)
    } else if is(["false", "0", "no", "off", "f", "n"]) {
        Ok(false)
    } else {
        Err(Rule::BoolParsing)
    }
}
