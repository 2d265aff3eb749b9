//! Finds the same product in different stores and reports the confidence and the reasons of each match.
//!
//! Input: products as their stores state them ([`Item`]), read on demand through a [`Catalogue`]. Output: pairs of
//! products of different stores ([`Match`]), each with a confidence, a basis, reasons and the matching variants if
//! known.
//!
//! Candidates are found by barcode, or else by maker and title words. A product that differs in size, pack, colour,
//! flavour or version is not the same product. Undecidable pairs are omitted, because a wrong pair is worse than none.
//!
//! The crate reads no files, clock or network, never compares all products with all others, and does not depend on
//! releases or the lake.

mod amounts;
mod audience;
mod barcodes;
mod catalogue;
mod ends;
mod item;
mod judge;
mod judgement;
mod keys;
mod maker;
mod market;
mod near;
mod pieces;
mod quantity;
mod reading;
mod variants;
mod wording;
mod words;

pub use catalogue::{Bounds, Catalogue, ProductNames};
pub use item::{Item, ItemVariant};
pub use judge::judge;
pub use judgement::{Basis, CONFIDENCE_MIN, Judgement, Reason, Veto};
pub use market::{Match, matches};

/// Version of the rules. Pairs that were found with another version are recomputed.
pub const RULES: u32 = 4;
