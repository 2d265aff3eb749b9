//! Pure conversion of a cart of the REST API to a cart or checkout of the protocol.

use std::collections::BTreeMap;

use serde::Serialize;

use super::discounts::{self, Discounts};
use crate::Version;
use crate::ids::Ident;
use crate::message::{Capability, Message, Meta};
use crate::wire::{Cart, Group, Line, PriceChange, Problem};

/// Attribute with the attribution token in stores' carts, and the token's name in responses.
const TOKEN: &str = "haat_attribution";

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Total {
    #[serde(rename = "type")]
    kind: &'static str,
    amount: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_text: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Item {
    id: String,
    title: String,
    price: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct LineItem {
    id: String,
    item: Item,
    quantity: u32,
    totals: Vec<Total>,
    /// `true` if the store's price equals the price that the buyer was shown. The protocol has no field for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    price_held: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_changed: Option<PriceChange>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Link {
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
    title: String,
}

/// Cart or checkout. Only a checkout has a status and links.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CartAnswer {
    ucp: Meta,
    id: String,
    line_items: Vec<LineItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    currency: String,
    totals: Vec<Total>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discounts: Option<Discounts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<Link>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continue_url: Option<String>,
    expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    attribution: Option<BTreeMap<&'static str, String>>,
}

/// Kind of document in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Cart,
    /// Ended cart in its last state.
    EndedCart,
    /// Checkout. A person continues at `url` or, without it, at the cart's own URL. `token` names the service that sent
    /// the buyer.
    Checkout {
        url: Option<String>,
        token: Option<String>,
    },
    Canceled,
}

impl Answer {
    /// Checkout in its current state.
    pub(crate) const NOW: Self = Self::Checkout { url: None, token: None };

    fn is_over(&self) -> bool {
        matches!(self, Self::EndedCart | Self::Canceled)
    }

    pub(crate) fn capability(&self) -> Capability {
        match self {
            Self::Cart | Self::EndedCart => Capability::Cart,
            Self::Checkout { .. } | Self::Canceled => Capability::Checkout,
        }
    }
}

fn total(kind: &'static str, amount: i64) -> Total {
    Total {
        kind,
        amount,
        display_text: None,
    }
}

/// Creates an entry of the totals, or none for an amount of zero.
fn entry(kind: &'static str, amount: i64, display_text: Option<&'static str>) -> Option<Total> {
    (amount != 0).then_some(Total {
        kind,
        amount,
        display_text,
    })
}

fn totals(group: &Group) -> Vec<Total> {
    let of_lines: i64 = group
        .lines
        .iter()
        .filter(|line| line.qty > 0)
        .map(|line| line.discount_minor)
        .sum();
    let parts = [
        Some(total("subtotal", group.subtotal_minor)),
        entry("items_discount", -of_lines, None),
        entry("discount", of_lines - group.discount_minor, None),
        entry("fulfillment", group.delivery_minor, Some("Delivery")),
        // The store includes this amount without naming it.
        entry(
            "other",
            group.other_minor,
            Some("Other amounts that the store adds or subtracts"),
        ),
        Some(total("total", group.total_minor)),
    ];
    parts.into_iter().flatten().collect()
}

fn line(line: &Line) -> LineItem {
    let title = match &line.variant_title {
        Some(variant) => format!("{} – {variant}", line.title),
        None => line.title.clone(),
    };
    let parts = [
        Some(total("subtotal", line.line_total_minor)),
        entry("items_discount", -line.discount_minor, None),
        Some(total("total", line.line_total_minor - line.discount_minor)),
    ];
    LineItem {
        id: line.line_id.clone(),
        item: Item {
            id: Ident::variant(&line.product_id, &line.variant_id).to_string(),
            title,
            price: line.unit_price_minor,
            image_url: line.image.clone(),
        },
        quantity: line.qty,
        totals: parts.into_iter().flatten().collect(),
        price_held: line.price_held,
        price_changed: line.price_changed.clone(),
    }
}

/// Creates the message to an agent about something that a store did not do.
pub(crate) fn trouble(problem: &Problem) -> Message {
    let code = match problem.code.as_str() {
        "product_not_found" => "item_unavailable",
        code => code,
    };
    Message::recoverable(code, problem.detail.clone())
}

