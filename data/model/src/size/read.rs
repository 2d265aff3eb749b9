use super::{CUPS, Kind, LETTER_MAX, LETTER_MIN, Size, SizeSystem};

const LABEL_BYTES_MAX: usize = 64;
/// Maximum number of alternatives in one label, as in `M / 38 / UK 10`.
const ALTERNATIVES_MAX: usize = 4;

/// Words in labels that are not part of the size.
const SAID: &[&str] = &[
    "size",
    "sz",
    "taille",
    "talla",
    "taglia",
    "größe",
    "groesse",
    "saiz",
    "साइज",
];

const ONE_SIZES: &[&str] = &[
    "one-size",
    "one size",
    "onesize",
    "one size fits all",
    "one size fits most",
    "one fits all",
    "free size",
    "freesize",
    "free",
    "os",
    "o/s",
    "osfa",
    "osfm",
    "universal",
    "universal size",
    "uni",
    "unisize",
    "taille unique",
    "unique",
    "talla única",
    "talla unica",
    "taglia unica",
    "einheitsgröße",
    "फ्री साइज",
    "फ़्री साइज़",
];

/// Words for letter sizes, with their steps from M.
const WORDS: &[(&str, i8)] = &[
    ("small", -1),
    ("sm", -1),
    ("sml", -1),
    ("klein", -1),
    ("petit", -1),
    ("pequeño", -1),
    ("pequeña", -1),
    ("piccola", -1),
    ("chhota", -1),
    ("chota", -1),
    ("छोटा", -1),
    ("medium", 0),
    ("med", 0),
    ("md", 0),
    ("mittel", 0),
    ("moyen", 0),
    ("mediano", 0),
    ("mediana", 0),
    ("media", 0),
    ("मध्यम", 0),
    ("large", 1),
    ("lg", 1),
    ("lrg", 1),
    ("groß", 1),
    ("grand", 1),
    ("grande", 1),
    ("bada", 1),
    ("बड़ा", 1),
];

pub(super) fn label(label: &str, says: SizeSystem) -> Option<Size> {
    if label.len() > LABEL_BYTES_MAX {
        return None;
    }
    let lower = label.to_lowercase();
    let plain = unsaid(lower.trim());
    if ONE_SIZES.contains(&plain) {
        return Some(Size(Kind::OneSize));
    }
    one(plain, says)
        .or_else(|| noted(plain, says))
        .or_else(|| agreeing(plain, says))
}

/// Strips words that are not part of the size.
fn unsaid(label: &str) -> &str {
    let is_edge = |edge: char| edge.is_whitespace() || matches!(edge, ':' | '.' | ',' | '-' | '–' | '#');
    let mut plain = label.trim_matches(is_edge);
    if ONE_SIZES.contains(&plain) {
        return plain;
    }
    for word in SAID {
        let before = plain.strip_prefix(word).filter(|rest| rest.starts_with(is_edge));
        plain = before.unwrap_or(plain).trim_start_matches(is_edge);
        let behind = plain.strip_suffix(word).filter(|rest| rest.ends_with(is_edge));
        plain = behind.unwrap_or(plain).trim_end_matches(is_edge);
    }
    plain
}

fn one(label: &str, says: SizeSystem) -> Option<Size> {
    age(label)
        .or_else(|| worded(label).map(|steps| Size(Kind::Letter(steps))))
        .or_else(|| cup(label))
        .or_else(|| of_region(label))
        .or_else(|| waist(label, says))
        .or_else(|| Size::of_halves(says, halves(label)?))
}

/// Parses a size followed by a note in brackets, such as `M (38)` or `8 (UK)`.
fn noted(label: &str, says: SizeSystem) -> Option<Size> {
    let (before, note) = label.strip_suffix([')', ']'])?.split_once(['(', '['])?;
    let (before, note) = (before.trim(), note.trim());
    let region = region(note).and_then(|system| Size::of_halves(system, halves(before)?));
    region.or_else(|| together(one(before, says)?, one(note, says)))
}

/// Parses one size that is stated in several ways, such as `UK 8 / EU 42`, `M/38` or `L - 40`.
fn agreeing(label: &str, says: SizeSystem) -> Option<Size> {
    let mark = ["/", "|", " - ", " – ", ","]
        .into_iter()
        .find(|mark| label.contains(mark))?;
    let parts: Vec<&str> = label.split(mark).map(str::trim).collect();
    if parts.len() > ALTERNATIVES_MAX {
        return None;
    }
    let mut told = None;
    for part in parts {
        let size = one(part, says)?;
        told = Some(match told {
            None => size,
            Some(before) => together(before, Some(size))?,
        });
    }
    told
}

