use std::collections::BTreeMap;

use data_model::{CurrencyCode, DeliveryProbe, VariantId};

/// Values of carts that rates are asked for, in whole units of the currency.
const LADDER: [i64; 6] = [500, 1_000, 1_500, 2_000, 3_000, 5_000];

/// Most of one variant in a cart: more would look like a wholesaler, and may exceed the stock.
const QUANTITY_MAX: u32 = 5;

/// A cart of fewer answers stands in for none.
const STAND_IN_MIN: usize = 20;

/// A variant that can be bought, as the lake has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartVariant {
    /// Its id.
    pub id: VariantId,
    /// Its price, in minor units of the store's currency.
    pub price_minor: i64,
    /// Its weight, where stated.
    pub grams: Option<i64>,
}

/// A cart to ask with: some of one variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cart {
    /// The variant in it.
    pub variant: VariantId,
    /// Its pieces.
    pub quantity: u32,
    /// Their price, in minor units.
    pub goods_minor: i64,
    /// Their weight; 0 where the store states nothing.
    pub grams: i64,
}

/// The cart of a probe.
pub(crate) fn cart_of(probe: &DeliveryProbe) -> Cart {
    Cart {
        variant: probe.variant,
        quantity: probe.quantity,
        goods_minor: probe.goods_minor,
        grams: probe.grams.unwrap_or(0),
    }
}

impl Cart {
    /// True where it is worth and weighs about as much: both get the same answers, as far as tiers distinguish them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let grams = self.grams.min(other.grams);
        (self.goods_minor - other.goods_minor).abs() <= self.goods_minor.min(other.goods_minor) / 20
            && (self.grams - other.grams).abs() <= (grams / 4).max(100)
    }
}

/// The carts that a store can be asked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carts {
    /// The currency of the store.
    pub currency: CurrencyCode,
    /// The cart that every pincode is asked with: the cheapest variant, once.
    pub base: Cart,
    /// The cart of most earlier answers, where it cannot be bought any more, or not at that price. Its answers hold for `base` where a
    /// few pincodes show that both are answered alike.
    pub stand_in: Option<Cart>,
    /// Carts by what they are worth, each light for its worth, `base` first.
    pub ladder: Vec<Cart>,
    /// A cart that weighs at least twice of what one of the ladder weighs that is worth about as much.
    pub heavy: Option<Cart>,
    /// Every cart that can be made of one variant.
    all: Vec<Cart>,
}

impl Carts {
    /// Carts of these variants; `None` where there is none to buy. Free ones are left out. The base cart of earlier answers stays,
    /// as long as it can be bought at the same price; else the one that is worth as much as can be takes its place.
    #[must_use]
    pub fn of(currency: CurrencyCode, variants: &[CartVariant], earlier: &[DeliveryProbe]) -> Option<Self> {
        let priced = variants.iter().filter(|variant| variant.price_minor > 0);
        // Of variants that cost and weigh the same one is enough.
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
        // Of carts that were asked with beside the former base a few times, none is the new base by that alone.
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

    /// True where it can be asked with now.
    pub(crate) fn has(&self, cart: &Cart) -> bool {
        *cart == self.base || self.all.contains(cart)
    }

    /// Leaves a cart out that the store does not make, for want of stock say. The base cart stays.
    pub fn leave_out(&mut self, cart: &Cart) {
        if *cart != self.base {
            self.ladder.retain(|one| one != cart);
            self.all.retain(|one| one != cart);
            self.heavy.take_if(|heavy| heavy == cart);
        }
    }

    /// The lightest cart that is worth more than one and less than the other, nearest to the middle.
    pub(crate) fn between(&self, low: &DeliveryProbe, high: &DeliveryProbe) -> Option<Cart> {
        let middle = i64::midpoint(low.goods_minor, high.goods_minor);
        let grams_max = low.grams.unwrap_or(0).max(high.grams.unwrap_or(0));
        // A tenth of the price is near enough: prices are seldom set as near to a threshold.
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

/// The heaviest cart that is worth about as much as a lighter one of the ladder.
fn heavy(all: &[Cart], ladder: &[Cart]) -> Option<Cart> {
    let is_heavy = |cart: &&Cart| {
        ladder.iter().any(|light| {
            let near = (cart.goods_minor - light.goods_minor).abs() <= light.goods_minor / 10;
            near && cart.grams >= light.grams.saturating_mul(2).max(light.grams + 250)
        })
    };
    all.iter().filter(is_heavy).max_by_key(|cart| cart.grams).copied()
}
