use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::network::ClientNetwork;
use super::verdict::Allowance;

/// The caller of a request.
#[derive(Debug, Clone)]
pub enum Caller {
    /// A caller without an identity; told apart by the network that they ask from, where that is known.
    Anonymous(Option<ClientNetwork>),
    /// The holder of a key or of a session.
    Known(Arc<KnownCaller>),
}

/// The holder of a key or of a session.
#[derive(Debug, Clone)]
pub struct KnownCaller {
    /// The owner of all that they make.
    pub id: CallerId,
    /// The way in which they are identified.
    pub via: Via,
    /// The limits of the caller.
    pub allowance: Arc<Allowance>,
}

/// The way in which a caller is identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// By a key: its id, which is no secret, and the name of its plan.
    Key {
        /// `key_…`.
        id: Arc<str>,
        /// `free` or `granted`.
        plan: &'static str,
    },
    /// By a session of the dashboard.
    Session,
    /// By a session of somebody who did not sign in. Requests of theirs count as their network's.
    Guest {
        /// The network that the request came from, where it is known.
        network: Option<ClientNetwork>,
    },
}

/// The owner of carts and accounts: an account, or a key that belongs to none. Never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallerId(Arc<str>);

impl CallerId {
    /// Whoever signs in as this account, and all keys of it.
    #[must_use]
    pub fn account(account: &str) -> Self {
        Self(format!("account:{account}").into())
    }

    /// Whoever has this key, which belongs to no account.
    #[must_use]
    pub fn key(id: &str) -> Self {
        Self(format!("key:{id}").into())
    }

    /// The id as text, to be stored with what is theirs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The account, where it is one.
    #[must_use]
    pub fn as_account(&self) -> Option<&str> {
        self.0.strip_prefix("account:")
    }
}

impl fmt::Display for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Caller {
    /// The caller, where they are identified.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<KnownCaller>> {
        match self {
            Self::Anonymous(_) => None,
            Self::Known(known) => Some(known),
        }
    }
}

/// The caller that the edge found; anonymous where a handler is asked without an edge.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let known = parts.extensions.get::<Arc<KnownCaller>>().cloned();
        Ok(known.map_or(Self::Anonymous(None), Self::Known))
    }
}
