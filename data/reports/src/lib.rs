//! Computes quality figures of the lake's data and renders reports.
//!
//! Input: rows of the lake's `products` table as Arrow batches, and the previous state. Output: figures per brand
//! ([`figures`]: rows, missing fields, duplicates, currencies; [`moves`]: price changes), findings that exceed a
//! threshold ([`judge`]), and HTML pages ([`render`], [`page`]).
//!
//! Property tests check the counts against a pairwise comparison of all rows.
//!
//! The crate reads no lake, clock or files, and does not decide about releases.

mod engine;
mod figures;
mod finding;
mod flat;
mod html;
mod judge;
pub mod page;
mod report;
mod thresholds;

pub use engine::{figures, moves};
pub use figures::{BrandFigures, Duplicates, Field, PriceMove, PriceMoves, SIZES};
pub use finding::{Finding, Threshold};
pub use flat::{COLUMNS, FiguresError, PRICE_COLUMNS};
pub use html::render;
pub use judge::{judge, summary};
pub use report::{BrandQuality, Point, QualityReport, Totals, UnfoundWords};
pub use thresholds::{QualityConfig, QualityConfigError};
