//! Reviews as a store's review app publishes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::product::Review;

/// A review app whose widget is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewWidget {
    /// Judge.me.
    Judgeme,
    /// Yotpo.
    Yotpo,
    /// Stamped.
    Stamped,
    /// Okendo.
    Okendo,
}

/// A name that no review app has here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no review app is called {name:?}; there are judgeme, yotpo, stamped, okendo")]
pub struct UnknownWidget {
    name: String,
}

impl ReviewWidget {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Judgeme, Self::Yotpo, Self::Stamped, Self::Okendo];

    /// Its name in tables, in answers and in the configuration.
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

/// One review as a widget publishes it.
#[derive(Debug, Clone, PartialEq)]
pub struct WidgetReview {
    /// The widget.
    pub widget: ReviewWidget,
    /// The widget's own id of the review.
    pub id: String,
    /// The platform's id of the product.
    pub product: u64,
    /// The review itself. A review of stars alone has an empty text.
    pub review: Review,
    /// `true` where the widget says that the writer bought the product; `None` where it does not say.
    pub is_verified: Option<bool>,
}

/// A widget's summary of all ratings of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WidgetRating {
    /// The widget.
    pub widget: ReviewWidget,
    /// The platform's id of the product.
    pub product: u64,
    /// Mean of all ratings, from 0 to 5, as the widget states it.
    pub average: f64,
    /// The number of ratings.
    pub count: u32,
}
