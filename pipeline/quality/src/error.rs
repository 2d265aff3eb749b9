use data_checks::ChecksError;
use data_lake::LakeError;
use data_reports::FiguresError;
use data_searches::SearchesError;
use data_storage::StorageError;

/// Reason why the quality of the lake's data could not be determined.
#[derive(Debug, thiserror::Error)]
pub enum QualityError {
    /// The lake could not be read.
    #[error("the lake cannot be read")]
    Lake(#[from] LakeError),
    /// The record of the brands' checks could not be read.
    #[error("the times of the brands' last checks cannot be read")]
    Checks(#[from] ChecksError),
    /// The counts of searched words that are not in the lake yet could not be read.
    #[error("the words that were searched for cannot be read")]
    Searches(#[from] SearchesError),
    /// The rows could not be counted.
    #[error("the lake's products cannot be counted")]
    Figures(#[from] FiguresError),
    /// The counting thread ended without a result.
    #[error("the task that counts the lake's products failed")]
    BrokeOff,
    /// Earlier reports could not be read, or this report could not be written.
    #[error("reports of data quality cannot be read or written")]
    Storage(#[from] StorageError),
    /// The report could not be serialised.
    #[error("the report of data quality cannot be serialised")]
    Json(#[from] serde_json::Error),
}
