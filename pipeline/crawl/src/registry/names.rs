//! The owner of a display name: a store may call itself anything, another brand's name too.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use data_model::{StoreHost, Timestamp};
use unicode_normalization::UnicodeNormalization;

use super::{RegisteredBrand, Registry};

/// The ground of a claim to a name; the greater one has the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    basis: Basis,
    /// Of two equally well founded claims that of the brand that was registered first.
    added_at: Reverse<Timestamp>,
    store: Reverse<StoreHost>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Basis {
    /// Its store calls itself so now.
    Stated,
    /// It is shown under that name.
    Shown,
    /// It is registered under that name.
    Registered,
    /// The operator gave it that name.
    Pinned,
}

/// The display names of all brands.
#[derive(Debug, Clone, Default)]
pub struct DisplayNames {
    /// By the name as [`key`] writes it, the claim of each store.
    claims: HashMap<String, BTreeMap<StoreHost, Claim>>,
}

impl DisplayNames {
    /// The names that brands are registered under.
    #[must_use]
    pub fn registered(registry: &Registry) -> Self {
        let mut names = Self::default();
        for brand in registry.brands() {
            names.register(brand);
        }
        names
    }

    /// Takes note of the name that a brand is registered under.
    pub(super) fn register(&mut self, brand: &RegisteredBrand) {
        let basis = if brand.name_pinned {
            Basis::Pinned
        } else {
            Basis::Registered
        };
        self.claim(&brand.name, claim_of(brand, basis));
    }

    /// Takes note of the name that a brand is shown under at present, whatever it is registered under.
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

    /// The name to show of a brand that is called `name`: that name or, where it is another brand's, that name with the
    /// brand's domain beside it. What the operator named stays as it is.
    ///
    /// Names are the same that differ by case, white space, invisible characters, or in how Unicode composes or widens
    /// their characters (NFKC). Letters of other alphabets that look alike are not.
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

/// The name without what readers do not see or do not mind.
fn key(name: &str) -> String {
    let is_seen = |char: &char| !matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}');
    let folded: String = name
        .nfkc()
        .filter(is_seen)
        .collect::<String>()
        // Upper case first: `ß` and `ſ` fold as `SS` and `S` do.
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
