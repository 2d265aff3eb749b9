use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The jobs that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobName {
    /// Asks the stores of brands that are due.
    RefreshCatalogue,
    /// Makes a release of what the lake holds now.
    BuildRelease,
    /// Merges small files of the lake.
    Compact,
    /// Removes files of the lake that nothing needs.
    Vacuum,
    /// Removes releases that are too old to go back to, and what builds left.
    CollectGarbage,
    /// Reads what stores say of shipping.
    RefreshShipping,
    /// Reads what stores' review apps publish.
    RefreshReviews,
    /// Looks whether the catalogue is as fresh and whole as it should be.
    CheckQuality,
    /// Asks stores what delivery costs, a little every day.
    ProbeDelivery,
}

/// A name that no job has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no job is called {name:?}; there are {}", JobName::ALL.map(JobName::as_str).join(", "))]
pub struct UnknownJob {
    name: String,
}

impl JobName {
    /// All jobs, in the order in which they are begun when several are due at once.
    pub const ALL: [Self; 9] = [
        Self::RefreshCatalogue,
        Self::RefreshShipping,
        Self::RefreshReviews,
        Self::BuildRelease,
        Self::Compact,
        Self::Vacuum,
        Self::CollectGarbage,
        Self::CheckQuality,
        Self::ProbeDelivery,
    ];

    /// The name, as commands and the state write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RefreshCatalogue => "refresh-catalogue",
            Self::RefreshShipping => "refresh-shipping",
            Self::RefreshReviews => "refresh-reviews",
            Self::BuildRelease => "build-release",
            Self::Compact => "compact",
            Self::Vacuum => "vacuum",
            Self::CollectGarbage => "collect-garbage",
            Self::CheckQuality => "check-quality",
            Self::ProbeDelivery => "probe-delivery",
        }
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for JobName {
    type Err = UnknownJob;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| UnknownJob {
            name: text.chars().take(64).collect(),
        })
    }
}
