//! The files of a release: what is in them, written and read.
//!
//! In: products row by row, or the bytes of files and the [`Manifest`] that names them. Out: bytes, or an opened [`Release`]:
//! dictionaries, columns, posting lists, brands and categories, read in place.
//! Pure: it opens no file, knows no storage and no clock, and never plans or ranks a query. `data-release` has the files.
//!
//! # Reading: what a query server needs
//! [`Release`] is immutable and `Send + Sync`; share it in an `Arc`. A row is addressed by [`RowAddress`]
//! `{ part, row }`. Rows that a newer part replaced are dead ([`Part::dead`]): posting lists and dictionaries name them
//! still; [`Filter`] bitmaps and [`Release::find`] do not.
//!
//! * words as they are written: [`Part::titles`], [`Part::brand_names`], [`Part::skus`] → [`Dictionary`],
//!   [`data_text::analyse`] (query terms of one [`data_text::Analysis`]);
//! * ranking: [`Part::terms`] → one posting list a term over all fields, see [`terms`];
//! * cards: [`Part::cards`] → [`columns::Cards`], one accessor a column, zero copy;
//! * detail: [`Part::details`] → [`columns::DetailsRow`];
//! * filters: [`RowFilter`] → [`Release::filter`] → [`Filter::part`] → `matches(row)` or `bitmap()`;
//! * meaning: [`Release::nearest`], [`Release::similarity`], [`Release::vector`]; which embedder made the vectors:
//!   [`Manifest::embedding`];
//! * facets: [`Part::facets`] → names, values, posting lists, codes of a row, counts over a bitmap of hits;
//! * suggestions: [`Part::suggest`] → [`suggest::Suggest`], and [`suggest::RankedNames`] for names;
//! * brands: [`Release::brands`], [`Release::brand_by_slug`], [`Release::brand_of`];
//! * categories: [`Release::category_tree`] with counts of products, descendants included; [`taxonomy`];
//! * the same product in other brands' stores: [`Release::matches`];
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
