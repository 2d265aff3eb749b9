//! Discount codes of a cart (the extension `dev.ucp.shopping.discount`). Codes in a request replace those in the cart.
//! The response lists the codes that apply, and the reasons why other codes do not.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::market::Market;
use crate::message::Message;
use crate::wire::{Cart, Group, Warning};

const CODES_MAX: usize = 20;
const CODE_CHARS_MAX: usize = 255;
/// Prefix of a store's warnings about discounts.
const OF_DISCOUNTS: &str = "discount_";

/// Discount codes in a request. Without `codes`, the codes in the cart stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiscountsBody {
    codes: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Discounts {
    codes: Vec<String>,
    applied: Vec<AppliedDiscount>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct AppliedDiscount {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    title: String,
    amount: i64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    automatic: bool,
}

impl DiscountsBody {
    /// Checks the codes before anything is changed.
    ///
    /// # Errors
    /// Fails if there are too many codes, or a code is empty or too long.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let codes = self.codes.as_deref().unwrap_or_default();
        let is_code = |code: &String| {
            let code = code.trim();
            !code.is_empty() && code.chars().count() <= CODE_CHARS_MAX && !code.chars().any(char::is_control)
        };
        if codes.len() > CODES_MAX || !codes.iter().all(is_code) {
            let content = format!(
                "discounts.codes may contain at most {CODES_MAX} codes, each of 1 to {CODE_CHARS_MAX} characters."
            );
            return Err(Failure::bad("invalid", content));
        }
        Ok(())
    }

    /// Replaces the codes of the cart with this id, if the request has codes.
    pub(super) async fn set_of(&self, market: &Market<'_>, id: &str) -> Result<(), Failure> {
        if self.codes.is_some() {
            self.set(market, market.cart(id).await?).await?;
        }
        Ok(())
    }

    /// Replaces the codes of a cart with those of the request.
    pub(super) async fn set(&self, market: &Market<'_>, mut cart: Cart) -> Result<Cart, Failure> {
        let Some(wanted) = &self.codes else { return Ok(cart) };
        let groups = cart.groups.iter().flat_map(|group| &group.discount_codes);
        let there: Vec<_> = groups.map(|code| code.code.clone()).collect();
        let is_among = |codes: &[String], code: &str| codes.iter().any(|one| is_same(one, code));
        for code in there.iter().filter(|code| !is_among(wanted, code)) {
            cart = market.remove_code(&cart.cart_id, code).await?;
        }
        for code in wanted.iter().filter(|code| !is_among(&there, code)) {
            cart = market.add_code(&cart.cart_id, code.trim()).await?;
        }
        Ok(cart)
    }
}

/// True if two codes are equal. The case does not matter, as at stores.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Returns the discounts of a brand's group, or `None` if it has none.
pub(super) fn told(group: &Group) -> Option<Discounts> {
    let of_codes = group
        .discount_codes
        .iter()
        .filter(|code| code.applicable)
        .map(|code| AppliedDiscount {
            code: Some(code.code.clone()),
            title: code.code.clone(),
            amount: code.discount_minor,
            automatic: false,
        });
    let automatic = group.automatic_discounts.iter().map(|discount| AppliedDiscount {
        code: None,
        title: discount.title.clone(),
        amount: discount.discount_minor,
        automatic: true,
    });
    let discounts = Discounts {
        codes: group.discount_codes.iter().map(|code| code.code.clone()).collect(),
        applied: of_codes.chain(automatic).collect(),
    };
    (!discounts.codes.is_empty() || !discounts.applied.is_empty()).then_some(discounts)
}

/// Returns a message for each code that does not apply, with the store's reason if stated.
pub(super) fn refusals(group: &Group) -> Vec<Message> {
    let refused = group
        .discount_codes
        .iter()
        .enumerate()
        .filter(|(_, code)| !code.applicable);
    let messages = refused.map(|(at, code)| {
        let refusal = code.refusal.as_ref();
        let reason = refusal.and_then(|refusal| refusal.store_code.as_deref().zip(refusal.detail.as_ref()));
        let message = match reason {
            Some((store_code, detail)) => Message::warning(rejection(store_code), detail.clone()),
            None => Message::warning(
                "discount_code_invalid",
                format!("The store does not accept the code {}.", code.code),
            ),
        };
        message.about(format!("$.discounts.codes[{at}]"))
    });
    messages.collect()
}

/// True for a store's warning that explains why a code does not apply.
pub(super) fn is_reason(warning: &Warning) -> bool {
    warning.code.starts_with(OF_DISCOUNTS)
}

/// Returns the protocol's name for a store's reason, or else the store's own name (Storefront API, `CartWarningCode`).
fn rejection(reason: &str) -> &str {
    match reason {
        "discount_not_found" => "discount_code_invalid",
        "discount_currently_inactive" => "discount_code_expired",
        "discount_code_not_honoured" => "discount_code_combination_disallowed",
        "discount_eligible_customer_missing" => "discount_code_user_not_logged_in",
        "discount_customer_not_eligible" | "discount_customer_usage_limit_reached" => "discount_code_user_ineligible",
        other => other,
    }
}
