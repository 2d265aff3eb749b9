//! Finds the reason why a store does not apply a code.

use crate::rules::store_cart::{StoreCart, StoreWarning, is_same_code};
use crate::schema::carts::{CodeRefusal, RefusalReason};

/// Prefix of the codes of warnings about discounts.
const OF_DISCOUNTS: &str = "DISCOUNT_";

/// Returns the reason for the refusal of a code, or `None` if the code applies. A warning that names no code applies to
/// all codes that no warning names, if all such warnings agree.
pub(crate) fn refusal(cart: &StoreCart, code: &str) -> Option<CodeRefusal> {
    let is_refused = |one: &crate::rules::store_cart::StoreCode| !one.applicable && is_same_code(&one.code, code);
    cart.codes.iter().find(|one| is_refused(one))?;
    let about = || {
        cart.warnings
            .iter()
            .filter(|warning| warning.code.starts_with(OF_DISCOUNTS))
    };
    let named = about().find(|warning| warning.names(code));
    let is_nameless = |warning: &&StoreWarning| !cart.codes.iter().any(|one| warning.names(&one.code));
    let mut nameless = about().filter(is_nameless);
    let first = nameless
        .next()
        .filter(|first| nameless.all(|other| other.code == first.code));
    let Some(stated) = named.or(first) else {
        return Some(CodeRefusal {
            reason: RefusalReason::NotStated,
            store_code: None,
            detail: None,
        });
    };
    Some(CodeRefusal {
        reason: reason(&stated.code),
        store_code: Some(stated.code.to_lowercase()),
        detail: Some(stated.message.clone()),
    })
}

/// Maps the platform's reason to this service's reason (Storefront API, `CartWarningCode`).
fn reason(stated: &str) -> RefusalReason {
    match stated {
        "DISCOUNT_NOT_FOUND" => RefusalReason::UnknownCode,
        "DISCOUNT_CURRENTLY_INACTIVE" => RefusalReason::NotActive,
        "DISCOUNT_NO_ENTITLED_LINE_ITEMS" => RefusalReason::NotForTheseItems,
        "DISCOUNT_NO_ENTITLED_SHIPPING_LINES" => RefusalReason::NotForThisDelivery,
        "DISCOUNT_PURCHASE_NOT_IN_RANGE" => RefusalReason::SubtotalOutOfRange,
        "DISCOUNT_QUANTITY_NOT_IN_RANGE" => RefusalReason::QuantityOutOfRange,
        "DISCOUNT_USAGE_LIMIT_REACHED" => RefusalReason::UsedUp,
        "DISCOUNT_ELIGIBLE_CUSTOMER_MISSING" => RefusalReason::SignInNeeded,
        "DISCOUNT_CUSTOMER_NOT_ELIGIBLE" | "DISCOUNT_CUSTOMER_USAGE_LIMIT_REACHED" => RefusalReason::NotForThisCustomer,
        "DISCOUNT_CODE_NOT_HONOURED" => RefusalReason::NotCombinable,
        _ => RefusalReason::Other,
    }
}
