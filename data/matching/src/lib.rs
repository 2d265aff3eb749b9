//! Finds the same product among goods of different stores, and says how sure that is and what speaks for it.
//!
//! In: products as their stores state them ([`Item`]), through a [`Catalogue`] that reads them on demand. Out: pairs of
//! products of different stores ([`Match`]), each with a confidence, its basis and reasons, and the variants that are
//! one where that can be known. A pair is found by the number below a bar code, else by its maker and the words of its
//! title; what only resembles it (another size, pack, colour, flavour, version) is not the same product. A pair that
//! cannot be decided is left out: a wrong pair is worse than none.
//!
//! It never reads a file, a clock or the network, never compares all with all, and knows neither a release nor the lake.

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

/// The version of the rules: pairs of another version are found anew.
pub const RULES: u32 = 4;