/// Combines the sizes of two labels for one product. Two different sizes of one system form a range and are rejected.
fn together(first: Size, other: Option<Size>) -> Option<Size> {
    let Some(other) = other else { return Some(first) };
    if first == other {
        return Some(first);
    }
    let (one, two) = (first.system(), other.system());
    match (one, two) {
        _ if one == two => None,
        (_, SizeSystem::Letter) => Some(other),
        (SizeSystem::Number, _) => Some(other),
        _ => Some(first),
    }
}

/// Parses letter sizes and words for them: `xl`, `x-large`, `extra large`, `2x large`.
fn worded(label: &str) -> Option<i8> {
    if let Some(steps) = letters(label) {
        return Some(steps);
    }
    let steps_of = |word: &str| WORDS.iter().find(|(known, _)| *known == word).map(|(_, steps)| *steps);
    if let Some(steps) = steps_of(label) {
        return Some(steps);
    }
    let mut words = label.split([' ', '-']).filter(|word| !word.is_empty()).peekable();
    let mut times = 0_i8;
    let mut last = None;
    while let Some(word) = words.next() {
        if words.peek().is_none() {
            last = Some(word);
            break;
        }
        times = times.checked_add(extra(word)?)?;
    }
    let last = last?;
    // Handles `xlarge` and `xxsmall`.
    let stem = last.trim_start_matches('x');
    let joined = i8::try_from(last.len() - stem.len()).ok()?;
    times = match (times, joined) {
        (0, joined) => joined,
        (times, 0) => times,
        // In `double xl`, the multiplier is the number of Xs.
        (2.., 1) => times,
        _ => return None,
    };
    let base = steps_of(stem).or_else(|| letters(stem).filter(|steps| steps.abs() == 1))?;
    match base {
        -1 | 1 if times > 0 => in_bounds(base.checked_add(base.checked_mul(times)?)?),
        _ => None,
    }
}

/// Returns how many times a prefix word makes a size extra large or extra small.
fn extra(word: &str) -> Option<i8> {
    let times = match word {
        "x" | "extra" | "xtra" | "ex" => 1,
        "xx" | "double" | "dbl" => 2,
        "xxx" | "triple" => 3,
        _ => {
            return word
                .strip_suffix('x')?
                .parse()
                .ok()
                .filter(|times| (1..=10).contains(times));
        }
    };
    Some(times)
}

fn in_bounds(steps: i8) -> Option<i8> {
    (LETTER_MIN..=LETTER_MAX).contains(&steps).then_some(steps)
}

/// Parses `s`, `xs`, `2xs`, `m`, `xxl` or `3xl` into steps from M.
pub(super) fn letters(word: &str) -> Option<i8> {
    match word {
        "s" => return Some(-1),
        "m" => return Some(0),
        "l" => return Some(1),
        _ => {}
    }
    let (times, sign) = match word.strip_suffix('l') {
        Some(times) => (times, 1),
        None => (word.strip_suffix('s')?, -1),
    };
    let times: i8 = match times.strip_suffix('x')? {
        xs if xs.bytes().all(|byte| byte == b'x') => i8::try_from(xs.len()).ok()?.checked_add(1)?,
        number if number.len() <= 2 && !number.starts_with(['0', '+', '-']) => number.parse().ok()?,
        _ => return None,
    };
    in_bounds(times.checked_add(1)?.checked_mul(sign)?)
}

/// Parses `34b` or `34 b`.
pub(super) fn cup(label: &str) -> Option<Size> {
    let (band, cup) = label.split_at_checked(2)?;
    let band: u8 = band.parse().ok()?;
    let cup = CUPS
        .iter()
        .position(|known| *known == cup.trim_start_matches([' ', '-']))?;
    let is_band = (28..=52).contains(&band) && band.is_multiple_of(2);
    is_band.then_some(Size(Kind::Bra {
        band,
        cup: u8::try_from(cup).ok()?,
    }))
}

fn region(word: &str) -> Option<SizeSystem> {
    Some(match word {
        "uk" | "gb" => SizeSystem::Uk,
        "us" | "usa" => SizeSystem::Us,
        "eu" | "eur" | "euro" => SizeSystem::Eu,
        "ind" | "india" => SizeSystem::In,
        _ => return None,
    })
}

