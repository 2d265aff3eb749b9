//! Callers and their rights: the edge checks them before it looks at anything else of a request.
//!
//! The rules of HTTP are here (where a key stands in a request, which address a client has behind proxies, which headers
//! an answer carries). Which keys there are and how much each may ask is behind [`Identify`] and [`Limit`].

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

/// An answer that is there at once, or one that must be waited for.
pub enum Prompt<T> {
    /// There at once: what nearly every request gets.
    Now(T),
    /// Something outside the process is asked.
    Later(BoxFuture<'static, T>),
}

impl<T> Prompt<T> {
    /// The answer, waited for where it takes waiting.
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

/// The reason why a credential is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// It is malformed, unknown, revoked or over; the answer does not say which.
    Invalid,
    /// The service that knows the credentials does not answer now.
    Unavailable,
}

/// Knows whose a key or a session is.
pub trait Identify: Send + Sync + fmt::Debug {
    /// The caller whose `credential` this is. Keys that are known are answered without asking anything outside the process, and
    /// their caller is made once, not for each of their requests.
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>>;
}

/// Counts what callers ask, and says when it is too much.
pub trait Limit: Send + Sync + fmt::Debug {
    /// Takes one request of `caller` into account. Anonymous callers share what their network may ask; one without a
    /// network, within the process say, shares one allowance with all such.
    fn admit(&self, caller: &Caller) -> Prompt<Verdict>;

    /// Takes so many more requests of `caller` into account, for one that was let in and costs more than itself. They are
    /// refused to nobody: those that come next wait until they are paid, no longer than for a whole burst. Where nothing is
    /// counted there is nothing to do.
    fn owe(&self, _caller: &Caller, _requests: u32) -> Prompt<()> {
        Prompt::Now(())
    }
}

/// Counts what keys were used for. It never waits.
pub trait Meter: Send + Sync + fmt::Debug {
    /// Counts one admitted request of `caller` to the route of this pattern.
    fn count(&self, caller: &KnownCaller, route: &str);
}

/// Refuses every credential: for servers that know none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

impl Identify for NoCredentials {
    fn identify(&self, _credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        Prompt::Now(Err(NotTaken::Invalid))
    }
}

impl NotTaken {
    /// The code that refuses a request whose key is not taken.
    pub(crate) const fn code_of_key(self) -> ErrorCode {
        match self {
            Self::Invalid => ErrorCode::InvalidKey,
            Self::Unavailable => ErrorCode::NotReady,
        }
    }

    /// The same of a session.
    pub(crate) const fn code_of_session(self) -> ErrorCode {
        match self {
            Self::Invalid => ErrorCode::InvalidSession,
            Self::Unavailable => ErrorCode::NotReady,
        }
    }
}

#[cfg(test)]
mod tests;
