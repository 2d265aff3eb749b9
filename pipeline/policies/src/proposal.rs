//! Proposals of a language model, in their form and within bounds.

use data_model::{PaymentKind, ShippingFactKind, ShippingRegion};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::text;

/// Longest answer that is taken for proposals.
const REPLY_BYTES_MAX: usize = 32 << 10;
/// Most proposals of one text.
const PROPOSALS_MAX: usize = 24;
/// Most of a text that a model is shown.
const SHOWN_BYTES_MAX: usize = 24 << 10;

/// A fact that a model says that a sentence states. It is none before [`crate::checked`] finds it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its subject: `free_shipping`, `fee`, `cod`, `dispatch` or `delivery`; others are never kept.
    pub field: ShippingFactKind,
    /// The order value from which shipping is free, or what it costs: in whole units of the currency.
    pub amount: Option<Number>,
    /// ISO 4217 code of the amount's currency.
    pub currency: Option<String>,
    /// Fewest days.
    pub days_min: Option<u16>,
    /// Most days.
    pub days_max: Option<u16>,
    /// They are working days.
    pub in_working_days: Option<bool>,
    /// Of cash on delivery: whether there is any.
    pub is_available: Option<bool>,
    /// The region that it holds in; all of the store's country when `None`.
    pub region: Option<ShippingRegion>,
    /// The payment for which it holds; any when `None`.
    pub payment: Option<PaymentKind>,
    /// The sentence, as it stands in the text.
    pub sentence: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    facts: Vec<Proposal>,
}

/// An answer that has not the form of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalError;

/// Reads what a model said: an object with a list of proposals, `{"facts": […]}`.
///
/// # Errors
/// [`ProposalError`] for anything else, and for more than 24 proposals or 32 KiB.
pub fn proposals(said: &str) -> Result<Vec<Proposal>, ProposalError> {
    // A list would be taken for members in their order.
    if said.len() > REPLY_BYTES_MAX || !said.trim_start().starts_with('{') {
        return Err(ProposalError);
    }
    let reply: Reply = serde_json::from_str(said).map_err(|_| ProposalError)?;
    let is_bounded = reply.facts.len() <= PROPOSALS_MAX;
    is_bounded.then_some(reply.facts).ok_or(ProposalError)
}

/// The sentences of a policy as [`crate::read`] has them, one a line: what a model is shown. At most the first 24 KiB.
#[must_use]
pub fn sentences(policy: &str) -> String {
    let mut shown = String::new();
    for part in text::lines(policy).into_iter().flat_map(|line| line.parts) {
        if shown.len() + part.len() >= SHOWN_BYTES_MAX {
            break;
        }
        shown.push_str(&part);
        shown.push('\n');
    }
    shown
}
