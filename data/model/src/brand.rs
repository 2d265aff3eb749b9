use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

impl fmt::Display for BrandSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BrandSlug {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kebab = !text.is_empty()
            && text.len() <= 100
            && text.split('-').all(|word| {
                !word.is_empty() && word.chars().all(|char| char.is_alphanumeric() && !char.is_uppercase())
            });
        if kebab {
            Ok(Self(text.into()))
        } else {
            Err(IdError::BrandSlug(excerpt(text)))
        }
    }
}
text_serde!(BrandSlug);

/// Kebab-case of a name: letters and digits of any script in lower case, all else one hyphen, at most 80
/// characters. `None` when nothing is left.
#[must_use]
pub fn slugify(name: &str) -> Option<BrandSlug> {
    let mut slug = String::with_capacity(name.len());
    for char in name.chars().flat_map(char::to_lowercase) {
        if char.is_alphanumeric() && !char.is_uppercase() {
            slug.push(char);
        } else if !matches!(char, '\'' | '’' | '.') && !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.chars().count() >= 80 {
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
    /// Address of its logo, where known.
    pub logo: Option<String>,
    /// What it says of itself, where it does.
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
