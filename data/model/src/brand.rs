use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::ids::{IdError, excerpt};
use crate::{CurrencyCode, StoreHost};

/// Public name of a brand in paths and filters: the store's name in kebab-case. An assigned slug never changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrandSlug(Box<str>);

impl BrandSlug {
    /// Returns the slug as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const SLUG_BYTES_MAX: usize = 100;
const SLUG_CHARS_MAX: usize = 80;

impl fmt::Display for BrandSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BrandSlug {
    type Err = IdError;

    /// Upper and lower case and both Unicode forms (NFC, NFD) are accepted.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let folded: String = text.nfc().flat_map(char::to_lowercase).nfc().collect();
        let text = folded.as_str();
        let kebab = !text.is_empty()
            && text.len() <= SLUG_BYTES_MAX
            && text.split('-').all(|word| {
                !word.is_empty()
                    && !word.starts_with(is_mark)
                    && word.chars().all(|char| is_letter(char) || is_mark(char))
            });
        if kebab {
            Ok(Self(text.into()))
        } else {
            Err(IdError::BrandSlug(excerpt(text)))
        }
    }
}
crate::text_serde!(BrandSlug);

/// Returns `true` for a letter or digit of any script that has no lowercase form.
fn is_letter(char: char) -> bool {
    char.is_alphanumeric() && !char.is_uppercase()
}

/// Returns `true` for a combining mark that belongs to the letter before it. The virama in `हिन्दी`, for example, is no
/// word break.
fn is_mark(char: char) -> bool {
    is_combining_mark(char) && !char.is_alphanumeric() && !is_drawing(char)
}

/// Returns `true` for characters that only control how letters are drawn.
const fn is_drawing(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Converts a name to kebab-case. Letters with their marks and digits of any script are lowercased and composed
/// (Unicode NFC). Every other run of characters becomes one hyphen. The slug has at most 80 characters and 100 bytes.
/// Returns `None` if no characters remain.
#[must_use]
pub fn slugify(name: &str) -> Option<BrandSlug> {
    let mut slug = String::with_capacity(name.len());
    for char in name.nfc().flat_map(char::to_lowercase) {
        let follows = !slug.is_empty() && !slug.ends_with('-');
        if is_letter(char) || (follows && is_mark(char)) {
            slug.push(char);
        } else if !matches!(char, '\'' | '’' | '.') && !is_drawing(char) && !is_mark(char) && follows {
            slug.push('-');
        }
        if slug.chars().count() >= SLUG_CHARS_MAX || slug.len() + 4 > SLUG_BYTES_MAX {
            break;
        }
    }
    slug.trim_end_matches('-').parse().ok()
}

/// A brand as the catalogue describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brand {
    /// Permanent host of the brand's store, which is the brand's key.
    pub store: StoreHost,
    /// Public name of the brand in paths.
    pub slug: BrandSlug,
    /// Display name of the brand, as the store states it.
    pub name: String,
    /// Domain that shoppers see, with its port unless it is the default port of the scheme.
    pub domain: String,
    /// Base URL of the store without a trailing slash, such as `https://blue-tokai.example`.
    pub base_url: String,
    /// Currency of the brand's prices.
    pub currency: CurrencyCode,
    /// Country of the brand as an ISO 3166-1 alpha-2 code, if stated.
    pub country: Option<String>,
    /// Country whose prices the crawl requested, as an ISO 3166-1 alpha-2 code. `None` if the store chose prices by the
    /// location of the crawling machine. Requests whose prices are compared with the crawl must name the same country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl_country: Option<String>,
    /// URL of the brand's logo, if known.
    pub logo: Option<String>,
    /// The brand's description of itself, if it has one.
    pub description: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slugs_are_kebab_case() {
        let slug = |name| slugify(name).map(|slug| slug.to_string());
        assert_eq!(slug("Blue Tokai Coffee & Co."), Some("blue-tokai-coffee-co".into()));
        assert_eq!(slug("L'Oréal  Paris!"), Some("loréal-paris".into()));
        assert_eq!(slug("!!!"), None);
        // Marks belong to their letters, and NFC and NFD forms of a name give the same slug.
        assert_eq!(slug("देसी बाज़ार"), Some("देसी-बाज\u{93c}ार".into()));
        assert_eq!(slug("हिन्दी"), Some("हिन्दी".into()));
        assert_eq!(slug("Cafe\u{301} ☕\u{fe0f} Noir"), slug("Café Noir"));
        assert_eq!("cafe\u{301}-noir".parse(), Ok(slugify("Café Noir").unwrap()));
        assert_eq!("CAFÉ-Noir".parse(), Ok(slugify("Café Noir").unwrap()));
        let long = slug(&"देसी बाज़ार ".repeat(20)).unwrap();
        assert!(long.len() <= SLUG_BYTES_MAX && long.len() > 80, "{long}");
    }

    proptest! {
        #[test]
        fn whatever_the_name_its_slug_is_a_slug(name in ".{0,120}") {
            if let Some(slug) = slugify(&name) {
                prop_assert_eq!(slug.to_string().parse::<BrandSlug>(), Ok(slug));
            }
        }
    }
}
