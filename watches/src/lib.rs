//! Watches: a caller is told when a price falls, a product is back in stock, or a query finds something new.
//!
//! In: watches as callers make them, the release that is served, what stores said live, and a state. Out: events, each once,
//! delivered by webhooks in the form of Standard Webhooks or by mail, and routes to make and end watches.
//!
//! [`rules`] are pure. A receiver is judged as a store's address is, is sent nothing but POSTs, and is never followed to
//! another address; an address that is mailed is one that its owner signed in with. Secrets are sealed before they come to the
//! state, and stand in no log. The crate knows no catalogue: it asks a [`Market`].

mod carriers;
mod config;
mod deliver;
mod error;
mod event;
mod judge;
mod letter;
mod mail;
mod market;
mod operations;
mod routes;
mod rules;
mod run;
pub mod schema;
mod stop;
mod target;
mod watches;

pub use config::WatchesConfig;
pub use error::WatchError;
pub use mail::MailSender;
pub use market::{Market, MarketError, MatchedProduct};
pub use routes::{open_router, openapi};
pub use run::{ObservationReceiver, ObservationSender, observation_channel};
pub use watches::{Watches, WatchesParts};
