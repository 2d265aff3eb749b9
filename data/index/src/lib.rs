//! Releases: build their parts, describe them in a manifest, publish, list, roll back, collect garbage, fetch, open.
//!
//! In: [`Product`](data_model::Product)s grouped by store and the facts of their brands. Out: immutable files
//! named by their SHA-256, a [`Manifest`] that names them, and, on the reading side, an opened [`Release`]:
//! memory-mapped dictionaries, columns, posting lists, brands and categories.
//! It never reads the lake, never crawls, never plans or ranks a query, and never changes a file once written.
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

mod assemble;
pub mod columns;
mod delivery;
mod dictionary;
mod digest;
mod error;
mod filter;
mod manifest;
mod part;
mod plan;
mod release;
mod reviews;
mod store;
pub mod suggest;
pub mod terms;
mod varint;
mod vectors;

pub use assemble::{AssembleError, Assembly, assemble};
pub use columns::write_matches;
pub use data_taxonomy as taxonomy;
pub use delivery::{DeliveryMatrix, DeliveryRef, ReleasedZone, write_delivery, write_delivery_zones};
pub use dictionary::{Dictionary, DictionaryEntry};
pub use digest::Sha256Hex;
pub use error::{BuildError, OpenError, ReleaseError};
pub use filter::{FacetClause, Filter, PartFilter, PriceRange, RowFilter};
pub use manifest::{
    BrandEntry, BrandFacts, BrandReviews, BrandTotals, CategoryCount, Counts, CurrencyCount, Embedding, FileEntry,
    HeldBrand, Manifest, MatchesEntry, PartEntry, PartId, PartStore, SCHEMA_VERSION,
};
pub use part::{BuildOptions, BuiltParts, PartBuilder, PartFiles, PartsBuilder, StoreSummary};
pub use plan::{BuildPlan, LakeStore, PartPlan, PlanOptions, plan};
pub use release::{CategoryNode, Part, Release, RowAddress};
pub use reviews::{ProductReviews, write_reviews};
pub use store::{
    CheckOptions, Current, Damage, DamageKind, FetchReport, GcOptions, GcReport, ListedRelease, Listing, LocalRelease,
    LogEvent, LogRepair, MendedObject, Pin, PinnedBy, Publication, Published, REASON_BYTES_MAX, Refusal, ReleaseStore,
    RolledBack, Unreadable, Violation,
};
