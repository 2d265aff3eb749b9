//! Reviews as a store's review app publishes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::product::Review;

/// A review app whose widget can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewWidget {
    /// The review app Judge.me.
    Judgeme,
    /// The review app Yotpo.
    Yotpo,
    /// The review app Stamped.
    Stamped,
    /// The review app Okendo.
    Okendo,
}

/// Error: the name does not belong to a supported review app.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown review app {name:?}: must be judgeme, yotpo, stamped or okendo")]
pub struct UnknownWidget {
    name: String,
}

impl ReviewWidget {
    /// All supported review apps.
    pub const ALL: [Self; 4] = [Self::Judgeme, Self::Yotpo, Self::Stamped, Self::Okendo];

    /// Returns the name of the app in tables, API responses and the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Judgeme => "judgeme",
            Self::Yotpo => "yotpo",
            Self::Stamped => "stamped",
            Self::Okendo => "okendo",
        }
    }
}

impl fmt::Display for ReviewWidget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ReviewWidget {
    type Err = UnknownWidget;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|widget| widget.as_str() == text);
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
    /// `true` if the widget says that the author bought the product. `None` if it does not say.
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
