//! Sessions of those who signed in: they end after a time without use, and in any case; only hashes are kept.

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
