//! One posting list a term over all the words of a product, made for ranking: each posting says in which fields and how
//! prominently the product holds the term, so that a search reads one list a term and looks nothing else up.
//!
//! | section | holds |
//! |---|---|
//! | header | magic, rows, terms, hash slots, lengths of the sections |
//! | slots | an open hash table over the terms: `term + 1`, 0 for an empty slot |
//! | entries | a term: where its text ends, how many products hold it, where its postings lie |
//! | texts | the terms, one after the other |
//! | titles | a row: a hash of the whole title, and where its words end |
//! | words | a title word: 16 bits of a hash of its stem, in order |
//! | postings | a term: see [`list`] |
//!
//! Terms are stems (see [`data_text`]); numbers are little-endian. What is read is never trusted: a damaged file
//! gives wrong answers at worst.

mod cursor;
mod file;
mod head;
mod holding;
mod list;
mod write;

pub use cursor::TermCursor;
pub use file::{Terms, TitleWords};
pub use head::names_nothing;
pub use holding::PostingPayload;
pub use list::{Block, BlockRows, Postings, TermList};
pub(crate) use write::TermsWriter;

/// The file's name within a part.
pub(crate) const TERMS: &str = "terms.bin";

/// The answer of a cursor that has no more rows.
pub const NO_ROW: u32 = u32::MAX;

/// A hash that is the same everywhere and always (FNV-1a, its upper half folded in).
#[must_use]
pub fn stable_hash(text: &[u8]) -> u32 {
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as u32
}

/// The hash of a stem among a title's words.
#[must_use]
pub fn word_hash(stem: &str) -> u16 {
    let hash = stable_hash(stem.as_bytes());
    (hash ^ (hash >> 16)) as u16
}
