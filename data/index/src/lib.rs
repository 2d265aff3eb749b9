//! Reads and writes the files of a release.
//!
//! Input: products row by row, or the bytes of files with the [`Manifest`] that names them. Output: bytes, or an
//! opened [`Release`] with dictionaries, columns, posting lists, brands and categories, read in place.
//! The crate is pure: it opens no files, uses no storage and no clock, and does not plan or rank queries.
//! `data-release` reads and stores the files.
//!
//! # What a query server reads
//! [`Release`] is immutable and `Send + Sync`; share it in an `Arc`. A row is addressed by [`RowAddress`]
//! `{ part, row }`. Rows that a newer part replaced are dead ([`Part::dead`]). Posting lists and dictionaries still
//! contain dead rows; [`Filter`] bitmaps and [`Release::find`] do not.
//!
//! * exact words: [`Part::titles`], [`Part::brand_names`], [`Part::skus`] → [`Dictionary`], [`data_text::analyse`]
//!   (query terms of one [`data_text::Analysis`]);
//! * ranking: [`Part::terms`] → one posting list per term over all fields, see [`terms`];
//! * cards: [`Part::cards`] → [`columns::Cards`], one zero-copy accessor per column;
//! * detail: [`Part::details`] → [`columns::DetailsRow`];
//! * filters: [`RowFilter`] → [`Release::filter`] → [`Filter::part`] → `matches(row)` or `bitmap()`;
//! * semantic search: [`Release::nearest`], [`Release::similarity`], [`Release::vector`]; the embedder of the
//!   vectors: [`Manifest::embedding`];
//! * facets: [`Part::facets`] → names, values, posting lists, codes of a row, counts over a bitmap of hits;
//! * suggestions: [`Part::suggest`] → [`suggest::Suggest`], and [`suggest::RankedNames`] for names;
//! * brands: [`Release::brands`], [`Release::brand_by_slug`], [`Release::brand_of`];
//! * categories: [`Release::category_tree`] with product counts that include descendants; [`taxonomy`];
//! * the same product in the stores of other brands: [`Release::matches`];
//! * totals: [`Release::counts`].

pub mod columns;
mod delivery;
mod dictionary;
pub mod digest;
mod error;
mod filter;
mod manifest;
mod nearest;
mod part;
mod release;
mod reviews;
pub mod suggest;
pub mod terms;
mod varint;
mod vectors;

pub use data_taxonomy as taxonomy;
pub use delivery::{DeliveryMatrix, DeliveryRef, ReleasedZone, delivery_file};
pub use dictionary::{Dictionary, DictionaryEntry};
pub use digest::Sha256Hex;
pub use error::{BuildError, OpenError};
pub use filter::{FacetClause, Filter, PartFilter, PriceRange, RowFilter};
pub use manifest::{
    BrandEntry, BrandFacts, BrandReviews, BrandTotals, CategoryCount, Counts, CurrencyCount, Embedding, FileEntry,
    HeldBrand, Manifest, MatchesEntry, NewFile, PartEntry, PartId, PartStore, SCHEMA_VERSION,
};
pub use part::{BuildOptions, NewRow, PartWriter};
pub use release::{CategoryNode, Part, ReadFile, Release, RowAddress};
pub use reviews::{ProductReviews, reviews_file};
