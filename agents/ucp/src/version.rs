use std::fmt;

use serde::{Serialize, Serializer};

/// The protocol's versions that are spoken.
///
/// Answers are the same in both: the later one only adds members that are optional, and none of them is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Over REST and over MCP.
    V2026_04_08,
    /// Over MCP alone.
    V2026_08_25,
}

impl Version {
    /// All of them, the earliest first.
    pub(crate) const ALL: [Self; 2] = [Self::V2026_04_08, Self::V2026_08_25];

    /// The version that the protocol writes so.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// As the protocol writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2026_04_08 => "2026-04-08",
            Self::V2026_08_25 => "2026-08-25",
        }
    }

    /// The path at which it is spoken over MCP.
    pub(crate) const fn mcp_path(self) -> &'static str {
        match self {
            Self::V2026_04_08 => "/v1/ucp/mcp",
            Self::V2026_08_25 => "/v1/ucp/2026-08-25/mcp",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
