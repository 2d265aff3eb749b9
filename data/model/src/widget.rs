//! Reviews as a store's review app publishes them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::product::Review;

crate::named! {
    /// A review app whose widget can be read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ReviewWidget {
        /// The review app Judge.me.
        Judgeme = "judgeme",
        /// The review app Yotpo.
        Yotpo = "yotpo",
        /// The review app Stamped.
        Stamped = "stamped",
        /// The review app Okendo.
        Okendo = "okendo",
    }
}

/// Error: the name does not belong to a supported review app.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown review app {name:?}: must be judgeme, yotpo, stamped or okendo")]
pub struct UnknownWidget {
    name: String,
}

impl FromStr for ReviewWidget {
    type Err = UnknownWidget;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::named(text);
        found.ok_or_else(|| UnknownWidget {
            name: text.chars().take(64).collect(),
        })
    }
}

/// A review as a review widget publishes it.
#[derive(Debug, Clone, PartialEq)]
pub struct WidgetReview {
    /// Review app that published the review.
    pub widget: ReviewWidget,
    /// The review app's id of the review.
    pub id: String,
    /// The platform's id of the product.
    pub product: u64,
    /// Content of the review. The text is empty if the review has only stars.
    pub review: Review,
    /// `true` if the widget states that the author bought the product. `None` if it states nothing.
    pub is_verified: Option<bool>,
}

/// A widget's summary of all ratings of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WidgetRating {
    /// Review app that published the rating.
    pub widget: ReviewWidget,
    /// The platform's id of the product.
    pub product: u64,
    /// Mean of all ratings from 0 to 5, as the widget states it.
    pub average: f64,
    /// Number of ratings.
    pub count: u32,
}
