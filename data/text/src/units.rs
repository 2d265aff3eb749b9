/// Returns the short form of a unit in terms, for any of its spellings. A count is spelled like a carat: `24 ct`.
fn short(word: &str) -> Option<&'static str> {
    Some(match word {
        "amp" | "amps" => "amp",
        "btu" | "btus" => "btu",
        "centimeter" | "centimeters" | "centimetre" | "centimetres" | "cm" | "cms" => "cm",
        "carat" | "carats" | "count" | "ct" => "ct",
        "cft" | "cuft" => "cuft",
        "feet" | "foot" | "ft" => "ft",
        "g" | "gm" | "gms" | "gram" | "gramme" | "grammes" | "grams" => "g",
        "gb" => "gb",
        "gsm" => "gsm",
        "horsepower" | "hp" => "hp",
        "hz" => "hz",
        "in" | "inch" | "inches" => "in",
        "kg" | "kgs" | "kilo" | "kilogram" | "kilograms" | "kilos" => "kg",
        "km" | "kms" => "km",
        "l" | "liter" | "liters" | "litre" | "litres" | "ltr" | "ltrs" => "l",
        "lb" | "lbs" | "pound" | "pounds" => "lb",
        "m" | "meter" | "meters" | "metre" | "metres" | "mtr" | "mtrs" => "m",
        "mah" => "mah",
        "mb" => "mb",
        "mg" | "milligram" | "milligrams" => "mg",
        "milliliter" | "milliliters" | "millilitre" | "millilitres" | "ml" | "mls" => "ml",
        "millimeter" | "millimeters" | "millimetre" | "millimetres" | "mm" => "mm",
        "floz" | "ounce" | "ounces" | "oz" => "oz",
        "pc" | "pcs" | "piece" | "pieces" => "pc",
        "pack" | "pk" => "pk",
        "sqft" => "sqft",
        "tb" => "tb",
        "v" | "volt" | "volts" => "v",
        "w" | "watt" | "watts" => "w",
        "yard" | "yards" | "yd" | "yds" => "yd",
        _ => return None,
    })
}

/// Units of two words: the spellings of the first word, the short form of the second word, and the short form of the
/// unit.
const OF_TWO_WORDS: [([&str; 2], &str, &str); 3] = [
    (["sq", "square"], "ft", "sqft"),
    (["cu", "cubic"], "ft", "cuft"),
    (["fl", "fluid"], "oz", "oz"),
];

/// Returns the short form of a unit of two words, such as `sq. ft.`.
pub(super) fn of_two_words(first: &str, second: &str) -> Option<&'static str> {
    let second = short(second)?;
    let unit = |(firsts, of, _): &&([&str; 2], &str, &str)| firsts.contains(&first) && *of == second;
    OF_TWO_WORDS.iter().find(unit).map(|unit| unit.2)
}

/// Returns the short form of a unit that is separate from its number, and true if the word is always a unit there.
pub(super) fn apart(word: &str) -> Option<(&'static str, bool)> {
    // `in` and `pack` can be ordinary words, as in `2 in 1`.
    short(word).map(|unit| (unit, !matches!(word, "in" | "pack")))
}

/// Splits a number with an attached unit, such as `3m` or `500gms`, into the number and the unit's short form.
pub(super) fn glued(word: &str) -> Option<(&str, &'static str)> {
    let digits = word
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (number, unit) = word.split_at_checked(digits)?;
    short(unit).filter(|_| is_number(number)).map(|unit| (number, unit))
}

/// Returns true for digits with at most one decimal point, which must be between digits.
pub(super) fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('.')
        .map_or_else(|| digits(word), |(whole, decimals)| digits(whole) && digits(decimals))
}

/// Removes trailing zeros: `3.0` → `3`, `0.50` → `0.5`.
pub(super) fn canonical_number(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}
