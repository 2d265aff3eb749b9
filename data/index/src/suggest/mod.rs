//! Suggestions while the user types: phrases from the catalogue, and the best products whose titles contain the words
//! typed so far.
//!
//! Each part has this data in one file that is built with the part and read in place. Opening the file takes constant
//! time.
//! * Words of titles, sorted. Each word has the products that contain it, and each product has its words. Products are
//!   numbered by quality, so that a scan finds the best first. All words with the same prefix are one range of numbers.
//! * Phrases with the number of products that they cover. Phrases are word sequences of titles, product types, and
//!   names of categories and brands. Each phrase can also be found by its second or a later word.
//!
//! [`Ascending`] finds the smallest values of a range in a number of steps that does not depend on the range's length.
//! Every operation with a variable cost takes its steps from a [`Work`] budget that the caller sets.

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

pub(crate) const SUGGEST: &str = "suggest.bin";
