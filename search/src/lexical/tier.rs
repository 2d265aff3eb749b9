//! Tiers of hits: a hit of a higher tier stands before every hit of a lower one.

/// Holds some of the words.
pub const ANY: u8 = 1;
/// Lacks one of them.
pub const ALL_BUT_ONE: u8 = 2;
/// Holds them all.
pub const ALL: u8 = 3;
/// Is of the brand whose name the query is.
pub const BRAND: u8 = 4;
/// Has a SKU or a handle that the query is.
pub const CODE: u8 = 5;
/// Has the title that the query is.
pub const TITLE: u8 = 6;
/// Has both.
pub const TITLE_AND_CODE: u8 = 7;

/// A tier, spelled out.
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
