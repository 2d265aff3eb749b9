use data_storage::StorageError;

/// Reason why observations could not be listed, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum ObservationsError {
    /// The storage failed.
    #[error("observations cannot be read or removed")]
    Storage(#[from] StorageError),
    /// A file was not written by a recorder or is damaged. The file is not removed, and readers skip it.
    #[error("observations/{path} is not a valid file of observations: {fault}")]
    Damaged {
        /// Path of the file below `observations`.
        path: String,
        /// Fault of the file.
        fault: Fault,
    },
}

impl ObservationsError {
    /// Returns `true` if the file is at fault and not the storage.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// Fault of an observation file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The file is larger than any file that a recorder writes.
    #[error("it is larger than {bytes_max} bytes")]
    TooLarge {
        /// Maximum size in bytes, compressed or uncompressed.
        bytes_max: u64,
    },
    /// The file cannot be decompressed.
    #[error("it cannot be decompressed")]
    Packing,
    /// The first line of the file is not a valid heading.
    #[error("its first line is not a valid header")]
    Heading,
    /// The file was written by a newer version of the program.
    #[error("its format version is {0}, which this program does not support")]
    Version(u32),
    /// The number of observations differs from the one in the heading, or exceeds the limit of a recorder.
    #[error("its number of observations differs from its header")]
    Count,
    /// A line is not an observation, or contains values that no store can have.
    #[error("line {0} is not a valid observation")]
    Line(usize),
}
