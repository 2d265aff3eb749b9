use std::fmt;

use serde::{Deserialize, Serialize};

/// A variant or a product, identified by an id or a handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Item {
    /// The numeric id of a variant or of a product.
    Id(u64),
    /// The handle of a product, or an id as text: digits or a GraphQL global id.
    Name(String),
}

impl From<u64> for Item {
    fn from(id: u64) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for Item {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Item {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => fmt::Debug::fmt(name, f),
        }
    }
}
