use std::collections::BTreeMap;

use data_model::{CurrencyCode, DeliveryProbe, VariantId};

/// Order values for which rates are requested, in whole units of the currency.
const LADDER: [i64; 6] = [500, 1_000, 1_500, 2_000, 3_000, 5_000];

/// Maximum quantity of one variant in a cart. A larger quantity would look like a wholesale order, and may exceed the
/// stock.
const QUANTITY_MAX: u32 = 5;

/// Minimum number of earlier answers for a cart that may be used as a stand-in.
const STAND_IN_MIN: usize = 20;

/// An available variant, as stored in the lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartVariant {
    /// Id of the variant.
    pub id: VariantId,
    /// Price in minor units of the store's currency.
    pub price_minor: i64,
    /// Weight in grams, if stated.
    pub grams: Option<i64>,
}

/// A cart for a delivery question: one variant in some quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cart {
    /// Variant in the cart.
    pub variant: VariantId,
    /// Quantity of the variant.
    pub quantity: u32,
    /// Total price in minor units.
    pub goods_minor: i64,
    /// Total weight in grams, or 0 if the store states none.
    pub grams: i64,
}

pub(crate) fn cart_of(probe: &DeliveryProbe) -> Cart {
    Cart {
        variant: probe.variant,
        quantity: probe.quantity,
        goods_minor: probe.goods_minor,
        grams: probe.grams.unwrap_or(0),
    }
}

impl Cart {
    /// Returns true if both carts have about the same value and weight. A store whose rates depend only on value and
    /// weight tiers quotes the same rates for them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let grams = self.grams.min(other.grams);
        (self.goods_minor - other.goods_minor).abs() <= self.goods_minor.min(other.goods_minor) / 20
            && (self.grams - other.grams).abs() <= (grams / 4).max(100)
    }
}

/// Carts that can be used for questions to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carts {
    /// Currency of the store.
    pub currency: CurrencyCode,
    /// Cart for the delivery to every pincode: one unit of the cheapest variant.
    pub base: Cart,
    /// Cart of most earlier answers, if it is no longer available at its price. Its answers count for `base` if queries
    /// for a few pincodes show the same answers for both carts.
    pub stand_in: Option<Cart>,
    /// Carts by increasing value, each as light as possible for its value, starting with `base`.
    pub ladder: Vec<Cart>,
    /// A cart with about the same value as one of the ladder, but at least twice its weight.
    pub heavy: Option<Cart>,
    /// Each possible cart contains one or more units of one variant.
    all: Vec<Cart>,
}

