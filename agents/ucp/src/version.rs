use std::fmt;

use serde::{Serialize, Serializer};

/// Supported versions of the protocol.
///
/// Responses are the same in both versions, because the later version only adds optional fields that this server does
/// not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Version 2026-04-08, offered over REST and MCP.
    V2026_04_08,
    /// Version 2026-08-25, offered over MCP only.
    V2026_08_25,
}

impl Version {
    /// All supported versions, the earliest first.
    pub(crate) const ALL: [Self; 2] = [Self::V2026_04_08, Self::V2026_08_25];

    /// Parses a version in the protocol's spelling.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// Returns the version as the protocol writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2026_04_08 => "2026-04-08",
            Self::V2026_08_25 => "2026-08-25",
        }
    }

    /// Returns the path of the MCP endpoint for this version.
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
