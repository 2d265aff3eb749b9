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
    /// A caller without an identity, distinguished by the client's network if it is known.
    Anonymous(Option<ClientNetwork>),
    /// The holder of a key or a session.
    Known(Arc<KnownCaller>),
}

/// The identity of a key or session holder.
#[derive(Debug, Clone)]
pub struct KnownCaller {
    /// Owner id for everything that the caller creates.
    pub id: CallerId,
    /// The kind of credential.
    pub via: Via,
    /// The limits of the caller.
    pub allowance: Arc<Allowance>,
}

/// The kind of credential that identifies a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// An API key: its id, which is not secret, and the name of its plan.
    Key {
        /// Public id of the key, `key_…`.
        id: Arc<str>,
        /// Name of the plan: `free` or `granted`.
        plan: &'static str,
    },
    /// A session of the dashboard.
    Session,
    /// A session without a sign-in. Requests of a guest count towards the limits of the client's network.
    Guest {
        /// Network that the request came from, if known.
        network: Option<ClientNetwork>,
    },
}

/// The owner of carts and accounts: an account, or a key without an account. The id is never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallerId(Arc<str>);

impl CallerId {
    /// Creates the id of an account, shared by its sessions and all its keys.
    #[must_use]
    pub fn account(account: &str) -> Self {
        Self(format!("account:{account}").into())
    }

    /// Creates the id of a key that belongs to no account.
    #[must_use]
    pub fn key(id: &str) -> Self {
        Self(format!("key:{id}").into())
    }

    /// Returns the id as text, to be stored with the caller's data.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the account, if the id is one of an account.
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
    /// Returns the identity of the caller, if there is one.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<KnownCaller>> {
        match self {
            Self::Anonymous(_) => None,
            Self::Known(known) => Some(known),
        }
    }
}

/// Extracts the caller that the edge identified. Without an edge, the caller is anonymous.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let known = parts.extensions.get::<Arc<KnownCaller>>().cloned();
        Ok(known.map_or(Self::Anonymous(None), Self::Known))
    }
}
