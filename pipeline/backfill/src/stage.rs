use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The part of the pipeline from which things are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// From landed pages: records, products, lake. Records are kept nowhere between, so that to normalise again is to parse
    /// again: `normalise` is another word for it.
    #[serde(alias = "normalise")]
    Parse,
    /// The answers of review apps: their reviews and ratings. The reviews that product pages state are part of `parse`.
    Reviews,
    /// From the texts that stores answered when they were asked for their terms: shipping terms.
    Shipping,
    /// From the lake: the release.
    Index,
}

impl Stage {
    /// All stages, in the order of the pipeline.
    pub const ALL: [Self; 4] = [Self::Parse, Self::Reviews, Self::Shipping, Self::Index];

    /// The stage in one word.
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
        found.ok_or_else(|| "none of parse, normalise, reviews, shipping, index".to_owned())
    }
}