/// Parses `uk 8`, `uk-8`, `uk8` and `8 uk`. `in 7` is accepted too, but `7 in` is a length.
fn of_region(label: &str) -> Option<Size> {
    let letters_end = label
        .find(|char: char| !char.is_ascii_alphabetic())
        .unwrap_or(label.len());
    if letters_end > 0 {
        let (word, number) = label.split_at(letters_end);
        let system = region(word).or((word == "in").then_some(SizeSystem::In))?;
        let number = number.trim_start_matches([' ', '-', ':', '.']);
        let number = number.strip_prefix("size").unwrap_or(number).trim_start();
        return Size::of_halves(system, halves(number)?);
    }
    let word_at = label.rfind(|char: char| !char.is_ascii_alphabetic())?;
    let (number, word) = label.split_at(word_at + label[word_at..].chars().next()?.len_utf8());
    Size::of_halves(region(word)?, halves(number.trim_end_matches([' ', '-']))?)
}

/// Parses `waist 32`, `w32`, `32w` and `w32 l34`, and plain inches if the option's name states a waist.
fn waist(label: &str, says: SizeSystem) -> Option<Size> {
    let is_waist = |number: &str| {
        let inches = number.trim().trim_end_matches(['"', '”', '″']);
        Size::of_halves(SizeSystem::Waist, halves(inches)?)
    };
    if let Some(number) = label.strip_prefix("waist") {
        return is_waist(number.trim_start_matches([' ', '-', ':']));
    }
    if let Some(number) = label.strip_suffix("waist") {
        return is_waist(number);
    }
    let first = label.split([' ', '/', 'x']).next()?;
    let rest = label[first.len()..].trim_start_matches([' ', '/', 'x']);
    let is_length = rest.is_empty() || rest.starts_with('l') || rest.ends_with('l');
    let marked = first.strip_prefix('w').or_else(|| first.strip_suffix('w'));
    if let Some(number) = marked.filter(|_| is_length) {
        return is_waist(number);
    }
    if says != SizeSystem::Waist {
        return None;
    }
    let number = ["inches", "inch", "in", "\"", "”", "″"]
        .iter()
        .find_map(|unit| label.strip_suffix(unit))
        .unwrap_or(label);
    is_waist(number)
}

/// Parses `2-3y`, `2 - 3 years`, `6-12m`, `6m-1y` and `4 years`. A single number with `m` could be a length and is
/// rejected.
fn age(label: &str) -> Option<Size> {
    let label = label.strip_prefix("age ").unwrap_or(label);
    let parts: Vec<&str> = match ["-", "–", " to "].iter().find(|mark| label.contains(**mark)) {
        Some(mark) => label.split(mark).map(str::trim).collect(),
        None => vec![label],
    };
    let months = |number: u16, unit: &str| match unit {
        "y" | "yr" | "yrs" | "year" | "years" | "years old" | "साल" | "jahre" | "ans" | "años" => {
            number.checked_mul(12)
        }
        "m" | "mo" | "mos" | "mth" | "mths" | "month" | "months" | "monate" | "mois" | "meses" => Some(number),
        _ => None,
    };
    match parts.as_slice() {
        [single] => {
            let (number, unit) = unit_of(single)?;
            let age = (unit != "m").then(|| months(number, unit)).flatten()?;
            Size::of_age(age, age)
        }
        [from, to] => {
            let ((from, first), (to, unit)) = (unit_of(from)?, unit_of(to)?);
            let to = months(to, unit)?;
            let from = months(from, if first.is_empty() { unit } else { first })?;
            Size::of_age(from, to)
        }
        _ => None,
    }
}

/// Splits a text into a whole number and the unit after it.
fn unit_of(text: &str) -> Option<(u16, &str)> {
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u16 = (digits <= 3).then(|| number.parse().ok()).flatten()?;
    Some((number, unit.trim_start()))
}

/// Parses a number as labels spell it, in halves: `9`, `08`, `9.5`, `9½`, `9 1/2`.
fn halves(text: &str) -> Option<u16> {
    let text = text.trim();
    let (whole, half) = match text.strip_suffix('½').or_else(|| text.strip_suffix(" 1/2")) {
        Some(whole) => (whole.trim_end(), 1),
        None => match text.split_once(['.', ',']) {
            Some((whole, "5" | "50")) => (whole, 1),
            Some((whole, "0" | "00")) => (whole, 0),
            Some(_) => return None,
            None => (text, 0),
        },
    };
    let is_number = (1..=3).contains(&whole.len()) && whole.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        .then(|| whole.parse::<u16>().ok())
        .flatten()
        .map(|whole| whole * 2 + half)
}
