//! Current cost of a cart, and notices to its buyer.

use super::CartService;
use super::delivery::{Rate, rates};
use crate::cart::{Cart, Line, Notice, Offer};
use crate::discount::{AppliedDiscounts, Basket, Item, apply};
use crate::generated::dice::{fold, fold_bytes};

/// Cart with computed prices.
#[derive(Debug)]
pub(crate) struct Bill {
    /// Lines with prices, the newest first.
    pub(crate) lines: Vec<BillLine>,
    pub(crate) applied: AppliedDiscounts,
    pub(crate) subtotal_minor: u64,
    /// Total weight of all lines in grams.
    pub(crate) grams: u64,
    /// Total price after all discounts, with the selected delivery.
    pub(crate) total_minor: u64,
    /// Delivery options; empty if no address is selected or the store does not deliver there.
    pub(crate) rates: Vec<Rate>,
    pub(crate) rate: Option<usize>,
}

/// Cart line with computed prices.
#[derive(Debug)]
pub(crate) struct BillLine {
    pub(crate) line: Line,
    pub(crate) offer: Offer,
    /// Price of the line after product discounts.
    pub(crate) total_minor: u64,
}

impl BillLine {
    pub(crate) fn subtotal_minor(&self) -> u64 {
        self.offer.unit_minor.saturating_mul(self.line.quantity)
    }
}

impl Bill {
    pub(crate) fn quantity(&self) -> u64 {
        self.lines.iter().map(|line| line.line.quantity).sum()
    }

    pub(crate) fn selected_rate(&self) -> Option<&Rate> {
        self.rates.get(self.rate?)
    }

    /// Returns notices about sold-out items and codes that do not apply. Every change repeats the notices as long as
    /// they apply.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let sold_out = self.lines.iter().filter(|line| line.line.quantity == 0);
        let sold_out = sold_out.map(|line| Notice {
            code: "MERCHANDISE_OUT_OF_STOCK",
            message: format!("The product '{}' is already sold out.", line.offer.name()),
            line: Some(line.line.id),
        });
        let refused = self.applied.codes.iter();
        let refused = refused.filter_map(|verdict| Some((verdict, verdict.refusal?)));
        let mut refused: Vec<Notice> = refused
            .map(|(verdict, refusal)| Notice {
                code: refusal.warning(),
                message: refusal.message(&verdict.code),
                line: None,
            })
            .collect();
        // As recorded, codes that are not honoured come after codes that can never apply.
        refused.sort_by_key(|notice| notice.code == "DISCOUNT_CODE_NOT_HONOURED");
        sold_out.chain(refused).collect()
    }
}

/// Computes the cost of a cart. Lines whose variant no longer exists are left out.
pub(super) fn bill(service: &CartService<'_>, cart: &Cart) -> Bill {
    let rules = service.rules();
    let lines: Vec<(Line, Offer)> = cart
        .lines
        .iter()
        .rev()
        .filter_map(|line| {
            let mut offer = service.offers.find(line.variant)?;
            if line.is_gift() {
                offer.unit_minor = 0;
            }
            Some((line.clone(), offer))
        })
        .collect();
    let items: Vec<Item> = lines
        .iter()
        .map(|(line, offer)| Item {
            product: offer.product.id,
            quantity: line.quantity,
            unit_minor: offer.unit_minor,
            is_delivered: offer.is_delivered(),
        })
        .collect();
    let basket = |delivery_minor: Option<u64>| Basket {
        items: &items,
        delivery_minor,
        is_customer: cart.buyer.customer.is_some(),
        now: service.now,
    };
    let goods = apply(rules, &cart.codes, &basket(None));
    let is_delivered = items.iter().any(|item| item.is_delivered && item.quantity > 0);
    let of_line = |(line, offer): &(Line, Offer)| offer.grams().saturating_mul(line.quantity);
    let grams = lines.iter().map(of_line).sum();
    let rates = match cart.selected_address() {
        Some(address) if is_delivered => rates(service.shop, goods.goods_minor, grams, &address.place),
        _ => Vec::new(),
    };
    let chosen = cart.delivery.as_deref();
    let chosen = chosen.and_then(|handle| rates.iter().position(|rate| rate.handle == handle));
    let rate = chosen.or((!rates.is_empty()).then_some(0));
    let cost = rate.and_then(|rate| rates.get(rate)).map(|rate| rate.cost_minor);
    let applied = match cost {
        Some(cost) => apply(rules, &cart.codes, &basket(Some(cost))),
        None => goods,
    };
    let lines = lines.into_iter().zip(&applied.item_totals_minor);
    Bill {
        lines: lines
            .map(|((line, offer), total_minor)| BillLine {
                line,
                offer,
                total_minor: *total_minor,
            })
            .collect(),
        subtotal_minor: applied.subtotal_minor(),
        grams,
        total_minor: applied.goods_minor.saturating_add(applied.delivery_minor),
        applied,
        rates,
        rate,
    }
}

/// Returns the id of the only delivery group of a cart, without the part after `?`.
pub(crate) fn group_id(cart: &Cart) -> String {
    let mark = fold_bytes(cart.token.as_bytes());
    format!("{:016x}{:016x}", fold(&[mark, 1]), fold(&[mark, 2]))
}
