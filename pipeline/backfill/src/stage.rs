use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// First stage of the pipeline that is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Starts from landed pages: records, products, lake. Records are not stored, so normalising again requires parsing
    /// again, and `normalise` is an alias of this stage.
    #[serde(alias = "normalise")]
    Parse,
    /// Starts from landed answers of review apps: their reviews and ratings. Reviews on product pages belong to
    /// `parse`.
    Reviews,
    /// Starts from the texts that stores sent when queried for their terms: shipping terms.
    Shipping,
    /// Starts from the lake: builds the release.
    Index,
}

impl Stage {
    /// All stages, in the order of the pipeline.
    pub const ALL: [Self; 4] = [Self::Parse, Self::Reviews, Self::Shipping, Self::Index];

    /// Returns the stage as one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Reviews => "reviews",
            Self::Shipping => "shipping",
            Self::Index => "index",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "normalise" {
            return Ok(Self::Parse);
        }
        let found = Self::ALL.into_iter().find(|stage| stage.as_str() == text);
        found.ok_or_else(|| "unknown stage: must be parse, normalise, reviews, shipping or index".to_owned())
    }
}
