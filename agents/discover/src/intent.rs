//! Constraints of a sentence, combined from the interpretations of the rules and of the model.

use data_text::stems;
use data_understanding::intent::{self, Audience, BrandNames, Intent, Unwanted, brand_keys};
use data_understanding::{Part, Price};
use serde::Deserialize;
use serde_json::Number;

use crate::catalogue::BrandList;

/// Maximum length of a model's answer in bytes.
const REPLY_BYTES_MAX: usize = 8 * 1024;
/// Maximum number of values that are read from a list.
const VALUES_MAX: usize = 8;
const VALUE_CHARS_MAX: usize = 60;
/// Maximum length of the model's search words, in characters.
const WORDS_CHARS_MAX: usize = 160;
const UNWANTED_MAX: usize = 16;

/// Answer of a model in the expected format, with unverified content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    words: String,
    brand: Option<String>,
    colors: Vec<String>,
    sizes: Vec<String>,
    audience: Option<String>,
    occasion: Option<String>,
    price_min: Option<Number>,
    price_max: Option<Number>,
    currency: Option<String>,
    unwanted: Vec<String>,
}

/// Error: the answer does not have the format of an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no intent")]
pub struct ReplyError;

impl Reply {
    /// Parses a model's answer.
    ///
    /// # Errors
    /// Returns a [`ReplyError`] unless the answer is one JSON object with only the expected fields and types.
    pub fn read(said: &str) -> Result<Self, ReplyError> {
        // serde would also accept a JSON array, as a list of fields in order.
        if said.len() > REPLY_BYTES_MAX || !said.trim_start().starts_with('{') {
            return Err(ReplyError);
        }
        serde_json::from_str(said).map_err(|_| ReplyError)
    }
}

/// Constraints and preferences for products.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    /// Price range, in thousandths of the currency unit.
    pub price: Price,
    /// Wanted colours. A product must have at least one of the colours.
    pub colours: Vec<&'static str>,
    /// Wanted sizes. A product must have at least one of the sizes.
    pub sizes: Vec<String>,
    /// Audience of the product. Products without a stated audience also match.
    pub audience: Option<Audience>,
    /// Occasion that is searched for. The occasion does not filter products.
    pub occasion: Option<&'static str>,
    /// Wanted brand, as an index into the list of brands.
    pub brand: Option<usize>,
    /// Things that the product must not be or contain.
    pub unwanted: Vec<Unwanted>,
    /// Unwanted brands, as indices into the list of brands.
    pub unwanted_brands: Vec<usize>,
    /// Search words from the sentence.
    pub text: String,
    /// Search words from the model.
    pub words: Option<Words>,
    /// Parts that the rules interpreted, as typed.
    pub parts: Vec<Part>,
}

/// A model's search words for the wanted thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The words as one text.
    pub text: String,
    /// `true` if the sentence contains any of the words. Otherwise the words may be a translation or invented.
    pub is_grounded: bool,
}

impl Constraints {
    /// Creates constraints from the rules' interpretation.
    #[must_use]
    pub fn of_rules(intent: Intent) -> Self {
        Self {
            price: intent.price,
            colours: intent.colours,
            sizes: intent.sizes,
            audience: intent.audience,
            occasion: intent.occasion,
            brand: intent.brand,
            unwanted: intent.unwanted,
            unwanted_brands: intent.unwanted_brands,
            text: intent.text,
            words: None,
            parts: intent.parts,
        }
    }

    /// Creates constraints that use the whole sentence as search words.
    #[must_use]
    pub fn as_typed(sentence: &str) -> Self {
        Self {
            text: sentence.to_owned(),
            ..Self::default()
        }
    }

