//! Decides which brand owns a display name, because a store may use any name, even that of another brand.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use data_model::{StoreHost, Timestamp};
use unicode_normalization::UnicodeNormalization;

use super::{RegisteredBrand, Registry};

/// Claim of a brand to a name. The brand with the greatest claim owns the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    basis: Basis,
    /// Of equal claims, that of the brand registered first wins.
    added_at: Reverse<Timestamp>,
    store: Reverse<StoreHost>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Basis {
    /// The store uses this name now.
    Stated,
    /// The brand is shown under this name.
    Shown,
    /// The brand is registered under this name.
    Registered,
    /// The operator set this name.
    Pinned,
}

/// Display names of all brands.
#[derive(Debug, Clone, Default)]
pub struct DisplayNames {
    /// Keys are names normalised by [`key`].
    claims: HashMap<String, BTreeMap<StoreHost, Claim>>,
}

impl DisplayNames {
    /// Collects the names under which brands are registered.
    #[must_use]
    pub fn registered(registry: &Registry) -> Self {
        let mut names = Self::default();
        for brand in registry.brands() {
            names.register(brand);
        }
        names
    }

    pub(super) fn register(&mut self, brand: &RegisteredBrand) {
        let basis = if brand.name_pinned {
            Basis::Pinned
        } else {
            Basis::Registered
        };
        self.claim(&brand.name, claim_of(brand, basis));
    }

    /// Adds the name under which a brand is shown now, which may differ from its registered name.
    pub fn show(&mut self, brand: &RegisteredBrand, name: &str) {
        self.claim(name, claim_of(brand, Basis::Shown));
    }

    fn claim(&mut self, name: &str, claim: Claim) {
        let claims = self.claims.entry(key(name)).or_default();
        let known = claims.entry(claim.store.0.clone()).or_insert_with(|| claim.clone());
        if *known < claim {
            *known = claim;
        }
    }

    /// Returns the display name of a brand called `name`. If another brand owns the name, this brand's domain is
    /// appended. A name set by the operator does not change.
    ///
    /// Names are equal if they differ only in case, white space, invisible characters, or Unicode composition and width
    /// (NFKC). Similar-looking letters of other alphabets are different.
    #[must_use]
    pub fn shown<'a>(&self, brand: &RegisteredBrand, name: &'a str) -> Cow<'a, str> {
        let claims = self.claims.get(&key(name));
        let own = claims.and_then(|claims| claims.get(&brand.store)).cloned();
        let own = own.unwrap_or_else(|| claim_of(brand, Basis::Stated));
        let is_others = claims.is_some_and(|claims| {
            claims
                .iter()
                .any(|(store, claim)| *store != brand.store && *claim > own)
        });
        if is_others && !brand.name_pinned {
            Cow::Owned(format!("{name} ({})", brand.domain))
        } else {
            Cow::Borrowed(name)
        }
    }
}

fn claim_of(brand: &RegisteredBrand, basis: Basis) -> Claim {
    Claim {
        basis,
        added_at: Reverse(brand.added_at),
        store: Reverse(brand.store.clone()),
    }
}

/// Removes the differences between names that readers do not notice.
fn key(name: &str) -> String {
    let is_seen = |char: &char| !matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}');
    let folded: String = name
        .nfkc()
        .filter(is_seen)
        .collect::<String>()
        // Uppercase comes first, so that `ß` and `ſ` fold like `SS` and `S`.
        .to_uppercase()
        .to_lowercase();
    let composed: String = folded.nfkc().collect();
    composed.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_readers_cannot_tell_apart_are_the_same() {
        for alike in [
            "Café Noir",
            "cafe\u{301}  NOIR",
            "Ｃａｆé\u{a0}Noir ",
            "Ca\u{200b}fé\u{200d} Noir",
        ] {
            assert_eq!(key(alike), "café noir", "{alike}");
        }
        assert_eq!(key("STRASSE"), key("Straße"));
        assert_ne!(key("Kith"), key("Kiths"));
    }
}
