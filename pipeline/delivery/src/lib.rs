//! Infers a store's delivery to all pincodes from its answers for a few of them. The crate does no I/O and reads no
//! clock.
//!
//! Input: the store's answers so far ([`data_model::DeliveryProbe`]), the carts that can be used for questions
//! ([`Carts`]), and the directory of pincodes. Output: the next questions ([`next_questions`]), and the current
//! knowledge ([`infer`]): answers for single pincodes, and zones of areas with the same answer.
//!
//! Every result is based on the store's answers. Confidence is high for a pincode that was queried, and for an area in
//! which two pincodes got the same answer. Confidence is low for an area that is only similar to queried areas. If
//! similar areas got different answers, areas that were not queried stay unknown. A pincode with a rate is served. A
//! pincode without a rate for either of two carts is not served, if the store quotes rates for other pincodes.

mod carts;
mod evidence;
mod infer;
mod plan;
mod tiers;

pub use carts::{Cart, CartVariant, Carts};
pub use infer::infer;
pub use plan::{PROBES_MAX, Question, next_questions};
