//! Numbers as words.

/// Returns the value of a number word.
pub(crate) fn in_words(word: &str) -> Option<i64> {
    let number = match word {
        "one" | "ein" | "eine" | "einem" | "einer" | "eines" | "einen" | "un" | "une" | "una" | "ek" => 1,
        "two" | "zwei" | "zweier" | "deux" | "dos" | "do" => 2,
        "three" | "drei" | "trois" | "tres" | "teen" => 3,
        "four" | "vier" | "quatre" | "cuatro" | "char" => 4,
        "five" | "funf" | "cinq" | "cinco" | "paanch" | "panch" => 5,
        "six" | "sechs" | "seis" => 6,
        "seven" | "sieben" | "sept" | "siete" => 7,
        "eight" | "acht" | "huit" | "ocho" => 8,
        "nine" | "neun" | "neuf" | "nueve" => 9,
        "ten" | "zehn" | "dix" | "diez" => 10,
        "eleven" | "elf" | "onze" | "once" => 11,
        "twelve" | "zwolf" | "douze" | "doce" => 12,
        "fourteen" | "vierzehn" | "quatorze" | "catorce" => 14,
        "fifteen" | "funfzehn" | "quinze" | "quince" => 15,
        "twenty" | "zwanzig" | "vingt" | "veinte" => 20,
        "thirty" | "dreissig" | "trente" | "treinta" => 30,
        _ => return None,
    };
    Some(number)
}

/// Returns true for a word that counts things, whatever follows. `do` and `once` are excluded, because they usually
/// have another meaning.
pub(crate) fn is_count(word: &str) -> bool {
    let is_other = matches!(word, "do" | "once" | "char" | "elf" | "sept");
    !is_other && in_words(word).is_some_and(|number| number > 1)
}

/// Returns the factor by which a word multiplies the preceding number.
pub(crate) fn multiplier(word: &str) -> Option<i64> {
    match word {
        "k" | "thousand" | "hazar" | "hazaar" | "mil" | "tausend" => Some(1_000),
        "lakh" | "lakhs" | "lac" | "lacs" => Some(100_000),
        "crore" | "crores" => Some(10_000_000),
        _ => None,
    }
}
