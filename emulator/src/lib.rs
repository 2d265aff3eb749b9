//! Emulated stores on loopback, for the demo, for tests and for benchmarks.
//!
//! In: a folder of recorded product pages, or a seed and two numbers. Out: stores that answer over HTTP as the storefront
//! platform does to a third party: the catalogue's JSON views, pages with structured data, `meta.json`, robots.txt,
//! sitemaps, policies and pictures, with validators and content codings; the Storefront GraphQL API at
//! `POST /api/{version}/graphql.json` with carts, discounts, delivery and customers; the Ajax cart; and a checkout page
//! that takes no payment. On demand they change from epoch to epoch, or at once, and go wrong in every way that is known
//! of real ones.
//!
//! # Shopping
//!
//! Every store has discounts by its seed: [`RunningStores::discounts`] lists them, [`RunningStores::truth`] and
//! [`RunningStores::verdicts`] what they do to a basket. Carts run out after [`EmulatorConfig::cart_ttl`] by a clock
//! that [`RunningStores::advance_clock`] moves. [`Fault::AnswerLost`] and [`Fault::EdgeFailed`] do what was asked and
//! lose the answer, [`Fault::Delayed`] does it late; [`RunningStores::calls`] counts what was done.
//!
//! With [`EmulatorConfig::varied_shipping`] stores in India send as real ones do: by place, worth and weight, with cash
//! at the door or without, and with policies that say some of it. [`RunningStores::shipping_habits`] has the truth.
//!
//! # Changes at once
//!
//! [`RunningStores::change`] and its companions change prices and stock, and remove products, in all views of a store at once.
//! With [`EmulatorConfig::control`], stores take the same over HTTP, from this machine alone:
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
//! An item is the id of a variant or product, a product's handle, or an id as GraphQL writes it. The answer names the
//! product and the variants that were changed; 404 says that the store has no such item, 422 that the price is none.
//!
//! # Reviews
//!
//! With [`EmulatorConfig::widgets`] four stores of five use a review app, whose tag is on their pages, and the apps
//! answer at addresses of their own ([`RunningStores::widget_url`]): the reviews of a shop and of a product, page by
//! page, and ratings. [`RunningStores::reviews`] has the truth; reviews are added, edited and deleted on demand.
//!
//! Generated products are pure functions of seed, store, place and epoch: nothing is kept of them, a million cost no more
//! memory than a dozen; carts and customers are kept, within bounds. Never: takes a payment, sends a mail, listens on anything but loopback, fetches anything, or has a part in production.

mod address;
mod ajax;
mod answer;
mod ask;
mod barcode;
mod cart;
mod catalogue;
mod change;
mod clock;
mod config;
mod connection;
mod control;
mod customers;
mod desk;
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
