//! Parses and limits a language model's proposals.

use data_model::{PaymentKind, ShippingFactKind, ShippingRegion};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::text;

const REPLY_BYTES_MAX: usize = 32 << 10;
/// Maximum number of proposals for one text.
const PROPOSALS_MAX: usize = 24;
/// Maximum number of bytes of a text for a model.
const SHOWN_BYTES_MAX: usize = 24 << 10;

/// A fact that a sentence states according to a model. [`crate::checked`] must confirm it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Subject of the fact: `free_shipping`, `fee`, `cod`, `dispatch` or `delivery`. Others are never kept.
    pub field: ShippingFactKind,
    /// Order value from which shipping is free, or the fee, in whole units of the currency.
    pub amount: Option<Number>,
    /// ISO 4217 code of the amount's currency.
    pub currency: Option<String>,
    /// Minimum number of days.
    pub days_min: Option<u16>,
    /// Maximum number of days.
    pub days_max: Option<u16>,
    /// True if the days are working days.
    pub in_working_days: Option<bool>,
    /// Availability of cash on delivery.
    pub is_available: Option<bool>,
    /// Region to which the fact applies. `None` means the whole country of the store.
    pub region: Option<ShippingRegion>,
    /// Payment method to which the fact applies. `None` means any.
    pub payment: Option<PaymentKind>,
    /// Source sentence, verbatim.
    pub sentence: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    facts: Vec<Proposal>,
}

/// Error for an answer that does not have the format of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProposalError;

/// Parses a model's answer: an object with a list of proposals, `{"facts": […]}`.
///
/// # Errors
/// [`ProposalError`] for any other text, and for more than 24 proposals or 32 KiB.
pub fn proposals(said: &str) -> Result<Vec<Proposal>, ProposalError> {
    // Serde would accept a list as the object's fields in order.
    if said.len() > REPLY_BYTES_MAX || !said.trim_start().starts_with('{') {
        return Err(ProposalError);
    }
    let reply: Reply = serde_json::from_str(said).map_err(|_| ProposalError)?;
    let is_bounded = reply.facts.len() <= PROPOSALS_MAX;
    is_bounded.then_some(reply.facts).ok_or(ProposalError)
}

/// Returns the sentences of a policy as [`crate::read`] splits them, one per line, for a model. At most the first 24
/// KiB of the policy are used.
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
