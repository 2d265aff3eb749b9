//! Computes the sums of discounts and the parts of a cart's total.

use super::wire::Code;
use super::{AutomaticDiscount, DiscountKind, Discounts, StoreCode};

/// Amount of a discount that applies to one line or to the cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppliedDiscount {
    pub(super) by: By,
    pub(super) stated: Option<DiscountKind>,
    pub(super) is_shipping: bool,
    pub(super) minor: i64,
}

/// Code or title of a discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    Code(String),
    Title(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineDiscounts {
    pub(super) subtotal_minor: i64,
    pub(super) total_minor: i64,
    pub(super) taken: Vec<AppliedDiscount>,
}

impl LineDiscounts {
    /// Returns the discounts of the line itself. An allocation that the line's total does not include is the line's
    /// share of an order discount. That discount is in `of_cart` and is counted there.
    fn own(&self, of_cart: &[AppliedDiscount]) -> Vec<&AppliedDiscount> {
        let off = self.subtotal_minor - self.total_minor;
        let sum = |taken: &[&AppliedDiscount]| taken.iter().map(|one| one.minor).sum::<i64>();
        let all: Vec<&AppliedDiscount> = self.taken.iter().collect();
        if sum(&all) == off {
            return all;
        }
        let is_share = |taken: &AppliedDiscount| of_cart.iter().any(|other| !other.is_shipping && other.by == taken.by);
        let own: Vec<_> = all.into_iter().filter(|taken| !is_share(taken)).collect();
        if sum(&own) == off { own } else { Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) subtotal_minor: i64,
    pub(super) discounts: Discounts,
    pub(super) delivery_minor: i64,
    pub(super) other_minor: i64,
}

/// Splits a total into its parts. `of_cart` contains the allocations to the cart, and `delivery_minor` the cost of the
/// selected options.
pub(super) fn parts(
    lines: &[LineDiscounts],
    of_cart: &[AppliedDiscount],
    delivery_minor: i64,
    total_minor: i64,
) -> Parts {
    let subtotal_minor = lines.iter().map(|line| line.subtotal_minor).sum();
    let line_minor: i64 = lines.iter().map(|line| line.subtotal_minor - line.total_minor).sum();
    let sum = |is_shipping| {
        let fitting = of_cart.iter().filter(|taken| taken.is_shipping == is_shipping);
        fitting.map(|taken| taken.minor).sum::<i64>()
    };
    let (order_minor, shipping_minor) = (sum(false), sum(true));
    let goods_minor = subtotal_minor - line_minor - order_minor;
    let rest_minor = total_minor - goods_minor;
    // The total includes delivery only after an option was selected. Before that, the cheapest option appears as
    // selected but is not included.
    let is_counted = rest_minor != 0 || delivery_minor == shipping_minor;
    let (delivery_minor, shipping_minor) = if is_counted {
        (delivery_minor, shipping_minor)
    } else {
        (0, 0)
    };
    Parts {
        subtotal_minor,
        discounts: Discounts {
            line_minor,
            order_minor,
            shipping_minor,
        },
        delivery_minor,
        other_minor: rest_minor - delivery_minor + shipping_minor,
    }
}

/// Returns the sum of the discounts of each code.
pub(super) fn by_code(codes: Vec<Code>, lines: &[LineDiscounts], of_cart: &[AppliedDiscount]) -> Vec<StoreCode> {
    let all = || lines.iter().flat_map(|line| line.own(of_cart)).chain(of_cart);
    let told = |Code { code, applicable }: Code| {
        let is_its = |taken: &&AppliedDiscount| matches!(&taken.by, By::Code(by) if is_same_code(by, &code));
        let sum = |shipping_only: bool| {
            let fitting = all().filter(is_its).filter(|taken| taken.is_shipping || !shipping_only);
            fitting.map(|taken| taken.minor).sum()
        };
        let its = || all().filter(is_its);
        let mut stated = its().filter(|taken| !taken.is_shipping).map(|taken| taken.stated);
        let first = stated.next().flatten();
        StoreCode {
            applicable,
            is_for_shipping: its().next().is_some() && its().all(|taken| taken.is_shipping),
            stated: first.filter(|one| stated.all(|other| other == Some(*one))),
            discount_minor: sum(false),
            shipping_minor: sum(true),
            code,
        }
    };
    codes.into_iter().map(told).collect()
}

/// Returns the discounts that need no code, each title once, in the order of the input.
pub(super) fn automatic(lines: &[LineDiscounts], of_cart: &[AppliedDiscount]) -> Vec<AutomaticDiscount> {
    let mut found: Vec<AutomaticDiscount> = Vec::new();
    for taken in lines.iter().flat_map(|line| line.own(of_cart)).chain(of_cart) {
        let By::Title(title) = &taken.by else { continue };
        match found.iter_mut().find(|one| one.title == *title) {
            Some(one) => one.discount_minor += taken.minor,
            None => found.push(AutomaticDiscount {
                title: title.clone(),
                discount_minor: taken.minor,
            }),
        }
    }
    found
}

/// True if the platform treats two texts as the same code. Case and surrounding spaces are ignored.
pub(crate) fn is_same_code(one: &str, other: &str) -> bool {
    let folded = |text: &str| text.trim().to_lowercase();
    folded(one) == folded(other)
}