fn messages(cart: &Cart, group: &Group, answer: &Answer) -> Vec<Message> {
    let mut messages: Vec<_> = cart.problems.iter().map(trouble).collect();
    let mut shown = 0;
    for line in &group.lines {
        let at = format!("$.line_items[{shown}]");
        if let Some(change) = line.price_changed.as_ref().filter(|_| line.qty > 0) {
            let (title, currency) = (&line.title, &group.currency);
            let PriceChange {
                shown_minor,
                shown_currency,
                now_minor,
            } = change;
            let content = format!(
                "{title} was shown for {shown_minor} {shown_currency}; its store now asks {now_minor} {currency}, in \
                 minor units."
            );
            messages.push(Message::warning("price_not_held", content).about(at.clone()));
        }
        shown += usize::from(line.qty > 0);
        if line.qty == 0 {
            let content = format!("{} is sold out.", line.title);
            messages.push(Message::recoverable("out_of_stock", content));
        } else if line.qty < line.requested_qty {
            let content = format!(
                "The store has only {} of the requested {} of {}.",
                line.qty, line.requested_qty, line.title
            );
            messages.push(Message::warning("quantity_adjusted", content).about(at));
        } else if !line.available {
            let content = format!("{} has sold out since it was added.", line.title);
            messages.push(Message::recoverable("out_of_stock", content).about(at));
        }
    }
    messages.extend(discounts::refusals(group));
    // Rejected codes are listed with their reasons elsewhere.
    let of_codes = group.discount_codes.iter().any(|code| !code.applicable);
    for warning in group
        .warnings
        .iter()
        .filter(|warning| !(of_codes && discounts::is_reason(warning)))
    {
        let message = Message::warning(&warning.code, warning.detail.clone());
        let mut shown = group.lines.iter().filter(|line| line.qty > 0);
        let at = shown.position(|line| warning.line_id.as_ref() == Some(&line.line_id));
        messages.push(match at {
            Some(at) => message.about(format!("$.line_items[{at}]")),
            None => message,
        });
    }
    // An ended cart is returned in its last state, without a query to the store.
    if !group.verified && !answer.is_over() {
        let content = format!("{} did not answer; the cart is shown as last known.", group.brand);
        messages.push(Message::warning("not_verified", content));
    }
    if matches!(answer, Answer::Checkout { .. }) && can_be_paid(cart, group) {
        let content = format!("A person pays at the checkout of {}: open continue_url.", group.brand);
        messages.push(Message::for_buyer("payment_at_seller", content));
    }
    messages
}

/// True if the group has a line that its store still sells, and the store's checkout can be opened.
fn can_be_paid(cart: &Cart, group: &Group) -> bool {
    let is_closed = |problem: &Problem| matches!(problem.reason.as_deref(), Some("checkout_closed" | "store_closed"));
    let is_sold = |line: &Line| line.qty > 0 && (line.available || line.qty < line.requested_qty);
    group.lines.iter().any(is_sold) && !cart.problems.iter().any(is_closed)
}

/// Converts a cart with items of one brand. Returns `None` if the cart has no line of that brand.
pub(crate) fn written(cart: &Cart, version: Version, answer: Answer) -> Option<CartAnswer> {
    let [group] = cart.groups.as_slice() else { return None };
    let messages = messages(cart, group, &answer);
    let capability = answer.capability();
    let is_over = answer.is_over();
    let (status, own, token) = match answer {
        Answer::Cart | Answer::EndedCart => (None, None, None),
        Answer::Checkout { url, token } if can_be_paid(cart, group) => (Some("requires_escalation"), url, token),
        Answer::Checkout { url, token } => (Some("incomplete"), url, token),
        Answer::Canceled => (Some("canceled"), None, None),
    };
    let continue_url = own.unwrap_or_else(|| group.checkout_url.clone());
    let seller = url::Url::parse(&group.checkout_url)
        .ok()
        .and_then(|url| url.join("/").ok());
    let links = seller.map(|url| Link {
        kind: "seller",
        url: url.to_string(),
        title: group.brand.clone(),
    });
    Some(CartAnswer {
        ucp: Meta::of(version, capability),
        id: cart.cart_id.clone(),
        line_items: group.lines.iter().filter(|line| line.qty > 0).map(self::line).collect(),
        status,
        currency: group.currency.clone(),
        totals: totals(group),
        discounts: discounts::told(group),
        messages,
        links: status.map(|_| links.into_iter().collect()),
        continue_url: (!is_over).then_some(continue_url),
        expires_at: cart.expires_at.clone(),
        attribution: token.map(|token| BTreeMap::from([(TOKEN, token)])),
    })
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
