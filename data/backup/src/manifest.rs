use std::fmt;
use std::str::FromStr;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Newest manifest format that this version writes and reads.
pub(crate) const FORMAT: u32 = 1;
/// Path of the state database's dump in a backup. No object of a home has this path.
pub const STATE_DUMP: &str = "state.dump.zst";

/// Id of a backup: the microsecond at which it began, and a random suffix. Ids sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackupId(String);

/// The text is not a valid backup id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a backup id: `haat backup list` shows the ids")]
pub struct BackupIdError {
    text: String,
}

impl BackupId {
    const DIGITS: usize = 17;
    const RANDOM: usize = 8;

    pub(crate) fn new(at: Timestamp, random: u32) -> Self {
        Self(format!("{:017}-{random:08x}", at.micros().max(0)))
    }

    /// Returns the id as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BackupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BackupId {
    type Err = BackupIdError;

    fn from_str(text: &str) -> Result<Self, BackupIdError> {
        let is_id = text.split_once('-').is_some_and(|(at, random)| {
            at.len() == Self::DIGITS
                && at.bytes().all(|byte| byte.is_ascii_digit())
                && random.len() == Self::RANDOM
                && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        });
        match is_id {
            true => Ok(Self(text.to_owned())),
            false => Err(BackupIdError { text: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for BackupId {
    type Error = BackupIdError;

    fn try_from(text: String) -> Result<Self, BackupIdError> {
        text.parse()
    }
}

impl From<BackupId> for String {
    fn from(id: BackupId) -> Self {
        id.0
    }
}

/// One object of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Path of the object in a home.
    pub path: String,
    /// Size of the object in bytes.
    pub bytes: u64,
    /// SHA-256 of the object in hex.
    pub sha256: String,
    /// ETag of the object in the home's storage. The next backup does not read an object with the same ETag. `None` if
    /// the storage has no ETags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

/// Contents of one backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format number of this document.
    pub format: u32,
    /// Id of the backup.
    pub id: BackupId,
    /// Time at which the backup began.
    pub began_at: Timestamp,
    /// URL of the home that was backed up, without credentials.
    pub home: String,
    /// Number of the newest commit batch of the lake in the backup. `None` if the home has no lake.
    pub lake_tick: Option<u64>,
    /// `true` if raw pages (`landing/`) are included.
    pub has_landing: bool,
    /// Objects of the backup, sorted by path.
    pub entries: Vec<Entry>,
}

impl Manifest {
    /// Returns the total size of all objects in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }
}
