/// A spelling of a unit and the short form that terms carry.
///
/// A unit glued to its number (`3m`, `15in`) is recognised in any of its spellings. Apart from its number only the
/// spellings marked `true` are: `in` and `pack` are words of their own in `2 in 1`. A count is told as a carat is: `24 ct`.
const UNITS: &[(&str, &str, bool)] = &[
    ("amp", "amp", true),
    ("amps", "amp", true),
    ("btu", "btu", true),
    ("btus", "btu", true),
    ("carat", "ct", true),
    ("carats", "ct", true),
    ("centimeter", "cm", true),
    ("centimeters", "cm", true),
    ("centimetre", "cm", true),
    ("centimetres", "cm", true),
    ("cft", "cuft", true),
    ("cm", "cm", true),
    ("cms", "cm", true),
    ("count", "ct", true),
    ("ct", "ct", true),
    ("cuft", "cuft", true),
    ("feet", "ft", true),
    ("floz", "oz", true),
    ("foot", "ft", true),
    ("ft", "ft", true),
    ("g", "g", true),
    ("gb", "gb", true),
    ("gm", "g", true),
    ("gms", "g", true),
    ("gram", "g", true),
    ("gramme", "g", true),
    ("grammes", "g", true),
    ("grams", "g", true),
    ("gsm", "gsm", true),
    ("horsepower", "hp", true),
    ("hp", "hp", true),
    ("hz", "hz", true),
    ("in", "in", false),
    ("inch", "in", true),
    ("inches", "in", true),
    ("kg", "kg", true),
    ("kgs", "kg", true),
    ("kilo", "kg", true),
    ("kilogram", "kg", true),
    ("kilograms", "kg", true),
    ("kilos", "kg", true),
    ("km", "km", true),
    ("kms", "km", true),
    ("l", "l", true),
    ("lb", "lb", true),
    ("lbs", "lb", true),
    ("liter", "l", true),
    ("liters", "l", true),
    ("litre", "l", true),
    ("litres", "l", true),
    ("ltr", "l", true),
    ("ltrs", "l", true),
    ("m", "m", true),
    ("mah", "mah", true),
    ("mb", "mb", true),
    ("meter", "m", true),
    ("meters", "m", true),
    ("metre", "m", true),
    ("metres", "m", true),
    ("mg", "mg", true),
    ("milligram", "mg", true),
    ("milligrams", "mg", true),
    ("milliliter", "ml", true),
    ("milliliters", "ml", true),
    ("millilitre", "ml", true),
    ("millilitres", "ml", true),
    ("millimeter", "mm", true),
    ("millimeters", "mm", true),
    ("millimetre", "mm", true),
    ("millimetres", "mm", true),
    ("ml", "ml", true),
    ("mls", "ml", true),
    ("mm", "mm", true),
    ("mtr", "m", true),
    ("mtrs", "m", true),
    ("ounce", "oz", true),
    ("ounces", "oz", true),
    ("oz", "oz", true),
    ("pack", "pk", false),
    ("pc", "pc", true),
    ("pcs", "pc", true),
    ("piece", "pc", true),
    ("pieces", "pc", true),
    ("pk", "pk", true),
    ("pound", "lb", true),
    ("pounds", "lb", true),
    ("sqft", "sqft", true),
    ("tb", "tb", true),
    ("v", "v", true),
    ("volt", "v", true),
    ("volts", "v", true),
    ("w", "w", true),
    ("watt", "w", true),
    ("watts", "w", true),
    ("yard", "yd", true),
    ("yards", "yd", true),
    ("yd", "yd", true),
    ("yds", "yd", true),
];

fn find(word: &str) -> Option<&'static (&'static str, &'static str, bool)> {
    UNITS
        .binary_search_by_key(&word, |unit| unit.0)
        .ok()
        .and_then(|at| UNITS.get(at))
}

/// Units of two words: the first, in two spellings, the second's short form, and that of both.
const OF_TWO_WORDS: [([&str; 2], &str, &str); 3] = [
    (["sq", "square"], "ft", "sqft"),
    (["cu", "cubic"], "ft", "cuft"),
    (["fl", "fluid"], "oz", "oz"),
];

/// The short form of a unit of two words: `sq. ft.`.
pub(super) fn of_two_words(first: &str, second: &str) -> Option<&'static str> {
    let second = find(second)?.1;
    let unit = |(firsts, of, _): &&([&str; 2], &str, &str)| firsts.contains(&first) && *of == second;
    OF_TWO_WORDS.iter().find(unit).map(|unit| unit.2)
}

/// The short form of a unit that stands apart from its number, and whether it is a unit wherever it stands so.
pub(super) fn apart(word: &str) -> Option<(&'static str, bool)> {
    find(word).map(|unit| (unit.1, unit.2))
}

/// `3m`, `500gms`: the number and the unit's short form.
pub(super) fn glued(word: &str) -> Option<(&str, &'static str)> {
    let digits = word
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (number, unit) = word.split_at_checked(digits)?;
    (is_number(number))
        .then(|| find(unit).map(|unit| (number, unit.1)))
        .flatten()
}

/// Digits, with a decimal point between digits at most.
pub(super) fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('.')
        .map_or_else(|| digits(word), |(whole, decimals)| digits(whole) && digits(decimals))
}

/// `3.0` → `3`, `0.50` → `0.5`.
pub(super) fn canonical_number(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_sorted_for_the_binary_search() {
        assert!(UNITS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
