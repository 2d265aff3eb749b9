//! Finds discount codes that a page states: "Use code TEA10 for 10% off".

mod cues;
pub(crate) mod lines;
mod words;

use std::collections::HashMap;

use self::cues::{CodeCandidate, judge};
use self::lines::{Piece, pieces};

/// Maximum number of bytes read of a page.
const HTML_BYTES_MAX: usize = 2 << 20;
const CODES_MAX: usize = 40;

/// Discount code that a page states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCode {
    /// Code in uppercase: 3 to 24 ASCII letters, digits, hyphens and underscores, with at least one letter.
    pub code: String,
    /// Clarity with which the surrounding words identify the code, from 1 to 3.
    pub plainness: u8,
}

/// Finds the discount codes that a page states to shoppers, in English, Hindi and a mix of both, the clearest first.
///
/// A word counts as a code if its neighbouring words identify it ("code", "coupon", "use … at checkout", "कोड",
/// "lagao"). Its form alone is not enough. Scripts, styles and templates are ignored. At most 40 codes are returned.
#[must_use]
pub fn stated_codes(html: &str) -> Vec<FoundCode> {
    let html = &html[..html.floor_char_boundary(HTML_BYTES_MAX)];
    let mut best: HashMap<String, (u8, usize)> = HashMap::new();
    let mut note = |found: CodeCandidate| {
        let order = best.len();
        let entry = best.entry(found.code).or_insert((0, order));
        entry.0 = entry.0.max(found.plainness);
    };
    for piece in pieces(html) {
        match piece {
            Piece::Line(line) => judge(&line).into_iter().for_each(&mut note),
            Piece::Copied(text) => cues::copied(&text).into_iter().for_each(&mut note),
            Piece::Link(_) => {}
        }
    }
    let mut codes: Vec<(String, (u8, usize))> = best.into_iter().collect();
    codes.sort_by_key(|(_, (plainness, order))| (std::cmp::Reverse(*plainness), *order));
    codes.truncate(CODES_MAX);
    let told = codes
        .into_iter()
        .map(|(code, (plainness, _))| FoundCode { code, plainness });
    told.collect()
}

#[cfg(test)]
mod tests;
