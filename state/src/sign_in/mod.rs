//! The way from somebody who is nobody yet to their session: links that work once, and sign-ins under way.

mod link;
mod pending;

pub use link::{LinkRefusal, LinkUse};
pub use pending::PendingSignIn;
