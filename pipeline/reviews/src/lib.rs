//! Reads the reviews that stores' review apps publish, and writes them to the lake.
//!
//! Input: registered brands, their stores, the apps' public addresses and the lake. Output: reviews and ratings,
//! committed separately from crawls, and a report. A store's own pages show which app it uses. Each app has its own
//! rate limit, `robots.txt` and circuit breaker, shared by all stores.
//!
//! Responses of apps are landed (stored verbatim), and [`reread_reviews`] rebuilds the same rows from them without
//! requests.
//!
//! An unchanged store costs one request. If the store has new reviews, its review list is read from the newest review
//! until it reaches known reviews. An interrupted run continues at the same position.
//!
//! This crate uses only public keys. An unreadable response is never treated as an empty one. If an app shows fewer
//! reviews than it counts, or less than half of the stored reviews, no review is removed until this happens twice.

mod config;
mod landing;
mod read;
mod refresh;
mod replay;
mod reread;
mod state;
mod walk;

pub use config::{ReviewsConfig, ReviewsConfigError, ReviewsOptions, Widgets};
pub use refresh::{BrandReviews, ReviewsReport, refresh_reviews};
pub use reread::{RereadBrandReviews, RereadReviews, RereadReviewsTotals, reread_reviews};