    /// Fills gaps with the constraints of another text, and adds everything that the other text excludes.
    pub fn complete(&mut self, other: Intent) {
        let is_open = self.price.min.is_none() && self.price.max.is_none();
        if is_open {
            self.price = other.price;
        }
        if self.colours.is_empty() {
            // A colour that the sentence excludes stays excluded.
            let colours = other.colours.into_iter();
            self.colours = colours.filter(|colour| !self.refuses(colour)).collect();
        }
        if self.sizes.is_empty() {
            self.sizes = other.sizes;
        }
        self.audience = self.audience.or(other.audience);
        self.occasion = self.occasion.or(other.occasion);
        self.brand = self.brand.or(other.brand);
        self.unwanted.extend(other.unwanted);
        self.unwanted.truncate(UNWANTED_MAX);
        self.unwanted_brands.extend(other.unwanted_brands);
    }

    /// Adds the model's interpretation as far as the sentence and the catalogue confirm it. The model can only fill
    /// empty fields, narrow price limits and add exclusions. Constraints from the rules do not change.
    #[must_use]
    pub fn with_reply(&self, reply: &Reply, sentence: &str, brands: &BrandList) -> Self {
        let mut told = self.clone();
        let said = SentenceTerms::of(sentence);
        told.price = self.price_with(reply, sentence);
        if told.colours.is_empty() {
            let colours = bounded(&reply.colors).filter_map(intent::colour);
            told.colours = said.colours(colours);
            told.colours.retain(|colour| !self.refuses(colour));
        }
        if told.sizes.is_empty() {
            let sizes = bounded(&reply.sizes)
                .filter(|size| said.has(size))
                .filter_map(intent::size);
            told.sizes = sizes.collect();
        }
        let audience = reply.audience.as_deref().and_then(Audience::named);
        let occasion = reply
            .occasion
            .as_deref()
            .filter(is_short)
            .and_then(intent::occasion_named);
        told.audience = self
            .audience
            .or_else(|| audience.filter(|audience| said.has(audience.as_str())));
        let named = intent::occasions_named(sentence);
        told.occasion = self.occasion.or(occasion.filter(|occasion| named.contains(occasion)));
        told.brand = self.brand.or_else(|| said.brand(reply.brand.as_deref()?, brands));
        told.brand = told.brand.filter(|brand| !self.unwanted_brands.contains(brand));
        let refuses = intent::refuses(sentence);
        for what in bounded(&reply.unwanted).filter(|what| refuses && said.has(what)) {
            told.refuse(what, brands);
        }
        told.words = words(&reply.words, &said);
        told
    }

    fn refuses(&self, word: &str) -> bool {
        self.unwanted.iter().any(|unwanted| unwanted.what == word)
    }

    /// Returns the price limits that the sentence confirms: each must be a number in the sentence.
    fn price_with(&self, reply: &Reply, sentence: &str) -> Price {
        let numbers = intent::numbers(sentence);
        let amount = |number: &Option<Number>| {
            number
                .as_ref()
                .and_then(thousandths)
                .filter(|amount| numbers.contains(amount))
        };
        let (min, max) = (amount(&reply.price_min), amount(&reply.price_max));
        let most = max.into_iter().chain(self.price.max).min();
        let least = min.max(self.price.min);
        // Limits that exclude every price mean that the model confused them.
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            return self.price;
        }
        let named = reply.currency.as_deref().filter(|code| code.len() == 3);
        let is_new = self.price.min.is_none() && self.price.max.is_none() && (min.is_some() || max.is_some());
        let named = named.filter(|code| is_new && sentence.to_ascii_uppercase().contains(&code.to_ascii_uppercase()));
        Price {
            min: least,
            max: most,
            currency: self.price.currency.or_else(|| named?.to_ascii_uppercase().parse().ok()),
            is_unsure: self.price.is_unsure,
        }
    }

    /// Adds an exclusion from the model, unless it excludes the wanted thing.
    fn refuse(&mut self, what: &str, brands: &BrandList) {
        let brand = brand_keys(what)
            .iter()
            .find_map(|key| brands.named(key))
            .map(|brand| brand.at);
        if let Some(brand) = brand.filter(|brand| self.brand != Some(*brand)) {
            self.unwanted_brands.push(brand);
            return;
        }
        let what = what.to_lowercase();
        let is_wanted = self.colours.iter().any(|colour| *colour == what) || self.refuses(&what);
        if !is_wanted && self.unwanted.len() < UNWANTED_MAX && !is_asked_for(&self.text, &what) {
            self.unwanted.push(Unwanted {
                lacking: Vec::new(),
                what,
            });
        }
    }
}

