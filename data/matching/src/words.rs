/// Words that never help to identify a product.
const EMPTY: &[&str] = &["an", "and", "by", "for", "from", "of", "or", "the", "to", "with"];

/// Single letters that count as meaningless words when they appear alone.
const LETTERS: &[&str] = &["a", "n", "w"];

/// Words that usually carry no meaning, but distinguish two products that have different ones, such as in-ear and
/// on-ear.
const LINKS: &[&str] = &["in", "on"];

/// Words that identify a different product: a version, a component, or a larger or smaller amount. A type or attribute
/// does not replace such a word, because it applies to many products.
const VERSIONS: &[&str] = &[
    "adapter",
    "air",
    "bundle",
    "cable",
    "cartridge",
    "case",
    "charger",
    "combo",
    "cover",
    "decaf",
    "duo",
    "free",
    "gen",
    "generation",
    "gift",
    "guard",
    "hamper",
    "holder",
    "insert",
    "kit",
    "lid",
    "lite",
    "max",
    "mini",
    "neo",
    "pack",
    "pair",
    "plus",
    "pro",
    "protector",
    "refill",
    "refurbished",
    "renewed",
    "replacement",
    "sample",
    "sampler",
    "se",
    "set",
    "spare",
    "stand",
    "strap",
    "tester",
    "travel",
    "trial",
    "trio",
    "twin",
    "ultra",
    "used",
];

/// Purposes of products that have no other purpose.
const PURPOSES: &[&str] = &[
    "all", "casual", "cooking", "daily", "everyday", "festive", "gift", "gifting", "glowing", "growth", "gym",
    "healthy", "home", "kitchen", "office", "party", "serving", "skin", "smooth", "soft", "strong", "type", "use",
    "wear", "wedding", "work", "workout", "yoga",
];

/// Alternative spellings of a word. Words with the same [`sound`] need no entry.
const SPELLINGS: &[(&str, &str)] = &[
    ("childrens", "kid"),
    ("colour", "color"),
    ("daal", "dal"),
    ("female", "women"),
    ("flavored", "flavor"),
    ("flavour", "flavor"),
    ("flavoured", "flavor"),
    ("gents", "men"),
    ("grey", "gray"),
    ("her", "women"),
    ("him", "men"),
    ("jewellery", "jewelry"),
    ("ladies", "women"),
    ("lady", "women"),
    ("large", "l"),
    ("male", "men"),
    ("man", "men"),
    ("medium", "m"),
    ("mens", "men"),
    ("pajama", "pyjama"),
    ("pajamas", "pyjama"),
    ("pyjamas", "pyjama"),
    ("sarees", "saree"),
    ("sari", "saree"),
    ("small", "s"),
    ("tee", "tshirt"),
    ("tees", "tshirt"),
    ("tshirts", "tshirt"),
    ("tur", "toor"),
    ("woman", "women"),
    ("womens", "women"),
    ("yoghurt", "yogurt"),
];

/// Generic shop words that a title may contain or omit.
const SOFT: &[&str] = &[
    "authentic",
    "best",
    "buy",
    "edition",
    "exclusive",
    "flavor",
    "genuine",
    "latest",
    "new",
    "official",
    "online",
    "quality",
    "size",
];

/// Containers of products that are sold by weight or volume.
const CONTAINERS: &[&str] = &["bottle", "box", "container", "jar", "packet", "tin", "tub", "tube"];

/// Packaging of a product according to its amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    pub(crate) is_weighed: bool,
    pub(crate) is_poured: bool,
}

/// Maximum number of letters of words that are compared verbatim.
const SHORT_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word in its canonical spelling, singular.
    pub(crate) stem: String,
    pub(crate) sound: String,
    /// `true` if the word names the product's purpose because it follows `for`.
    pub(crate) is_purpose: bool,
    /// Letters or number attached to the word: the number in `t20` for `t`, the letter in `6s` for `6`.
    pub(crate) code: Option<String>,
    /// `true` if the word is part of a number that may be a count.
    pub(crate) is_counted: bool,
}

impl Word {
    /// Returns `None` for a word that carries no meaning.
    pub(crate) fn of(text: &str, is_purpose: bool) -> Option<Self> {
        if EMPTY.contains(&text) || LETTERS.contains(&text) {
            return None;
        }
        let spelt = spelling(text);
        let stem = spelling(singular(spelt)).to_owned();
        Some(Self {
            sound: sound(&stem),
            stem,
            is_purpose,
            code: None,
            is_counted: false,
        })
    }

    /// Creates a word from a letter that names a vitamin, a plug or a model.
    pub(crate) fn letter(text: &str) -> Self {
        Self {
            stem: text.to_owned(),
            sound: text.to_owned(),
            is_purpose: false,
            code: None,
            is_counted: false,
        }
    }

    /// Returns `true` for a letter that may have no meaning.
    pub(crate) fn may_be_letter(text: &str) -> bool {
        LETTERS.contains(&text)
    }

    pub(crate) fn is_number(&self) -> bool {
        self.stem.starts_with(|char: char| char.is_ascii_digit())
    }

    pub(crate) fn is_link(&self) -> bool {
        LINKS.contains(&self.stem.as_str())
    }

    pub(crate) fn is_version(&self) -> bool {
        VERSIONS.contains(&self.stem.as_str())
    }

