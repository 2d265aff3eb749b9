//! Gives what stores state one meaning: exact money, safe text, options, media, attributes, a category.
//!
//! In: records as `pipeline-parse` reads them, and what is known of their store. Out: [`data_model::Product`]s, each id
//! once, sorted by id, and a quarantine entry with a reason for whatever could not be understood.
//! It never does I/O, never reads a clock, never guesses: where neither a rule nor what else the store sells tells a
//! category there is none, a price that is not exact is refused, what a store did not say is `None`.

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
pub use misfits::QUARANTINE_MAX;
pub use product::{Normalised, REASON_CHARS_MAX, Rejection, normalise_product};
pub use reviews::normalise_page_facts;