/// True if a text names the first word of `what` without excluding it.
fn is_asked_for(text: &str, what: &str) -> bool {
    let (text, what) = (stems(text), stems(what));
    let Some(head) = text.first() else { return false };
    what.is_empty() || what.contains(head)
}

/// Words of a sentence, prepared for comparison with the model's answer.
struct SentenceTerms {
    stems: Vec<String>,
    words: Vec<String>,
    colours: Vec<&'static str>,
}

impl SentenceTerms {
    fn of(sentence: &str) -> Self {
        let lower = sentence.to_lowercase();
        let words = lower.split(|char: char| !char.is_alphanumeric() && char != '.');
        Self {
            stems: stems(sentence),
            words: words.filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            colours: intent::colours_named(sentence),
        }
    }

    /// True if the sentence contains all words of a text.
    fn has(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let mut words = lower
            .split(|char: char| !char.is_alphanumeric() && char != '.')
            .filter(|word| !word.is_empty());
        let stems = stems(text);
        let by_stem = !stems.is_empty() && stems.iter().all(|stem| self.stems.contains(stem));
        by_stem
            || lower.chars().any(char::is_alphanumeric) && words.all(|word| self.words.iter().any(|own| own == word))
    }

    fn colours(&self, colours: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
        let mut named: Vec<&'static str> = colours.filter(|colour| self.colours.contains(colour)).collect();
        named.dedup();
        named
    }

    /// Returns the brand that a model names, if the catalogue has it and the sentence names it too, perhaps mistyped.
    fn brand(&self, name: &str, brands: &BrandList) -> Option<usize> {
        if !is_short(&name) {
            return None;
        }
        let keys = brand_keys(name);
        let brand = keys.iter().find_map(|key| brands.named(key))?;
        let is_said = |word: &str| self.words.iter().any(|own| is_near(own, word));
        let named = keys.iter().any(|key| key.split(' ').all(is_said));
        named.then_some(brand.at)
    }
}

/// True if two words differ in at most one letter.
fn is_near(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let shorter = one.len().min(other.len());
    if shorter < 4 || one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let begins = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (
        one.get(begins..).unwrap_or_default(),
        other.get(begins..).unwrap_or_default(),
    );
    let ends = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    one.len().max(other.len()) - ends <= 1
}

fn is_short(text: &&str) -> bool {
    text.chars().count() <= VALUE_CHARS_MAX && !text.chars().any(char::is_control)
}

fn bounded(values: &[String]) -> impl Iterator<Item = &str> {
    values.iter().take(VALUES_MAX).map(String::as_str).filter(is_short)
}

/// Returns the model's words for the wanted thing, without characters that have a meaning in searches.
fn words(text: &str, said: &SentenceTerms) -> Option<Words> {
    let plain = |char: char| {
        if char.is_alphanumeric() || char == '\'' {
            char
        } else {
            ' '
        }
    };
    let text: String = text.chars().take(WORDS_CHARS_MAX).map(plain).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_grounded = stems(&text).iter().any(|stem| said.stems.contains(stem));
    (!text.is_empty()).then_some(Words { text, is_grounded })
}

