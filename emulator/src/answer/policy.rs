use super::announcement;
use super::product_html::page;
use crate::generated::dice::Dice;
use crate::reply::Reply;
use crate::shop::Shop;
use crate::terms::{DrawnTerms, NO_SHIPPING_POLICY, drawn_terms, shipping_dice};

#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) handle: &'static str,
    pub(crate) title: &'static str,
    /// Text of the policy as HTML.
    pub(crate) body: String,
}

/// Handles and titles of the policies that a store can have.
pub(crate) const POLICIES: &[(&str, &str)] = &[
    ("shipping-policy", "Shipping policy"),
    ("refund-policy", "Refund policy"),
    ("privacy-policy", "Privacy policy"),
    ("terms-of-service", "Terms of service"),
];

/// Returns a policy of the store, or `None` if the merchant has not written it.
pub(crate) fn policy(shop: &Shop, handle: &str) -> Option<Policy> {
    let (handle, title) = *POLICIES.iter().find(|(known, _)| *known == handle)?;
    let name = &shop.address.name;
    let body = match handle {
        "shipping-policy" => shipping(shop)?,
        "refund-policy" => refund(shop)?,
        "privacy-policy" => format!(
            "<p>{name} keeps what an order needs: name, address and contact. It is not sold to anyone.</p>\n\
             <h2>Your rights</h2>\n<p>Write to us, and we tell what we hold and delete it.</p>"
        ),
        _ => format!(
            "<p>By ordering from {name} you accept these terms. Prices include taxes unless said otherwise.</p>"
        ),
    };
    Some(Policy { handle, title, body })
}

pub(crate) fn page_of(shop: &Shop, handle: &str) -> Option<Reply> {
    let Policy { title, body, .. } = policy(shop, handle)?;
    let main = format!("<h1>{title}</h1>\n<div class=\"shopify-policy__body\"><div class=\"rte\">{body}</div></div>");
    Some(Reply::html(200, page(shop, title, "", &main)).validated())
}

/// Returns the refund policy. A quarter of stores take nothing back and have none.
fn refund(shop: &Shop) -> Option<String> {
    let persona = shop.catalogue.persona();
    let mut dice = Dice::of(&[persona.seed, 0x5245_4655, u64::from(persona.index)]);
    if dice.chance(250) {
        return None;
    }
    let days = [7, 10, 14, 30][dice.below(4) as usize];
    Some(format!(
        "<p>Unused goods can be returned within {days} days of delivery. The refund reaches the original payment within \
         {} working days of the return.</p>",
        dice.between(5, 10)
    ))
}

/// Returns the store's shipping policy, which a third of stores lack. The wording varies as among merchants:
/// thresholds, fees, cash on delivery, ranges of days, contradictions, and unfilled templates.
fn shipping(shop: &Shop) -> Option<String> {
    if let Some(habits) = &shop.habits {
        return habits.policy().map(|body| body + &announcement::in_policy(shop));
    }
    let persona = shop.catalogue.persona();
    let mut dice = shipping_dice(persona);
    if dice.chance(NO_SHIPPING_POLICY) {
        return None;
    }
    let DrawnTerms {
        free_above: free,
        fee,
        days,
    } = drawn_terms(&mut dice);
    let (low, high) = (days.fewest, days.most);
    let cod = dice.between(1, 4) * 25;
    let roll = if persona.coin.code == "INR" { dice.below(8) } else { 8 };
    let body = match roll {
        8 => format!("<p>Orders ship within 1-2 business days. Free standard shipping on orders over {} {free}. Delivery takes {low}-{high} business days.</p>", persona.coin.code),
        0 => format!("<p>Free Shipping on prepaid orders above Rs. {free} within India.</p><p>COD is available on orders above Rs. 299. COD is not available on orders above Rs. 2000.</p><p>Orders are processed within 24 hours. Delivery takes {low}–{high} working days.</p>"),
        1 => format!("<ul><li>Dispatch 1–3 business days</li><li>Metro cities {low}–{high}, Tier-2 &amp; major towns 4–8, Remote / NE states / J&amp;K 6–11 business days</li><li>Partial COD: Pay now 50 % of order value + ₹{fee} COD fee</li></ul>"),
        2 => format!("<p>Shipping is FREE across India. A fee of Rs {cod} is charged for Cash-On-Delivery orders as a cash handling fee. Orders typically take {low}-{high} days.</p>"),
        3 => format!("<p>Orders under INR {free} carry a nominal shipping fee of Rs.{fee}/-. COD orders include a handling fee of Rs. {cod}. {low}-{high} working days.</p>"),
        4 => "<p>Free shipping on orders above [X amount]. [X business days – usually 1–3].</p>".to_owned(),
        5 => format!("<p>Your order is dispatched within 25-30 business days, then {low}-{high} business days. COD is not available due to the customized nature of our products.</p>"),
        6 => "<p>Shipping charges are mentioned at the time of checkout. COD option is available for all orders subject to promotions and offers.</p>".to_owned(),
        _ => format!("<p>We offer free prepaid shipping throughout India. We dispatch all orders within 2 to 3 business days. Orders are processed within 1-2 business days. Metro {low} to {high} days, non-metro 5 to 12.</p>"),
    };
    Some(body + &announcement::in_policy(shop))
}
