use std::str::FromStr;

use serde::{Deserialize, Serialize};

data_model::named! {
    /// First stage of the pipeline that is run again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// Starts from landed pages: records, products, lake. Records are not stored, so normalising again requires
        /// parsing again, and `normalise` is an alias of this stage.
        #[serde(alias = "normalise")]
        Parse = "parse",
        /// Starts from landed answers of review apps: their reviews and ratings. Reviews on product pages belong to
        /// `parse`.
        Reviews = "reviews",
        /// Starts from the texts that stores sent when queried for their terms: shipping terms.
        Shipping = "shipping",
        /// Starts from the lake: builds the release.
        Index = "index",
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "normalise" {
            return Ok(Self::Parse);
        }
        let found = Self::named(text);
        found.ok_or_else(|| "unknown stage: must be parse, normalise, reviews, shipping or index".to_owned())
    }
}
