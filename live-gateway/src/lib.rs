//! Asks the brands' stores themselves, one request of a buyer at a time: what does it cost now, is it there?
//!
//! In: requests for products by their ids; a [`Catalogue`] that knows which store sells them and what was stored of
//! them; the one polite client of stores. Out: answers of the live tier, in which every entry says whether the store
//! itself said it (`verified`) or whether a stored snapshot stands in, and why. What stores say goes to an [`Observe`]
//! besides, so that it is not lost.
//!
//! Politeness and economy: all buyers who want something of one store at the same time share that store's next
//! request. Rules (what counts as verified, how a variant is matched, how money is read) are pure and lie in `rules`.
//!
//! It never calls a snapshot verified, never answers later than its budget whatever stores do, never writes to the
//! lake, and compiles neither DataFusion nor Delta.

pub mod accounts;
mod cart_client;
mod cart_context;
mod cart_failure;
mod carts;
mod catalogue;
pub mod checkout;
mod config;
pub mod coupons;
mod desk;
mod gateway;
mod hidden;
mod idempotent;
mod leases;
mod observe;
mod operations;
mod random;
mod request_time;
mod routes;
mod rules;
pub mod schema;

pub use accounts::seal_storefront_token;
pub use carts::{CartDesk, CouponCandidates, NoCandidates, TriedCode};
pub use catalogue::{Catalogue, CatalogueError, HttpCatalogue};
pub use checkout::{SigningError, rotate_signing_key};
pub use config::{CartConfig, GatewayConfig, SigningAlgorithm, Way};
pub use gateway::LiveGateway;
pub use observe::{NotObserved, Observe};
pub use operations::prices::{PricesAnswer, PricesRequest};
