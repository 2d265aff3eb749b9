//! One posting list per term over all words of a product, designed for ranking. Each posting contains the fields and
//! the prominence of the term in the product, so that a search reads only one list per term.
//!
//! | section | contents |
//! |---|---|
//! | header | magic, number of rows, terms and hash slots, lengths of the sections |
//! | slots | an open hash table over the terms: `term + 1`, 0 for an empty slot |
//! | entries | per term: end of its text, number of products that contain it, position of its postings |
//! | texts | the terms, concatenated |
//! | titles | per row: a hash of the whole title, and the end of its words |
//! | words | per title word: 16 bits of a hash of its stem, in order |
//! | postings | per term: see [`list`] |
//!
//! Terms are stems: see [`data_text`]. Numbers are little-endian. Readers do not trust the contents, so that a damaged
//! file gives wrong results at worst.

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
pub use write::indexed_start;

pub(crate) const TERMS: &str = "terms.bin";

/// Row number that a cursor returns when it has no more rows.
pub const NO_ROW: u32 = u32::MAX;

/// Returns a hash that is stable across machines and versions: FNV-1a with its upper half folded in.
#[must_use]
pub fn stable_hash(text: &[u8]) -> u32 {
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as u32
}

/// Returns the hash of a stem as stored for a title's words.
#[must_use]
pub fn word_hash(stem: &str) -> u16 {
    let hash = stable_hash(stem.as_bytes());
    (hash ^ (hash >> 16)) as u16
}
