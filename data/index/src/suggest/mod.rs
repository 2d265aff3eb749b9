//! Suggestions to someone who types: phrases that the catalogue is made of, and the best products whose titles hold the
//! words typed so far.
//!
//! A part holds this in one file, made with the part and read in place: opening it costs nothing, whatever its size.
//! * words of titles, sorted; for each the products that hold it; for each product its words. Products are numbered by
//!   quality, best first, so that the first ones met are the ones wanted, and as words are sorted, "holds a word that
//!   begins so" is one range of numbers.
//! * phrases (word sequences of titles, product types, names of categories and brands) with the number of products that
//!   they stand for, also under each of their later words.
//!
//! The least of many in a range are found by [`Ascending`] in steps that do not depend on how many there are. Whatever
//! costs steps takes them from a [`Work`] that the caller bounds.

mod ascending;
mod file;
mod near;
mod phrases;
mod ranked;
mod texts;
mod work;
mod write;

pub use file::{Phrase, Suggest};
pub use near::{Nearby, Reading};
pub use ranked::RankedNames;
pub use work::Work;
pub(crate) use write::SuggestWriter;

/// The file's name within a part.
pub(crate) const SUGGEST: &str = "suggest.bin";
