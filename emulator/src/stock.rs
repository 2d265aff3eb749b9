use crate::catalogue::Catalogue;
use crate::generated::dice::fold;

/// The stock of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stock {
    /// Pieces; never below 0 here, however many were sold on order.
    pub(crate) quantity: u32,
    /// True where it can be bought.
    pub(crate) available: bool,
    /// True where it can be bought although nothing is left: the merchant goes on selling.
    pub(crate) on_order: bool,
}

/// One available variant in so many is sold on order.
const ON_ORDER_EVERY: u64 = 40;

/// Most pieces that a variant has, unless somebody sets more.
const PIECES_MAX: u64 = 60;

/// The stock of a variant, which its record says to be available or not. The number follows from the variant and from
/// how often its product has changed by itself; one that was set on demand comes first.
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
