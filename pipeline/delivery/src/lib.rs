//! A store's delivery everywhere, by what it answered for a few pincodes. Pure: no I/O, no clock.
//!
//! In: what the store answered so far ([`data_model::DeliveryProbe`]), the carts that it can be asked with ([`Carts`]), and the
//! directory of pincodes. Out: what to ask next ([`next_questions`]), and what is known by now ([`infer`]): answers for single pincodes,
//! and zones of areas that were answered alike.
//!
//! It never says more than the answers show. A pincode that was asked for, and an area that was answered alike for two
//! of its pincodes, are known with high confidence; an area like those that were asked for, with low; where areas that
//! are alike were answered differently, those that were not asked for are not known. A pincode for which the store
//! quotes a rate is served; one for which it quotes none with either of two carts is not, as long as it quotes rates
//! for others.

mod carts;
mod evidence;
mod infer;
mod plan;
mod tiers;

pub use carts::{Cart, CartVariant, Carts};
pub use infer::infer;
pub use plan::{PROBES_MAX, Question, next_questions};
