use std::error::Error;
use std::fmt::Write;

use data_lake::LakeError;
use data_model::BrandSlug;
use pipeline_crawl::RegistryError;

use crate::ledger::LedgerError;

/// Why a run as a whole did not come to its end. What one store does is no such reason.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A brand that the run was to be limited to is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// The lake could not be read.
    #[error("the lake cannot be read")]
    LakeRead(#[source] LakeError),
    /// The lake refused one brand after another.
    #[error("the lake refused {refused} brands in a row")]
    LakeWrite {
        /// How many.
        refused: u32,
        /// The last refusal.
        #[source]
        source: LakeError,
    },
    /// The clock tells a moment that makes no run id.
    #[error("the clock tells a moment that makes no run id")]
    RunId(#[source] data_model::IdError),
    /// The ledger of runs could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// An error with its causes, in one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            // Writing to a string does not fail.
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    text
}
