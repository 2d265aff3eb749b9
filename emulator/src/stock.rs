use crate::catalogue::Catalogue;
use crate::generated::dice::fold;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stock {
    /// Number of units in stock, never below 0, however many were sold on order.
    pub(crate) quantity: u32,
    pub(crate) available: bool,
    /// True if the variant can be bought without stock, because the merchant continues to sell it.
    pub(crate) on_order: bool,
}

/// One in this many available variants is sold on order.
const ON_ORDER_EVERY: u64 = 40;

/// Maximum number of units of a variant, unless another number is set on demand.
const PIECES_MAX: u64 = 60;

/// Returns the stock of a variant whose record states its availability. The number depends on the variant and on the
/// number of changes of its product. A number that was set on demand has priority.
pub(crate) fn stock(
    catalogue: &Catalogue,
    place: u64,
    epoch: u64,
    product: u64,
    variant: u64,
    is_available: bool,
) -> Stock {
    let of = |quantity, available, on_order| Stock {
        quantity,
        available,
        on_order,
    };
    if let Some(set) = catalogue.changes.stock(product, variant) {
        let quantity = u32::try_from(set.clamp(0, i64::from(i32::MAX))).unwrap_or(0);
        return of(quantity, quantity > 0, false);
    }
    if !is_available {
        return of(0, false, false);
    }
    if fold(&[variant, 0x4f4e_4f52]).is_multiple_of(ON_ORDER_EVERY) {
        return of(0, true, true);
    }
    let drawn = fold(&[variant, 0x5049_4543, catalogue.goods_fingerprint(place, epoch)]);
    of(1 + (drawn % PIECES_MAX) as u32, true, false)
}