    pub(crate) fn is_common_purpose(&self) -> bool {
        self.is_purpose && PURPOSES.contains(&self.stem.as_str())
    }

    pub(crate) fn is_soft(&self, packed: Packing) -> bool {
        let stem = self.stem.as_str();
        let is_packed = packed.is_weighed || packed.is_poured;
        // Liquids are sold in pouches to refill a bottle.
        let is_pouch = stem == "pouch" && packed.is_weighed && !packed.is_poured;
        SOFT.contains(&stem) || is_pouch || (is_packed && self.is_container())
    }

    pub(crate) fn is_container(&self) -> bool {
        CONTAINERS.contains(&self.stem.as_str())
    }

    /// Returns `true` if both words may be one word in two spellings. Numbers are equal unless different letters
    /// precede them.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        if self.sound == other.sound {
            return self.fits_code(other);
        }
        let (one, two) = (self.stem.as_bytes(), other.stem.as_bytes());
        let is_word = |word: &[u8]| word.len() >= 8 && word.iter().all(u8::is_ascii_lowercase);
        is_word(one) && is_word(two) && one.first() == two.first() && differ_by_one(one, two)
    }

    /// Spelling differences count.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.stem == other.stem && self.fits_code(other)
    }

    fn fits_code(&self, other: &Self) -> bool {
        self.code.is_none() || other.code.is_none() || self.code == other.code
    }
}

fn spelling(text: &str) -> &str {
    SPELLINGS
        .binary_search_by_key(&text, |(from, _)| from)
        .ok()
        .and_then(|at| SPELLINGS.get(at))
        .map_or(text, |(_, to)| to)
}

fn singular(word: &str) -> &str {
    let Some(stem) = word.strip_suffix('s') else {
        return word;
    };
    if word.len() < 4 || stem.ends_with(['s', 'u', 'i']) {
        return word;
    }
    let of_es = ["ches", "shes", "sses", "xes"];
    if of_es.iter().any(|end| word.ends_with(end)) {
        return stem.strip_suffix('e').unwrap_or(stem);
    }
    stem
}

/// Returns a key that different spellings of a word share. Double letters become single, `z` becomes `s`, `ou` becomes
/// `o`, `y` and a final `ie` become `i`, and `ph` becomes `f`. The `h` after `b`, `d`, `g`, `j` and `k` is dropped.
/// Short words, Roman numerals and sizes stay unchanged: `II` is not `III`, `AA` is not `AAA`, and `XL` is not `XXL`.
pub(crate) fn sound(word: &str) -> String {
    let is_size = word.starts_with("xx") && word.trim_start_matches('x').len() <= 1;
    if word.len() <= SHORT_MAX || is_size || word.chars().all(|char| matches!(char, 'i' | 'v' | 'x')) {
        return word.to_owned();
    }
    let mut key = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(char) = chars.next() {
        let letter = match char {
            'z' => 's',
            'y' => 'i',
            'p' if chars.peek() == Some(&'h') => {
                chars.next();
                'f'
            }
            'h' if key.ends_with(['b', 'd', 'g', 'j', 'k']) => continue,
            'u' if key.ends_with('o') => continue,
            other => other,
        };
        if !key.ends_with(letter) || letter.is_ascii_digit() {
            key.push(letter);
        }
    }
    // `batteries` without its plural `s` is `batterie`.
    if key.ends_with("ie") {
        key.pop();
    }
    key
}

/// Returns `true` if the words differ by inserting, deleting or replacing one letter.
fn differ_by_one(one: &[u8], two: &[u8]) -> bool {
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    let same = short.iter().zip(long).take_while(|(left, right)| left == right).count();
    let rest = |word: &[u8], skip: usize| word.get(same + skip..).unwrap_or_default().to_vec();
    match long.len() - short.len() {
        0 => rest(short, 1) == rest(long, 1),
        1 => rest(short, 0) == rest(long, 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(one: &str, other: &str) -> bool {
        let word = |text| Word::of(text, false).unwrap();
        word(one).is_near(&word(other))
    }

    #[test]
    fn spellings_are_sorted_for_the_binary_search() {
        assert!(SPELLINGS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn spellings_of_one_word_are_near_and_other_words_are_not() {
        for (one, other) in [
            ("moisturiser", "moisturizer"),
            ("daal", "dal"),
            ("bhringraj", "bhringaraj"),
            ("unflavoured", "unflavored"),
            ("shoes", "shoe"),
            ("grey", "gray"),
            ("ladies", "womens"),
            ("large", "l"),
            ("batteries", "battery"),
            ("cookies", "cookie"),
        ] {
            assert!(near(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("shirt", "skirt"),
            ("short", "shirt"),
            ("cream", "creamy"),
            ("thin", "tin"),
            ("matte", "latte"),
            ("glide", "slide"),
            ("black", "blank"),
            ("small", "large"),
            ("ii", "iii"),
            ("viii", "vii"),
            ("aa", "aaa"),
            ("xl", "xxl"),
            ("xxl", "xxxl"),
            ("d", "dd"),
        ] {
            assert!(!near(one, other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn nearness_has_no_direction(one in "[a-z]{1,12}", other in "[a-z]{1,12}") {
            let (Some(one), Some(other)) = (Word::of(&one, false), Word::of(&other, false)) else { return Ok(()) };
            prop_assert_eq!(one.is_near(&other), other.is_near(&one));
            prop_assert!(one.is_near(&one));
        }
    }
}
