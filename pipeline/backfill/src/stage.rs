use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// From which part of the pipeline on things are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// From landed pages: records, products, lake.
    Parse,
    /// From records: products, lake. Records are not kept, so that it begins with the pages all the same; it is another word
    /// for [`Stage::Parse`].
    Normalise,
    /// From landed product pages: ratings and reviews.
    Reviews,
    /// From landed policies: shipping terms.
    Shipping,
    /// From the lake: the release.
    Index,
}

/// Why there is nothing to make again at a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Nothing {
    /// Which stage.
    pub stage: Stage,
    /// In words.
    pub why: &'static str,
}

impl Stage {
    /// All stages, in the order of the pipeline.
    pub const ALL: [Self; 5] = [Self::Parse, Self::Normalise, Self::Reviews, Self::Shipping, Self::Index];

    /// The stage in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Normalise => "normalise",
            Self::Reviews => "reviews",
            Self::Shipping => "shipping",
            Self::Index => "index",
        }
    }

    /// Why there is nothing to read again at this stage; `None` where there is.
    #[must_use]
    pub fn nothing_landed(self) -> Option<Nothing> {
        let why = match self {
            Self::Parse | Self::Normalise | Self::Index => return None,
            Self::Reviews => {
                "product pages are not landed: what they said is kept in crawl-state/, and stage parse adds it to the products"
            }
            Self::Shipping => "policies of stores are not landed: the next crawl that reads them brings their terms",
        };
        Some(Nothing { stage: self, why })
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
        let found = Self::ALL.into_iter().find(|stage| stage.as_str() == text);
        found.ok_or_else(|| "none of parse, normalise, reviews, shipping, index".to_owned())
    }
}
