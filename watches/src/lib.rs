//! Watches: a caller is notified when a price falls, a product is back in stock, or a query finds a new product.
//!
//! In: watches created by callers, the current release, live responses of stores, and a state. Out: events, each sent
//! once, by webhooks in the form of Standard Webhooks or by e-mail, and routes to manage watches.
//!
//! The [`rules`] are pure. Addresses of receivers are checked like addresses of stores. Receivers get only POST
//! requests, and redirects are not followed. E-mails are sent only to an address with which its owner signed in.
//! Secrets are sealed before they are stored, and are never logged. The crate does not access the catalogue directly,
//! but queries a [`Market`].

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
