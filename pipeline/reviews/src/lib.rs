//! Reads the reviews that stores' review apps publish, and brings them into the lake.
//!
//! In: registered brands, their stores, the apps' public addresses and the lake. Out: reviews and ratings, committed apart
//! from crawls, and a report. Which app a store uses, its own pages say. Each app has a pace, a `robots.txt` and a breaker
//! of its own, whichever store is read.
//!
//! Answers of apps are landed, and [`reread_reviews`] makes the same rows of them again, without asking anyone.
//!
//! A store costs one request where nothing changed. Where something did, the list of its reviews is read from the newest
//! on, as far as it is new. A run that is cut short goes on where it was.
//!
//! It never uses a key that is not public, and never takes an answer that it cannot read for one that says nothing. Where an
//! app shows fewer reviews than it counts, or not half of those that are held, it drops none before that is so twice.

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
