//! Discount codes that a page states: "Use code TEA10 for 10% off".

mod cues;
pub(crate) mod lines;
mod words;

use std::collections::HashMap;

use self::cues::{CodeCandidate, judge};
use self::lines::{Piece, pieces};

/// Longest page that is read; what comes after is not looked at.
const HTML_BYTES_MAX: usize = 2 << 20;
/// Most codes that are answered of one page.
const CODES_MAX: usize = 40;

/// A code that a page states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCode {
    /// In capital letters: ASCII letters, digits, hyphens and underscores, 3 to 24 of them, at least one letter.
    pub code: String,
    /// The plainness with which the words around it say that it is one: 1 to 3.
    pub plainness: u8,
}

/// Reads the discount codes that a page states to shoppers, in English, Hindi and both mixed, the plainest first.
///
/// A word is taken for a code when the words beside it say so ("code", "coupon", "use … at checkout", "कोड", "lagao"),
/// and not because it looks like one. Scripts, styles and what is hidden in templates are not read. Whatever the page
/// is, at most 40 codes are answered.
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
