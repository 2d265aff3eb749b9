//! Sessions of signed-in people and guests. A session ends after an idle timeout, and at the latest after a fixed time.

mod create;
mod end;
mod find;
mod guest;
mod record;
mod row;
mod token;

pub(crate) use create::begin_session;
pub use record::{IssuedSession, NewSession, SessionGrant, SessionId, SessionLimits, SignInMethod};
pub use token::{LinkHash, LinkToken, PendingHash, PendingToken, SessionHash, SessionToken, TokenError};
