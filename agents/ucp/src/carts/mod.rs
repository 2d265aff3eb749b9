//! Carts and checkouts in the protocol's format.

mod change;
mod discounts;
mod shape;

use serde::Deserialize;
use serde_json::Value;

pub(crate) use self::change::{cancel, create, read, replace};
pub(crate) use self::shape::Answer;
use crate::failure::{Failure, RequestBody};
use crate::ids::Ident;
use crate::market::{Item, ShownPrice};
use crate::members::members;
use crate::message::Message;

const LINES_MAX: usize = 100;
const QUANTITY_MAX: u32 = 999;

#[derive(Debug, Deserialize)]
struct ItemBody {
    id: String,
}

#[derive(Debug, Deserialize)]
struct LineBody {
    item: ItemBody,
    quantity: u32,
    #[serde(flatten)]
    shown: ShownPrice,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Buyer {
    email: Option<String>,
}

/// Body of a request that creates or replaces a cart or checkout.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CartBody {
    line_items: Vec<LineBody>,
    buyer: Buyer,
    /// Id of the cart for the checkout.
    cart_id: Option<String>,
    discounts: discounts::DiscountsBody,
    /// Whole body as sent. Fields that are not read still distinguish two requests with one idempotency key.
    #[serde(skip)]
    sent: Value,
}

impl CartBody {
    pub(crate) fn read(sent: RequestBody) -> Result<Self, Failure> {
        let sent = sent?;
        let read: Self = members(&sent)?;
        read.discounts.check()?;
        Ok(Self { sent, ..read })
    }

    /// Creates a body that checks out an existing cart again. `sent` is the original request.
    pub(crate) fn of_cart(id: &str, sent: Value) -> Self {
        Self {
            cart_id: Some(id.to_owned()),
            sent,
            ..Self::default()
        }
    }

    /// Returns the requested quantities. Each variant occurs only once.
    fn items(&self) -> Result<Vec<Item>, Failure> {
        if self.line_items.len() > LINES_MAX {
            return Err(Failure::bad(
                "invalid",
                format!("line_items may contain at most {LINES_MAX} items."),
            ));
        }
        let mut items: Vec<Item> = Vec::with_capacity(self.line_items.len());
        for line in &self.line_items {
            let id = &line.item.id;
            let ident: Ident = id.parse().map_err(|_| unknown(id))?;
            let shown = line.shown.clone();
            let at = items.iter().position(|known| known.ident == ident);
            let quantity = at.map_or(0, |at| items[at].quantity).saturating_add(line.quantity);
            if line.quantity == 0 {
                return Err(Failure::bad("invalid", "line_items: quantity must be at least 1."));
            }
            if quantity > QUANTITY_MAX {
                let content = format!(
                    "{id} is not available in quantity {quantity}: a cart may contain at most {QUANTITY_MAX} of it."
                );
                return Err(Failure::Outcome(vec![Message::recoverable(
                    "item_unavailable",
                    content,
                )]));
            }
            let item = Item { ident, quantity, shown };
            match at {
                Some(at) => items[at] = item,
                None => items.push(item),
            }
        }
        Ok(items)
    }
}

fn unknown(id: &str) -> Failure {
    let content = format!("No product or variant has the id {id}.");
    Failure::Outcome(vec![Message::unrecoverable("not_found", content)])
}
