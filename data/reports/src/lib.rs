//! Figures of the quality of the lake's data, and the drawing of reports.
//!
//! In: rows of the lake's `products` as Arrow batches, and what they were before. Out: figures per brand ([`figures`]: rows,
//! what is missing, duplicates, currencies; [`moves`]: how prices moved), what of them is beyond a threshold ([`judge`]), and
//! pages ([`render`], [`page`]).
//!
//! The counts are held by property tests against a comparison of every row with every other.
//!
//! It never reads a lake, a clock or a file, and never decides what becomes of a release.

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
