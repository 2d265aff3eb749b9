use data_storage::StorageError;

/// The reason why observations could not be listed, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum ObservationsError {
    /// The storage failed.
    #[error("observations cannot be read or removed")]
    Storage(#[from] StorageError),
    /// A file is not what a recorder wrote. It stays as it is; whoever reads passes it over.
    #[error("observations/{path} is no file of observations: {fault}")]
    Damaged {
        /// Its path below `observations`.
        path: String,
        /// The fault of the file.
        fault: Fault,
    },
}

impl ObservationsError {
    /// `true` where the file is to blame, and not the storage.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// The fault of a file of observations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is larger than any recorder writes.
    #[error("it is larger than {bytes_max} bytes")]
    TooLarge {
        /// The most that is taken, packed or unpacked.
        bytes_max: u64,
    },
    /// It cannot be unpacked.
    #[error("it cannot be unpacked")]
    Packing,
    /// Its first line does not say what follows.
    #[error("its first line is no heading")]
    Heading,
    /// A later program wrote it.
    #[error("its format is {0}, which this program does not know")]
    Version(u32),
    /// It holds another number of observations than its heading says, or more than a recorder writes.
    #[error("it does not hold as many observations as it says")]
    Count,
    /// A line is no observation, or holds what no store can say.
    #[error("line {0} is no observation")]
    Line(usize),
}