/// Converts an amount to thousandths without floating-point arithmetic. Returns `None` for a negative number and for
/// anything else that is no amount of money.
fn thousandths(number: &Number) -> Option<u64> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole: u64 = whole.parse().ok()?;
    let digits = fraction.get(..fraction.len().min(3))?;
    let fraction: u64 = format!("{digits:0<3}").parse().ok()?;
    whole.checked_mul(1_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use data_understanding::intent::NoBrands;
    use proptest::prelude::*;

    use super::*;

    fn reply(json: &str) -> Reply {
        Reply::read(json).unwrap()
    }

    fn merged(sentence: &str, json: &str) -> Constraints {
        let brands = BrandList::default();
        let ruled = Constraints::of_rules(Intent::of(sentence, &NoBrands));
        ruled.with_reply(&reply(json), sentence, &brands)
    }

    #[test]
    fn only_amounts_of_the_sentence_are_bounds_and_only_narrower_ones() {
        let max = |sentence, json| merged(sentence, json).price.max;
        assert_eq!(max("shoes, my limit: 2000", r#"{"price_max": 2000}"#), Some(2_000_000));
        assert_eq!(
            max("shoes, my limit: 2000", r#"{"price_max": 2000.0}"#),
            Some(2_000_000)
        );
        assert_eq!(max("shoes, my limit: 2000", r#"{"price_max": 3000}"#), None);
        assert_eq!(max("shoes under 2000", r#"{"price_max": 9000}"#), Some(2_000_000));
        assert_eq!(
            max("shoes under 2000 or even 1500", r#"{"price_max": 1500}"#),
            Some(1_500_000)
        );
        assert_eq!(max("shoes under 2000", r#"{"price_max": -1e308}"#), Some(2_000_000));
    }

    #[test]
    fn what_was_read_stays_and_what_was_not_is_filled_where_the_sentence_bears_it_out() {
        let told = merged(
            "tawny boots for trecking, gold laces",
            r#"{"colors": ["gold", "red"], "sizes": ["9"], "audience": "men"}"#,
        );
        assert_eq!(
            (told.colours, told.sizes, told.audience),
            (vec!["gold"], Vec::new(), None)
        );
        let told = merged(
            "red boots, black laces are fine",
            r#"{"colors": ["black"], "unwanted": ["boots", "laces"]}"#,
        );
        assert_eq!((told.colours.first(), told.unwanted), (Some(&"red"), Vec::new()));
    }

    #[test]
    fn what_is_no_object_of_these_members_is_no_reply() {
        for said in [
            "",
            "null",
            "[]",
            "{",
            "\"red\"",
            r#"{"colors": "red"}"#,
            r#"{"price_max": "2000"}"#,
            r#"{"other": 1}"#,
            r#"{"words": null}"#,
            r#"{"colors": [1]}"#,
            r#"{"words": ""} and more"#,
        ] {
            assert_eq!(Reply::read(said), Err(ReplyError), "{said}");
        }
        assert_eq!(Reply::read("{}"), Ok(Reply::default()));
    }

    proptest! {
        #[test]
        fn no_reply_loosens_what_the_rules_read(
            words in prop::collection::vec(
                prop::sample::select(vec!["red", "blue", "shirt", "under", "500", "900", "above", "not", "leather", "for", "men", "women", "size", "M", "9", "cotton", "without", "sugar"]),
                0..12,
            ),
            max in prop::option::of(0_u64..2_000), min in prop::option::of(0_u64..2_000),
            colours in prop::collection::vec(prop::sample::select(vec!["red", "blue", "green", "gold", "x"]), 0..4),
            unwanted in prop::collection::vec(prop::sample::select(vec!["red", "shirt", "leather", "sugar", "women", ""]), 0..4),
        ) {
            let sentence = words.join(" ");
            let json = serde_json::json!({"price_max": max, "price_min": min, "colors": colours, "unwanted": unwanted, "sizes": ["M"]});
            let ruled = Constraints::of_rules(Intent::of(&sentence, &NoBrands));
            let told = ruled.with_reply(&reply(&json.to_string()), &sentence, &BrandList::default());
            prop_assert!(ruled.price.max.is_none_or(|most| told.price.max.is_some_and(|max| max <= most)));
            prop_assert!(ruled.price.min.is_none_or(|least| told.price.min.is_some_and(|min| min >= least)));
            prop_assert!(ruled.colours.is_empty() || ruled.colours == told.colours);
            prop_assert!(ruled.sizes.is_empty() || ruled.sizes == told.sizes);
            prop_assert!(ruled.unwanted.iter().all(|unwanted| told.unwanted.contains(unwanted)));
        }
    }
}
