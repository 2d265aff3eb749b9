//! Gives the statements of stores one meaning: exact money, safe text, options, media, attributes, a category.
//!
//! In: records as `pipeline-parse` reads them, and the known facts about their store. Out: [`data_model::Product`]s,
//! each id once, sorted by id, and a quarantine entry with a reason for whatever could not be understood. It never does
//! I/O, never reads a clock, never guesses: where neither a rule nor the other goods of the store decide a category
//! there is none, a price that is not exact is refused, a value that a store did not state is `None`.

mod address;
mod attributes;
mod catalogue;
mod category;
mod context;
mod media;
mod misfits;
mod product;
mod reviews;
mod variants;

pub use catalogue::{Catalogue, CatalogueBuilder, Gather, Gathered, PageRead};
pub use category::CategoryRules;
pub use context::StoreContext;
pub use misfits::{PagePlace, QUARANTINE_MAX};
pub use product::{Normalised, REASON_CHARS_MAX, Rejection, normalise_product};
pub use reviews::normalise_page_facts;
