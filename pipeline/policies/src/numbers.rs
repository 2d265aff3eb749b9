//! Numbers as people write them.

/// Parses a number with its groups and decimals, in hundredths: `1,499`, `1,00,000`, `4,90`, `1.499,00`. `None` for what
/// is none, or above ten thousand million.
pub(crate) fn hundredths(text: &str) -> Option<i64> {
    let last = text.rfind([',', '.']);
    let (whole, decimals) = match last {
        Some(at) if is_decimal(text, at) => (&text[..at], &text[at + 1..]),
        _ => (text, ""),
    };
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let cents = match decimals.len() {
        0 => 0,
        1 => decimals.parse::<i64>().ok()? * 10,
        _ => decimals.parse::<i64>().ok()?,
    };
    Some(digits.parse::<i64>().ok()? * 100 + cents)
}

/// Whether what follows a sign are decimals: one or two digits, and no other such sign before it that would make both
/// groups.
fn is_decimal(text: &str, at: usize) -> bool {
    let sign = text.as_bytes()[at];
    let after = text.len() - at - 1;
    (1..=2).contains(&after) && !text.as_bytes()[..at].contains(&sign)
}

/// Words for numbers up to twelve.
pub(crate) fn in_words(word: &str) -> Option<i64> {
    let number = match word {
        "one" | "ein" | "eine" | "einem" | "einer" | "un" | "une" | "una" | "ek" => 1,
        "two" | "zwei" | "deux" | "dos" => 2,
        "three" | "drei" | "trois" | "tres" | "teen" => 3,
        "four" | "vier" | "quatre" | "cuatro" | "char" => 4,
        "five" | "funf" | "cinq" | "cinco" | "paanch" => 5,
        "six" | "sechs" | "seis" => 6,
        "seven" | "sieben" | "sept" | "siete" => 7,
        "eight" | "acht" | "huit" | "ocho" => 8,
        "nine" | "neun" | "neuf" | "nueve" => 9,
        "ten" | "zehn" | "dix" | "diez" => 10,
        "twelve" | "zwolf" | "douze" | "doce" => 12,
        _ => return None,
    };
    Some(number)
}

/// By how much a word after a number multiplies it.
pub(crate) fn multiplier(word: &str) -> Option<i64> {
    match word {
        "k" | "thousand" | "hazar" => Some(1_000),
        "lakh" | "lakhs" | "lac" | "lacs" => Some(100_000),
        "crore" | "crores" => Some(10_000_000),
        _ => None,
    }
}
