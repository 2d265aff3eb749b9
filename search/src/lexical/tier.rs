//! Tiers of hits. A hit of a higher tier comes before every hit of a lower tier.

/// The product has some of the words.
pub const ANY: u8 = 1;
/// The product lacks one of the words.
pub const ALL_BUT_ONE: u8 = 2;
/// The product has all words.
pub const ALL: u8 = 3;
/// The product belongs to the brand that the query names.
pub const BRAND: u8 = 4;
/// The product has the query as its SKU or handle.
pub const CODE: u8 = 5;
/// The product has the query as its title.
pub const TITLE: u8 = 6;
/// The product has the query as its title and as its SKU or handle.
pub const TITLE_AND_CODE: u8 = 7;

/// Returns the name of a tier.
pub const fn name(tier: u8) -> &'static str {
    match tier {
        ANY => "any_term",
        ALL_BUT_ONE => "all_but_one",
        ALL => "all_terms",
        BRAND => "brand",
        CODE => "code",
        TITLE => "title",
        _ => "title_and_code",
    }
}
