//! Converts products to rows of a feed: the attributes of Google's product data specification, one row per variant.
//!
//! Input: a product from the lake, its brand and the shipping terms of its store. Output: rows, serialised as
//! tab-separated values or JSON lines, or one JSON object per product for ACP feeds.
//!
//! Unknown values stay empty. No attribute is guessed, and no link or number is truncated. The crate does not read the
//! lake, does not write files, and processes one product at a time.

mod acp;
mod attributes;
mod format;
mod row;
mod shipping;
mod text;

pub use acp::write_acp;
pub use format::{COLUMNS, FeedFormat};
pub use row::{Availability, FeedOptions, Row, Seller, rows};

/// Counts the rows of a feed and their missing required attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of rows.
    pub rows: u64,
    /// Number of rows without each required attribute, by attribute name.
    pub missing: std::collections::BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts a row.
    pub fn count(&mut self, row: &Row) {
        self.rows += 1;
        for name in row.missing() {
            *self.missing.entry(name).or_default() += 1;
        }
    }
}
