use crate::pieces::{Piece, pieces, pieces_until};
use crate::words::Word;

/// Values of the vendor field that do not name a maker, such as generic shop words and departments.
const NOBODY: &[&str] = &[
    "accessories",
    "baby",
    "bestseller",
    "boys",
    "clothing",
    "combo",
    "cotton",
    "default",
    "electronics",
    "fashion",
    "footwear",
    "generic",
    "gents",
    "gifts",
    "girls",
    "grocery",
    "imported",
    "kids",
    "ladies",
    "linen",
    "men",
    "mens",
    "mystore",
    "na",
    "new",
    "newarrivals",
    "nobrand",
    "none",
    "organic",
    "other",
    "others",
    "premium",
    "sale",
    "shoes",
    "silk",
    "unbranded",
    "unisex",
    "unknown",
    "vendor",
    "women",
    "womens",
];

/// Words after a name that state the line of business or the type of company.
const TRADES: &[&str] = &[
    "and",
    "apparel",
    "audio",
    "beauty",
    "botanics",
    "brand",
    "care",
    "clothing",
    "co",
    "collective",
    "company",
    "cookware",
    "cosmetics",
    "designs",
    "electronics",
    "essentials",
    "fashion",
    "fitness",
    "foods",
    "footwear",
    "global",
    "goods",
    "group",
    "health",
    "home",
    "inc",
    "india",
    "international",
    "jewellery",
    "jewelry",
    "kitchen",
    "labs",
    "lifestyle",
    "limited",
    "living",
    "llp",
    "ltd",
    "naturals",
    "nutrition",
    "official",
    "online",
    "organics",
    "private",
    "pvt",
    "retail",
    "shop",
    "shoes",
    "skin",
    "skincare",
    "sports",
    "store",
    "studio",
    "wear",
    "wellness",
];

/// Minimum number of letters of a name that is compared.
const LETTERS_MIN: usize = 3;
/// Maximum number of words of a name that are read.
const WORDS_MAX: usize = 6;
/// Maximum number of first words of a title that may be a maker's name.
pub(crate) const TITLE_WORDS_MAX: usize = 3;

/// Name of a maker, in the two forms in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maker {
    /// Full name, without spaces.
    pub(crate) full: String,
    /// Name without words for the line of business.
    pub(crate) short: String,
    /// Sounds of the words of the name, without words that carry no meaning.
    pub(crate) sounds: Vec<String>,
    /// Sounds of the whole name, in both forms.
    pub(crate) forms: [String; 2],
    /// Number of leading sounds that make up the name without the line of business.
    pub(crate) kept: usize,
}

impl Maker {
    /// Returns `None` if the text does not name a maker.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut words: Vec<String> = pieces(name)
            .into_iter()
            .map(|piece| piece.text)
            .take(WORDS_MAX)
            .collect();
        words.retain(|word| word != "and");
        if words.len() > 1 && words.first().is_some_and(|word| word == "the") {
            words.remove(0);
        }
        let full = words.concat();
        if full.len() < LETTERS_MIN || NOBODY.contains(&full.as_str()) {
            return None;
        }
        let mut kept = words.as_slice();
        while let [before @ .., last] = kept {
            if before.is_empty() || !TRADES.contains(&last.as_str()) {
                break;
            }
            kept = before;
        }
        let kept = if kept.concat().len() < LETTERS_MIN {
            words.as_slice()
        } else {
            kept
        };
        let sounds = |words: &[String]| -> Vec<String> {
            let words = words.iter().filter_map(|word| Word::of(word, false));
            words.map(|word| word.sound).collect()
        };
        let short = kept.concat();
        let form = |name: &str| Word::of(name, false).map_or_else(String::new, |word| word.sound);
        Some(Self {
            kept: sounds(kept).len(),
            sounds: sounds(&words),
            forms: [form(&full), form(&short)],
            full,
            short,
        })
    }

    pub(crate) fn first_letters(&self) -> impl Iterator<Item = FirstLetters> {
        let forms = [&self.full, &self.short].into_iter();
        forms.filter_map(|name| name.as_bytes().first_chunk().copied())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.sounds.iter().chain(&self.forms)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.short == other.short || self.full == other.full
    }
}

/// Splits off the start of a title that [`beginnings`] reads.
pub(crate) fn begun(title: &str) -> Vec<Piece> {
    let is_enough = |found: &[Piece]| found.iter().filter(|piece| piece.text != "and").count() >= TITLE_WORDS_MAX;
    pieces_until(title, is_enough)
}

/// Number of letters that rule out most titles quickly. No name among [`beginnings`] is shorter.
const FIRST_LETTERS: usize = LETTERS_MIN + 1;

/// First letters of a name, in lowercase.
pub(crate) type FirstLetters = [u8; FIRST_LETTERS];

/// Returns the letters with which all [`beginnings`] of a title start, without splitting the title. Returns `None` if
/// the letters do not decide.
pub(crate) fn first_letters(title: &str) -> Option<FirstLetters> {
    // The extra letters show whether one of the first words is `and`, which names leave out.
    let (mut letters, mut count) = ([0; FIRST_LETTERS + 2], 0);
    for byte in title.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                let Some(letter) = letters.get_mut(count) else { break };
                *letter = byte.to_ascii_lowercase();
                count += 1;
            }
            b'0'..=b'9' | b'%' | b'+' if count >= FIRST_LETTERS => break,
            b'0'..=b'9' | b'%' | b'+' | 0x80.. => return None,
            // Characters other than letters and digits separate words or are ignored within a word.
            _ => {}
        }
    }
    let has_and = letters.windows(3).any(|three| three == b"and");
    letters.first_chunk().copied().filter(|_| !has_and)
}

/// Returns the possible maker names at the start of a title, the shortest first.
pub(crate) fn beginnings(title: &[Piece]) -> Vec<String> {
    let mut name = String::new();
    let mut found = Vec::with_capacity(TITLE_WORDS_MAX);
    for piece in title.iter().filter(|piece| piece.text != "and").take(TITLE_WORDS_MAX) {
        name.push_str(&piece.text);
        if name.len() > LETTERS_MIN {
            found.push(name.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_maker_is_one_however_its_name_is_spelt() {
        let same = |one: &str, other: &str| Maker::of(one).unwrap().is_same(&Maker::of(other).unwrap());
        assert!(same("Chaiwale & Co", "Chaiwale and Co."));
        assert!(same("Ojas", "OJAS Skincare"));
        assert!(same("Wick Light", "Wicklight"));
        assert!(same("The Leaf Library", "Leaf Library"));
        assert!(!same("Ojas", "Ojasvi"));
        assert!(!same("Blue Door Foods", "Blue Tokai Foods"));
        assert_eq!(Maker::of("My Store"), None);
        assert_eq!(Maker::of("—"), None);
        for department in ["Women", "Kids", "Cotton", "Premium", "Men's"] {
            assert_eq!(Maker::of(department), None, "{department}");
        }
    }

    proptest! {
        #[test]
        fn no_beginning_of_a_title_has_other_first_letters(
            title in "(([Aa]n[d']?d?|[a-zA-Z]{1,3}|[0-9]{1,3}|[éñ\u{301}ﬁ'’`%+.,\"-]|\\PC)[ ]?){0,9}",
            any in any::<String>(),
        ) {
            for title in [title, any] {
                let begun = beginnings(&begun(&title));
                prop_assert_eq!(&begun, &beginnings(&pieces(&title)));
                if let Some(letters) = first_letters(&title) {
                    prop_assert!(begun.iter().all(|name| name.as_bytes().starts_with(&letters)), "{title:?}: {begun:?}");
                }
            }
        }
    }
}
