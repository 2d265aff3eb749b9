use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::ids::{IdError, excerpt, text_serde};
use crate::{CurrencyCode, StoreHost};

/// A brand's public name in paths and filters: kebab-case of the store's name. Given once, it never changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrandSlug(Box<str>);

impl BrandSlug {
    /// The slug as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Longest slug that is taken, and that a name is made into.
const SLUG_BYTES_MAX: usize = 100;
const SLUG_CHARS_MAX: usize = 80;

impl fmt::Display for BrandSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BrandSlug {
    type Err = IdError;

    /// Reads a slug; its letters may be capitals or not, composed or not (Unicode NFC, NFD).
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
text_serde!(BrandSlug);

/// A letter or a digit of any script, none that has a small form.
fn is_letter(char: char) -> bool {
    char.is_alphanumeric() && !char.is_uppercase()
}

/// A mark that belongs to the letter before it: the virama of `हिन्दी` is no break between words.
fn is_mark(char: char) -> bool {
    is_combining_mark(char) && !char.is_alphanumeric() && !is_drawing(char)
}

/// Says how letters are drawn, not which they are.
const fn is_drawing(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Kebab-case of a name: letters with their marks and digits of any script in lower case, composed (Unicode NFC), all else
/// one hyphen, at most 80 characters and 100 bytes. `None` when nothing is left.
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

/// A brand as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brand {
    /// The permanent host of its store: the brand's key.
    pub store: StoreHost,
    /// Its public name in paths.
    pub slug: BrandSlug,
    /// Its display name, as the store states it.
    pub name: String,
    /// The domain that shoppers see, with its port when it is not the scheme's own.
    pub domain: String,
    /// The store's base URL, `https://blue-tokai.example`, without a slash at the end.
    pub base_url: String,
    /// The currency its prices are stated in.
    pub currency: CurrencyCode,
    /// ISO 3166-1 alpha-2, where stated.
    pub country: Option<String>,
    /// The country whose prices the crawl asked for, ISO 3166-1 alpha-2; `None` for those that the store chose by the
    /// crawling machine's own location. Whoever asks the store again for comparison names the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl_country: Option<String>,
    /// Address of its logo, where known.
    pub logo: Option<String>,
    /// The brand's text about itself, where it has one.
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
        // Marks belong to their letters, and a name is the same however it is composed.
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
