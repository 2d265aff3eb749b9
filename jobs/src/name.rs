use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names of all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobName {
    /// Crawls the stores of brands that are due.
    RefreshCatalogue,
    /// Builds a release from the lake.
    BuildRelease,
    /// Merges small files of the lake.
    Compact,
    /// Removes unneeded files of the lake.
    Vacuum,
    /// Removes releases that are too old for a rollback, and remains of builds.
    CollectGarbage,
    /// Reads the shipping terms of stores.
    RefreshShipping,
    /// Reads what stores' review apps publish.
    RefreshReviews,
    /// Checks if the catalogue is fresh and complete.
    CheckQuality,
    /// Queries stores for delivery costs, a few questions per day.
    ProbeDelivery,
}

/// Error for a name that no job has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no job is called {name:?}; the jobs are {}", JobName::ALL.map(JobName::as_str).join(", "))]
pub struct UnknownJob {
    name: String,
}

impl JobName {
    /// All jobs, in the order in which they are started if several are due at the same time.
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

    /// Returns the name as commands and the state write it.
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
