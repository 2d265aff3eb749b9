use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of ignored parameters in a response, and maximum length of each name. A response must not grow with
/// the request.
const NAMES_MAX: usize = 20;
const CHARS_MAX: usize = 64;

/// Parameter names of other APIs, with their equivalents here.
const MEANT: [(&str, &[&str]); 14] = [
    ("query", &["q"]),
    ("search", &["q"]),
    ("text", &["q"]),
    ("keyword", &["q"]),
    ("page", &["cursor"]),
    ("offset", &["cursor"]),
    ("per_page", &["limit"]),
    ("page_size", &["limit"]),
    ("count", &["limit"]),
    ("sort_by", &["sort"]),
    ("order", &["sort"]),
    ("zip", &["pincode"]),
    ("id", &["ident", "product_id", "product"]),
    ("product_id", &["ident", "product"]),
];

/// A parameter or argument that the operation does not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IgnoredParameter {
    /// The name as sent.
    pub name: String,
    /// The parameter of this operation that was probably meant.
    #[schema(required = true)]
    pub meant: Option<String>,
}

impl IgnoredParameter {
    /// Returns the names in `sent` that are not in `known`, without duplicates and sorted.
    #[must_use]
    pub fn of<'a>(sent: impl IntoIterator<Item = &'a str>, known: &[&str]) -> Vec<Self> {
        let unknown: BTreeSet<&str> = sent.into_iter().filter(|name| !known.contains(name)).collect();
        let told = unknown.into_iter().filter(|name| !name.is_empty()).take(NAMES_MAX);
        told.map(|name| Self {
            name: name.chars().take(CHARS_MAX).collect(),
            meant: meant(name, known).map(str::to_owned),
        })
        .collect()
    }
}

fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let words = |text: &str| text.split('_').map(str::to_owned).collect::<BTreeSet<_>>();
    let find = |wanted: &dyn Fn(&str) -> bool| known.iter().copied().find(|&one| wanted(one));
    let renamed = MEANT.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
    find(&|one| one == name || one.replace('_', "") == name.replace('_', ""))
        .or_else(|| renamed?.iter().find_map(|own| find(&|one| one == *own)))
        .or_else(|| find(&|one| words(one) == words(&name)))
        .or_else(|| find(&|one| one.len() > 3 && is_near(one, &name)))
}

/// True if two names differ by at most one added, removed or replaced character.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let begins = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[begins..], &other[begins..]);
    let ends = |one: &[u8], other: &[u8]| one.get(1..).unwrap_or_default() == other;
    ends(one, other) || ends(other, one) || (one.len() == other.len() && one.get(1..) == other.get(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_reads_is_named_with_what_was_meant() {
        let known = ["q", "limit", "cursor", "sort", "price_min", "price_max", "facets"];
        let sent = [
            "query",
            "q",
            "page",
            "max_price",
            "limits",
            "facet",
            "PriceMin",
            "updated_since",
            "page",
            "",
        ];
        let told = IgnoredParameter::of(sent, &known);
        let told: Vec<_> = told
            .iter()
            .map(|one| (one.name.as_str(), one.meant.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("PriceMin", Some("price_min")),
                ("facet", Some("facets")),
                ("limits", Some("limit")),
                ("max_price", Some("price_max")),
                ("page", Some("cursor")),
                ("query", Some("q")),
                ("updated_since", None),
            ]
        );
        let many: Vec<String> = (0..100).map(|nth| format!("{nth}{}", "x".repeat(1_000))).collect();
        let told = IgnoredParameter::of(many.iter().map(String::as_str), &known);
        assert!(told.len() == NAMES_MAX && told.iter().all(|one| one.name.len() <= CHARS_MAX));
    }
}
