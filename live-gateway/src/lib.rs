//! Live gateway: queries the brands' stores for current prices and stock at a buyer's request.
//!
//! In: requests for products by their ids; a [`Catalogue`] of products and their stores; the rate-limited client of
//! stores. Out: live responses. Each entry states if the store itself confirmed it (`verified`) or if it comes from a
//! stored snapshot, and why. Stores' responses are also passed to an [`Observe`], so that they reach the lake.
//!
//! Buyers who query the same store at the same time share the next request to it, which limits the load on stores. The
//! pure module `rules` decides which responses count as verified, matches variants, and parses amounts.
//!
//! The gateway never reports a snapshot as verified, responds within its time budget even if stores do not, and never
//! writes to the lake. The gateway depends on neither DataFusion nor Delta.

pub mod accounts;
mod cart_client;
mod cart_context;
mod cart_failure;
mod carts;
mod catalogue;
pub mod checkout;
mod coalescer;
mod config;
pub mod coupons;
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
pub use carts::{CartDependencies, CouponCandidates, NoCandidates, TriedCode};
pub use catalogue::{Catalogue, CatalogueError, HttpCatalogue};
pub use checkout::{SigningError, rotate_signing_key};
pub use config::{CartConfig, GatewayConfig, SigningAlgorithm, Way};
pub use gateway::LiveGateway;
pub use observe::{NotObserved, Observe};
pub use operations::prices::{PricesAnswer, PricesRequest};
