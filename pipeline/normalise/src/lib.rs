//! Normalises the data of stores into exact money, safe text, options, media, attributes and a category.
//!
//! Input: records as `pipeline-parse` reads them, and the known facts about their store. Output:
//! [`data_model::Product`]s sorted by id without duplicates, and a quarantine entry with a reason for each record or
//! variant that could not be parsed.
//!
//! This crate does no I/O, reads no clock and does not guess. A product gets no category if neither a rule nor the
//! store's other products decide it. Inexact prices are refused. A value that a store did not state is `None`.

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
