use std::fmt;
use std::str::FromStr;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};

/// The newest format that this version writes and reads.
pub(crate) const FORMAT: u32 = 1;
/// The path under which a backup keeps the dump of the state's database. No object of a home has it.
pub const STATE_DUMP: &str = "state.dump.zst";

/// The name of one backup: the microsecond at which it began, and a random part. Names sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackupId(String);

/// A text that names no backup.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not the name of a backup: `haat backup list` shows them")]
pub struct BackupIdError {
    text: String,
}

impl BackupId {
    /// The digits of the time.
    const DIGITS: usize = 17;
    /// The random hexadecimal digits.
    const RANDOM: usize = 8;

    pub(crate) fn new(at: Timestamp, random: u32) -> Self {
        Self(format!("{:017}-{random:08x}", at.micros().max(0)))
    }

    /// The name as a text.
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
    /// Its path in a home.
    pub path: String,
    /// The number of its bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The home's storage's name of this version of it, so that the next backup need not read it again. Absent where
    /// the storage has no such name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

/// The content of one backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of this document.
    pub format: u32,
    /// Its name.
    pub id: BackupId,
    /// When it began.
    pub began_at: Timestamp,
    /// The home it was taken of, as a URL without credentials.
    pub home: String,
    /// The newest tick of the lake in it; absent where the home has no lake.
    pub lake_tick: Option<u64>,
    /// `true` where raw pages (`landing/`) are in it.
    pub has_landing: bool,
    /// Its objects, by path.
    pub entries: Vec<Entry>,
}

impl Manifest {
    /// The bytes of all objects.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }
}
