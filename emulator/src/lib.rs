//! Emulated Shopify stores on loopback, for the demo, for tests and for benchmarks.
//!
//! Input: a folder of recorded product pages, or a seed with the numbers of products and stores. Output: stores that
//! respond over HTTP as the storefront platform responds to a third party:
//!
//! - the catalogue's JSON views, pages with structured data, `meta.json`, robots.txt, sitemaps, policies and pictures,
//!   with validators and content codings;
//! - the Storefront GraphQL API at `POST /api/{version}/graphql.json` with carts, discounts, delivery and customers;
//! - the Ajax cart, and a checkout page that takes no payment.
//!
//! On demand, stores change from epoch to epoch or at once, and show every known fault of real stores.
//!
//! # Shopping
//!
//! Every store has discounts from its seed. [`RunningStores::discounts`] lists them; [`RunningStores::truth`] and
//! [`RunningStores::verdicts`] return their effect on a basket. Carts expire after [`EmulatorConfig::cart_ttl`] by a
//! clock that [`RunningStores::advance_clock`] moves. [`Fault::AnswerLost`] and [`Fault::EdgeFailed`] carry out the
//! request and lose the response; [`Fault::Delayed`] and [`Fault::Late`] carry out the request later.
//! [`RunningStores::calls`] counts the operations that were carried out.
//!
//! With [`EmulatorConfig::varied_shipping`], stores in India ship as real stores do: rates depend on destination, value
//! and weight, some stores offer cash on delivery, and policies state a part of the rules.
//! [`RunningStores::shipping_habits`] returns the true rules.
//!
//! # Immediate changes
//!
//! [`RunningStores::change`] and its companions change prices and stock, and remove products, in all views of a store
//! together. With [`EmulatorConfig::control`], stores accept the same changes over HTTP, from this machine only:
//!
//! ```sh
//! curl -H 'content-type: application/json' http://127.1.0.1:8080/emulator/change \
//!   -d '{"kind": "reprice", "item": 52718735359530, "price": "499.00"}'
//! # {"kind": "set-stock", "item": 52718735359530, "quantity": 0}
//! # {"kind": "remove-product", "item": "aria-classic-cold-brew-bags-5"}
//! # {"kind": "add-discount", "rule": {"code": "NOW30", "takes": {"kind": "percentage", "percent": 30}}}
//! # {"kind": "remove-discount", "name": "NOW30"}
//! # {"kind": "restore", "item": "aria-classic-cold-brew-bags-5"}, or {"kind": "restore"} for all
//! # {"kind": "faults", "rules": [{"fault": {"kind": "slow", "delay_ms": 5000}}]}
//! ```
//!
//! An item is the id of a variant or product, a product's handle, or a GraphQL global id. The answer names the product
//! and the variants that were changed. Status 404 means that the store has no such item, and 422 that the price is
//! invalid.
//!
//! # Reviews
//!
//! With [`EmulatorConfig::widgets`], four of five stores use a review app. The store's pages have the app's tag, and
//! the app has its own address ([`RunningStores::widget_url`]), which returns ratings and pages of reviews of a shop or
//! a product. [`RunningStores::reviews`] returns the true reviews. Reviews are added, edited and deleted on demand.
//!
//! Generated products are pure functions of seed, store, place and epoch and are not stored, so a million products need
//! no more memory than a dozen. Carts and customers are stored, within bounds. The emulator never takes a payment,
//! sends a mail, listens beyond loopback, fetches anything, or is part of production.

mod address;
mod ajax;
mod answer;
mod ask;
mod barcode;
mod cart;
mod cart_service;
mod catalogue;
mod change;
mod clock;
mod config;
mod connection;
mod control;
mod customers;
mod discount;
mod edit;
mod error;
mod fault;
mod generated;
mod graphql;
mod habits;
mod item;
mod json;
mod log;
mod market;
mod money;
mod picture;
mod places;
mod product;
mod recorded;
mod reply;
mod reviews;
mod running;
mod serve;
mod server;
mod shop;
mod socket;
mod stock;
mod table;
mod terms;
mod tokens;
mod widgets;
mod zones;

pub use cart::CartFunction;
pub use change::{Change, ChangeTarget};
pub use config::{Addressing, EmulatorConfig, Encoding, Source};
pub use customers::CustomerState;
pub use discount::{
    BasketLine, BasketTruth, CombinesWith, DiscountPlacement, DiscountRefusal, DiscountRule, DiscountValue,
    DiscountVerdict,
};
pub use error::{ChangeError, EmulatorError};
pub use fault::{Fault, FaultRule};
pub use generated::Drift;
pub use habits::{CashHabits, PolicySays, ShippingHabits};
pub use item::Item;
pub use log::{RequestRecord, Requests};
pub use reviews::{EmulatedReview, ReviewsTruth};
pub use running::{Emulator, RunningStores};
pub use shop::StoreAddress;
pub use widgets::WidgetFault;
pub use zones::{ZoneKind, ZoneQuote, ZoneRules};
