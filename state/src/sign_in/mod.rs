//! The sign-in of people: links that work once, and pending sign-ins at a provider.

mod link;
mod pending;

pub use link::{LinkRefusal, LinkUse};
pub use pending::PendingSignIn;
