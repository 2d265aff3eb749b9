//! Products as the rows of a feed: the attributes of Google's product data specification, one row a variant.
//!
//! In: a product of the lake, its brand, the shipping terms of its store. Out: rows, and their bytes as tab-separated
//! values or as JSON lines; or one JSON object a product, as ACP has feeds. An unknown value stays empty: no attribute is guessed, and no link or number is cut. The
//! crate never reads the lake or writes a file, and never sees two products at once.

mod acp;
mod attributes;
mod format;
mod row;
mod shipping;
mod text;

pub use acp::write_acp;
pub use format::{COLUMNS, FeedFormat};
pub use row::{Availability, FeedOptions, Row, Seller, rows};

/// Counts the rows of a feed, and what they lack of what a reader of the feed asks of every row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of rows.
    pub rows: u64,
    /// The number of rows that lack an attribute, by its name.
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