impl Carts {
    /// Creates the carts from these variants, or returns `None` if no variant is available. Free variants are left out.
    /// The base cart of earlier answers stays the base cart while it is available at the same price. Otherwise the cart
    /// with the nearest value replaces it.
    #[must_use]
    pub fn of(currency: CurrencyCode, variants: &[CartVariant], earlier: &[DeliveryProbe]) -> Option<Self> {
        let priced = variants.iter().filter(|variant| variant.price_minor > 0);
        // One variant is enough for each combination of price and weight.
        let distinct: BTreeMap<(i64, i64), &CartVariant> = priced
            .rev()
            .map(|variant| ((variant.price_minor, variant.grams.unwrap_or(0)), variant))
            .collect();
        let many = |variant: &CartVariant, quantity: u32| Cart {
            variant: variant.id,
            quantity,
            goods_minor: variant.price_minor.saturating_mul(i64::from(quantity)),
            grams: variant.grams.unwrap_or(0).max(0).saturating_mul(i64::from(quantity)),
        };
        let all = distinct.values();
        let mut all: Vec<Cart> = all
            .flat_map(|variant| (1..=QUANTITY_MAX).map(|quantity| many(variant, quantity)))
            .collect();
        all.sort_by_key(|cart| (cart.goods_minor, cart.grams, cart.variant, cart.quantity));
        let mut asked: BTreeMap<Cart, usize> = BTreeMap::new();
        let of_currency = earlier.iter().filter(|probe| probe.currency == currency);
        of_currency.for_each(|probe| *asked.entry(cart_of(probe)).or_default() += 1);
        let sells = |cart: &Cart| variants.iter().any(|variant| many(variant, cart.quantity) == *cart);
        let most = |is_wanted: &dyn Fn(&Cart) -> bool| {
            let wanted = asked.iter().filter(|(cart, _)| is_wanted(cart));
            wanted.max_by_key(|(cart, times)| (**times, std::cmp::Reverse(**cart)))
        };
        let (sold, any) = (most(&sells), most(&|_| true));
        let stand_in = any.filter(|(cart, times)| !sells(cart) && **times >= STAND_IN_MIN);
        let stand_in = stand_in.map(|(cart, _)| *cart);
        let nearest = |to: Cart| {
            let others = all.iter().filter(|cart| cart.quantity == 1);
            others.min_by_key(|cart| ((cart.goods_minor - to.goods_minor).abs(), (cart.grams - to.grams).abs()))
        };
        // A few uses next to the former base cart do not make a cart the new base cart.
        let sold = sold
            .filter(|(_, times)| stand_in.is_none() || **times >= STAND_IN_MIN)
            .map(|(cart, _)| *cart);
        let base = sold
            .or_else(|| nearest(stand_in?).copied())
            .or_else(|| all.first().copied())?;
        let stand_in = stand_in.filter(|_| sold.is_none());
        let unit = 10_i64.pow(currency.exponent());
        let mut ladder = vec![base];
        for step in LADDER {
            let least = step.saturating_mul(unit);
            let reaching = all
                .iter()
                .filter(|cart| cart.goods_minor >= least && cart.goods_minor <= least.saturating_mul(7) / 5);
            if let Some(cart) = reaching.min_by_key(|cart| (cart.grams, cart.goods_minor))
                && ladder.last().is_none_or(|last| last.goods_minor < cart.goods_minor)
            {
                ladder.push(*cart);
            }
        }
        let heavy = heavy(&all, &ladder);
        Some(Self {
            currency,
            base,
            stand_in,
            ladder,
            heavy,
            all,
        })
    }

    pub(crate) fn has(&self, cart: &Cart) -> bool {
        *cart == self.base || self.all.contains(cart)
    }

    /// Leaves out a cart that the store cannot create, for example because of missing stock. The base cart stays.
    pub fn leave_out(&mut self, cart: &Cart) {
        if *cart != self.base {
            self.ladder.retain(|one| one != cart);
            self.all.retain(|one| one != cart);
            self.heavy.take_if(|heavy| heavy == cart);
        }
    }

    /// Returns the lightest cart with a value between the two, nearest to the middle.
    pub(crate) fn between(&self, low: &DeliveryProbe, high: &DeliveryProbe) -> Option<Cart> {
        let middle = i64::midpoint(low.goods_minor, high.goods_minor);
        let grams_max = low.grams.unwrap_or(0).max(high.grams.unwrap_or(0));
        // A tenth of the price is close enough, because prices are seldom set closer to a threshold.
        let margin = low.goods_minor / 20;
        let inner = self.all.iter().filter(|cart| {
            cart.goods_minor > low.goods_minor + margin
                && cart.goods_minor < high.goods_minor - margin
                && cart.grams <= grams_max
        });
        inner
            .min_by_key(|cart| ((cart.goods_minor - middle).abs(), cart.grams))
            .copied()
    }
}

/// Returns the heaviest cart with about the same value as a lighter one of the ladder.
fn heavy(all: &[Cart], ladder: &[Cart]) -> Option<Cart> {
    let is_heavy = |cart: &&Cart| {
        ladder.iter().any(|light| {
            let near = (cart.goods_minor - light.goods_minor).abs() <= light.goods_minor / 10;
            near && cart.grams >= light.grams.saturating_mul(2).max(light.grams + 250)
        })
    };
    all.iter().filter(is_heavy).max_by_key(|cart| cart.grams).copied()
}
