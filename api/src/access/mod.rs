//! Callers and their rights, which the edge checks before anything else.
//!
//! This module contains the HTTP rules: where a request has its key, which client address a proxy states, and which
//! headers a response has. [`Identify`] knows the keys, and [`Limit`] their limits.

mod caller;
mod credential;
mod guard;
mod network;
mod shares;
mod tries;
mod verdict;

use std::fmt;
use std::sync::Arc;

use data_model::ErrorCode;
use futures::future::BoxFuture;

pub use self::caller::{Caller, CallerId, KnownCaller, Via};
pub use self::credential::{Credential, SESSION_COOKIE};
pub use self::guard::{Guard, Operations};
pub(crate) use self::guard::{GuardDecision, RouteAccess};
pub use self::network::{ClientNetwork, ForwardedHeader};
pub(crate) use self::shares::{Full, Share, Shares};
pub use self::tries::{Tries, TryKey};
pub use self::verdict::{Allowance, Outcome, Verdict};

/// A value that is available immediately, or a value that must be awaited.
pub enum Prompt<T> {
    /// Available immediately, as for nearly every request.
    Now(T),
    /// Requires a call outside the process.
    Later(BoxFuture<'static, T>),
}

impl<T> Prompt<T> {
    /// Returns the value, and awaits it if needed.
    pub async fn get(self) -> T {
        match self {
            Self::Now(answer) => answer,
            Self::Later(answer) => answer.await,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Prompt<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(answer) => f.debug_tuple("Now").field(answer).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// Reasons to refuse a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// The credential is malformed, unknown, revoked or expired. The response does not say which.
    Invalid,
    /// The service that knows the credentials does not respond now.
    Unavailable,
}

/// Identifies the owners of keys and sessions.
pub trait Identify: Send + Sync + fmt::Debug {
    /// Returns the owner of `credential`. Known keys are resolved within the process, and their caller is created only
    /// once.
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>>;
}

/// Counts the requests of callers, and decides when there are too many.
pub trait Limit: Send + Sync + fmt::Debug {
    /// Charges one request to `caller`. Anonymous callers share the limits of their network. Anonymous callers without
    /// a network, such as calls within the process, share one allowance.
    fn admit(&self, caller: &Caller) -> Prompt<Verdict>;

    /// Returns the verdict on the next request of `_caller` without counting anything. Anonymous callers without a network
    /// share one verdict. The default implementation has no limits.
    fn look(&self, _caller: &Caller) -> Prompt<Verdict> {
        Prompt::Now(Verdict::UNLIMITED)
    }

    /// Charges `_requests` more requests to `caller`, for an admitted request that costs more than one request. The
    /// additional requests are never refused. Later requests of the caller wait until the debt is paid, but no longer
    /// than for a whole burst. The default implementation does nothing.
    fn owe(&self, _caller: &Caller, _requests: u32) -> Prompt<()> {
        Prompt::Now(())
    }
}

/// Counts the usage of keys. Counting never blocks.
pub trait Meter: Send + Sync + fmt::Debug {
    /// Counts one admitted request of `caller` to the route with this pattern.
    fn count(&self, caller: &KnownCaller, route: &str);
}

/// Refuses every credential, for servers without keys and sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

impl Identify for NoCredentials {
    fn identify(&self, _credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        Prompt::Now(Err(NotTaken::Invalid))
    }
}

impl NotTaken {
    pub(crate) const fn code_of_key(self) -> ErrorCode {
        match self {
            Self::Invalid => ErrorCode::InvalidKey,
            Self::Unavailable => ErrorCode::NotReady,
        }
    }

    pub(crate) const fn code_of_session(self) -> ErrorCode {
        match self {
            Self::Invalid => ErrorCode::InvalidSession,
            Self::Unavailable => ErrorCode::NotReady,
        }
    }
}

#[cfg(test)]
mod tests;
