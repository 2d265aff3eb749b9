//! The saved record of a cart over several stores. It is sealed as a whole, for it holds the keys to the stores' carts.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{CurrencyCode, StoreHost, StoredBrand, Timestamp};
use serde::{Deserialize, Serialize, Serializer};

use super::own::{CartComparison, KnownCart};
use crate::hidden::SecretText;
use crate::rules::store_cart::{
    CartAddress, CartAttribute, LineQuantity, StoreCart, StoreDelivery, StoreLine, StoreOption,
};

/// Ids of operations that are through and may be asked about again, the newest last.
const DONE_MAX: usize = 64;

/// A cart over several stores.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CartRecord {
    pub(crate) email: Option<SecretText>,
    pub(crate) address: Option<CartAddress>,
    /// The tokens of the last checkout. What a store says that its cart carries is compared with them, never believed.
    #[serde(rename = "attributions")]
    pub(crate) attribution: Option<Attributions>,
    /// One for each brand, in the order in which they came.
    pub(crate) groups: Vec<Group>,
    /// The operation that was begun, and is not known to be through.
    pub(crate) open: Option<OpenOperation>,
    pub(crate) done: Vec<String>,
    /// Work of operations that are through which stores left undone, for reasons that pass.
    pub(crate) unmet: Vec<Unmet>,
    /// The groups at the end, where its caller has ended it: nobody finds it any more.
    pub(crate) ended: Option<Vec<Group>>,
}

/// Tokens that say who sent the buyer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Attributions {
    /// The token in each store's cart, by the store's permanent host: it names no other brand.
    pub(crate) stores: BTreeMap<String, SecretText>,
}

/// Work of an operation that a store left undone, for a reason that passes: a repeated request asks that store alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unmet {
    pub(crate) operation: String,
    pub(crate) store: StoreHost,
    /// Quantities that it took, or may have taken, all the same, by variant.
    pub(crate) maybe_done: BTreeMap<u64, u32>,
}

/// One brand's part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) brand: StoredBrand,
    /// The store's cart as the store last answered it, and the moment of that.
    pub(crate) seen: StoreCart,
    pub(crate) seen_at: Timestamp,
    /// Quantities that were asked for and not refused, by variant: a store may give less.
    #[serde(default)]
    pub(crate) wanted: BTreeMap<u64, u32>,
    /// The price of one of a variant when it was put in, and its currency, by variant.
    #[serde(default)]
    pub(crate) added_price_minor: BTreeMap<u64, (i64, CurrencyCode)>,
    /// Public ids of the products of what was put in, by variant.
    #[serde(default)]
    pub(crate) products: BTreeMap<u64, String>,
    /// Prices that the caller showed, by variant.
    #[serde(default)]
    pub(crate) shown: BTreeMap<u64, ShownPrice>,
    /// Calls whose answers were lost, while they may be carried out yet.
    #[serde(default)]
    pub(crate) doubt: Option<Doubt>,
    /// The address that the store got.
    #[serde(default)]
    pub(crate) address: Option<CartAddress>,
    /// The address that the store said no to last.
    #[serde(default)]
    pub(crate) declined: Option<Declined>,
    /// Settings that were made while the store did not answer: they are sent when the store does.
    #[serde(default)]
    pub(crate) unsent: Target,
    /// The delivery that was chosen.
    #[serde(default)]
    pub(crate) chosen: Option<ChosenDelivery>,
    /// The mark of the buyer that the store got.
    #[serde(default)]
    pub(crate) buyer: Option<String>,
}

/// The price of one of a variant, as a caller showed it to somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownPrice {
    pub(crate) minor: i64,
    /// Its currency; of a price without a quote that of the store's cart when the item came.
    pub(crate) currency: Option<CurrencyCode>,
    /// Names the signed quote of it, where there is one.
    pub(crate) quote: Option<String>,
    /// True where that quote had ended when the item came.
    pub(crate) is_quote_over: bool,
}

/// An address that a store does not take: it is not asked for it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Declined {
    pub(crate) address: CartAddress,
    /// The store's reason, as answers state it.
    pub(crate) detail: String,
}

/// Calls whose answers were lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// When none of them can be under way any more.
    pub(crate) until: Timestamp,
    /// Quantities that they asked for, or that were asked for since, by variant.
    pub(crate) asked: BTreeMap<u64, u32>,
    /// The settings that are to hold: one of these calls may set them back to those before.
    #[serde(default)]
    pub(crate) set: Target,
}

/// A way of delivery. Its handle is another one in another cart of the same store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChosenDelivery {
    pub(crate) handle: String,
    /// As the store offered it; `None` where no such offer was known.
    pub(crate) option: Option<StoreOption>,
}

/// An operation that was begun. It holds the wanted state, not the changes, so that it can be done again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenOperation {
    pub(crate) id: String,
    pub(crate) targets: Vec<BrandTarget>,
}

/// A brand, and the wanted state of its store's cart.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BrandTarget {
    pub(crate) brand: StoredBrand,
    pub(crate) target: Target,
}

/// A pair, as saved records have it.
impl Serialize for BrandTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.brand, &self.target).serialize(serializer)
    }
}

/// The wanted state of one store's cart; things that are not named stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Target {
    /// Quantities by variant; 0 takes the buyer's lines of it away.
    pub(crate) lines: BTreeMap<u64, u32>,
    /// The variants beside which nothing of the buyer's is to be in the store's cart. Other lines go once one of these is
    /// there.
    pub(crate) only: Option<BTreeSet<u64>>,
    /// Lines that the store put in, where they are named: asked for once.
    pub(crate) at_store: Vec<LineQuantity>,
    /// The whole list of codes.
    pub(crate) codes: Option<Vec<String>>,
    pub(crate) address: Option<CartAddress>,
    pub(crate) chosen: Option<ChosenDelivery>,
    /// Attributes to be set beside those that are there.
    pub(crate) attributes: Vec<CartAttribute>,
    /// Public ids of the products that variants are of, for the answers that name them.
    pub(crate) products: BTreeMap<u64, String>,
    /// Prices that the caller showed, by variant.
    pub(crate) shown: BTreeMap<u64, ShownPrice>,
    /// Read the store's cart even where nothing else is to be done.
    pub(crate) is_read: bool,
    /// Send the buyer to the store.
    pub(crate) tells_buyer: bool,
    /// It is taken up once something that other targets name in `only` is there, and not before.
    pub(crate) waits: bool,
}

impl CartRecord {
    pub(crate) fn group(&self, brand: &StoredBrand) -> Option<&Group> {
        self.groups.iter().find(|group| group.brand.store == brand.store)
    }

    /// True where an operation is through.
    pub(crate) fn is_done(&self, operation: &str) -> bool {
        self.done.iter().any(|id| id == operation)
    }

    /// The undone work of an operation that is through.
    pub(crate) fn unmet_of(&self, operation: &str) -> Vec<Unmet> {
        let unmet = self.unmet.iter().filter(|one| one.operation == operation);
        unmet.cloned().collect()
    }

    /// Notes what came of a store's part of the operation that was begun: done, or `left` with what it may have done. What
    /// was done once is not left by a later try.
    pub(crate) fn note(&mut self, store: &StoreHost, left: Option<BTreeMap<u64, u32>>) {
        let Some(open) = self.open.as_ref().filter(|open| !open.id.is_empty()) else {
            return;
        };
        let is_it = |one: &Unmet| one.operation == open.id && one.store == *store;
        match (self.unmet.iter().position(is_it), left) {
            (Some(at), Some(maybe_done)) => self.unmet[at].maybe_done.extend(maybe_done),
            (Some(at), None) => drop(self.unmet.remove(at)),
            (None, Some(maybe_done)) if !self.is_done(&open.id) => self.unmet.push(Unmet {
                operation: open.id.clone(),
                store: store.clone(),
                maybe_done,
            }),
            (None, _) => {}
        }
    }

    /// Ends the operation that was begun.
    pub(crate) fn close(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.id.is_empty()) else {
            return;
        };
        if self.is_done(&open.id) {
            return;
        }
        if self.done.len() >= DONE_MAX {
            let oldest = self.done.remove(0);
            self.unmet.retain(|one| one.operation != oldest);
        }
        self.done.push(open.id);
    }

    /// Lines of all groups, without those that stores put in.
    pub(crate) fn lines(&self) -> usize {
        self.groups.iter().map(|group| group.wanted.len()).sum()
    }

    /// True where the cart has something of what targets of an operation wait for.
    pub(crate) fn has_awaited(&self, open: &OpenOperation) -> bool {
        let mut awaited = open.targets.iter().filter(|one| !one.target.waits);
        awaited.any(|BrandTarget { brand, target }| {
            let has_some =
                |group: &Group, only: &BTreeSet<u64>| only.iter().any(|variant| group.holding().has(*variant));
            let group = self.group(brand);
            group.is_some_and(|group| target.only.as_ref().is_none_or(|only| has_some(group, only)))
        })
    }

    /// True where a store has got all that its cart is to be.
    pub(crate) fn is_told(&self, group: &Group) -> bool {
        group.address == self.address && group.unsent == Target::default()
    }
}

impl Attributions {
    pub(crate) fn of(&self, brand: &StoredBrand) -> Option<&str> {
        self.stores.get(brand.store.as_str()).map(SecretText::expose)
    }
}

impl Target {
    /// The part that is set once for the whole cart of a store, whatever its lines are.
    pub(crate) fn settings(&self) -> Self {
        Self {
            codes: self.codes.clone(),
            address: self.address.clone(),
            chosen: self.chosen.clone(),
            attributes: self.attributes.clone(),
            tells_buyer: self.tells_buyer,
            ..Self::default()
        }
    }

    /// Joins settings from before, as far as it does not name others.
    pub(crate) fn join(&mut self, before: &Self) {
        self.codes = self.codes.take().or_else(|| before.codes.clone());
        self.address = self.address.take().or_else(|| before.address.clone());
        self.chosen = self.chosen.take().or_else(|| before.chosen.clone());
        if self.attributes.is_empty() {
            self.attributes.clone_from(&before.attributes);
        }
        self.tells_buyer |= before.tells_buyer;
    }

    /// Takes out what is there by now of what may have been done. Asked for to be as it was asked for before, nothing is
    /// added twice.
    pub(crate) fn without_done(&mut self, group: Option<&Group>, maybe_done: &BTreeMap<u64, u32>) {
        let there =
            |variant: u64| group.map_or(0, |group| group.quantity(variant).max(group.holding().wanted(variant)));
        self.lines.retain(|variant, pieces| {
            let done = maybe_done.get(variant);
            done.is_none_or(|done| done == pieces || there(*variant) < *done)
        });
    }
}

impl Group {
    /// A target of its store's cart.
    pub(crate) fn aimed_at(&self, target: Target) -> BrandTarget {
        let brand = self.brand.clone();
        BrandTarget { brand, target }
    }

    pub(crate) fn known(&self) -> KnownCart<'_> {
        KnownCart {
            cart: &self.seen,
            wanted: &self.wanted,
        }
    }

    pub(crate) fn holding(&self) -> CartComparison<'_> {
        CartComparison {
            cart: &self.seen,
            wanted: &self.wanted,
            before: Some(self.known()),
        }
    }

    /// A part of which nothing is known but its store's cart.
    pub(crate) fn new(brand: StoredBrand, seen: StoreCart, seen_at: Timestamp) -> Self {
        Self {
            brand,
            seen,
            seen_at,
            wanted: BTreeMap::new(),
            added_price_minor: BTreeMap::new(),
            products: BTreeMap::new(),
            shown: BTreeMap::new(),
            doubt: None,
            address: None,
            declined: None,
            unsent: Target::default(),
            chosen: None,
            buyer: None,
        }
    }

    /// Keeps of what is wanted what the store's cart has, and what a variant cost when it was seen first.
    pub(crate) fn settle_lines(&mut self, before: Option<&Self>) {
        let holding = CartComparison {
            before: before.map(Self::known),
            ..self.holding()
        };
        let wanted = self.wanted.iter().map(|(variant, pieces)| (*variant, *pieces));
        let wanted = wanted.filter(|(variant, _)| holding.has(*variant)).collect();
        self.wanted = wanted;
        let (paid, free): (Vec<_>, Vec<_>) = self.seen.lines.iter().partition(|line| line.costs());
        let lines: Vec<&StoreLine> = paid.into_iter().chain(free).collect();
        let is_there = |variant: u64| lines.iter().any(|line| line.variant.0 == variant);
        self.added_price_minor.retain(|variant, _| is_there(*variant));
        for line in lines {
            let added = self.added_price_minor.entry(line.variant.0);
            added.or_insert((line.unit_price_minor, self.seen.currency));
        }
    }

    /// Remembers products, and prices that were shown, of variants that were put in, or may have been, and forgets those of
    /// what is gone.
    pub(crate) fn note_items(&mut self, target: &Target, maybe_done: &BTreeMap<u64, u32>) {
        let is_new = |variant: &u64| maybe_done.contains_key(variant);
        let products = target.products.iter().filter(|(variant, _)| is_new(variant));
        self.products
            .extend(products.map(|(variant, id)| (*variant, id.clone())));
        for (variant, price) in target.shown.iter().filter(|(variant, _)| is_new(variant)) {
            let currency = price.currency.or(Some(self.seen.currency));
            let price = price.clone();
            self.shown.insert(*variant, ShownPrice { currency, ..price });
        }
        let doubted = self.doubt.as_ref().map(|doubt| &doubt.asked);
        let is_there = |variant: &u64| {
            self.wanted.contains_key(variant) || doubted.is_some_and(|asked| asked.contains_key(variant))
        };
        self.products.retain(|variant, _| is_there(variant));
        self.shown.retain(|variant, _| is_there(variant));
    }

    /// The quotes with which lines came.
    pub(crate) fn quotes(&self) -> impl Iterator<Item = &str> {
        self.shown.values().filter_map(|price| price.quote.as_deref())
    }

    /// True where no line of the buyer's is left: free lines go with the lines they came with.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && !self.seen.lines.iter().any(StoreLine::costs)
    }

    /// Variants of which the store's cart has fewer than were asked for, and how many those were.
    pub(crate) fn short(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.holding().short()
    }

    /// The pieces of a variant that the buyer has in the store's cart.
    pub(crate) fn quantity(&self, variant: u64) -> u32 {
        self.holding().pieces(variant)
    }

    pub(crate) fn line(&self, variant: u64) -> Option<&StoreLine> {
        self.seen.lines.iter().find(|line| line.variant.0 == variant)
    }

    /// The settings that are to hold and are not known to hold for good.
    pub(crate) fn settings(&self) -> Target {
        let mut settings = self.unsent.clone();
        if let Some(doubt) = &self.doubt {
            settings.join(&doubt.set);
        }
        settings
    }

    /// The whole list of codes, as it is to be.
    pub(crate) fn codes(&self) -> Vec<String> {
        let seen = || self.seen.codes.iter().map(|code| code.code.clone()).collect();
        self.settings().codes.unwrap_or_else(seen)
    }

    /// The delivery that was chosen, where the store's cart had it.
    pub(crate) fn selected(&self) -> Option<ChosenDelivery> {
        let is_selected = |chosen: &&ChosenDelivery| chosen.selected(&self.seen).is_some();
        self.chosen.as_ref().filter(is_selected).cloned()
    }

    /// A way of delivery by its handle.
    pub(crate) fn choice(&self, handle: &str) -> ChosenDelivery {
        let mut options = self.seen.deliveries.iter().flat_map(|group| &group.options);
        ChosenDelivery {
            handle: handle.to_owned(),
            option: options.find(|option| option.handle == handle).cloned(),
        }
    }
}

impl ChosenDelivery {
    /// The options of a cart that are this one: under its handle, else under the same title, code and amount.
    pub(crate) fn offered<'a>(&self, cart: &'a StoreCart) -> Vec<(&'a StoreDelivery, &'a StoreOption)> {
        let by = |is_it: &dyn Fn(&StoreOption) -> bool| -> Vec<_> {
            let found = cart.deliveries.iter().filter_map(|group| {
                let option = group.options.iter().find(|option| is_it(option))?;
                Some((group, option))
            });
            found.collect()
        };
        let named = by(&|option| option.handle == self.handle);
        if !named.is_empty() {
            return named;
        }
        let what = |option: &StoreOption| (option.title.clone(), option.code.clone(), option.amount_minor);
        by(&|option| self.option.as_ref().is_some_and(|known| what(known) == what(option)))
    }

    /// The same as a cart has it selected.
    pub(crate) fn selected(&self, cart: &StoreCart) -> Option<Self> {
        let mut offered = self.offered(cart).into_iter();
        let (_, option) = offered.find(|(delivery, option)| delivery.selected.as_ref() == Some(&option.handle))?;
        Some(Self {
            handle: option.handle.clone(),
            option: Some(option.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_target_is_a_pair() {
        let brand = StoredBrand {
            store: "tea.myshopify.com".parse().unwrap(),
            slug: "tea".parse().unwrap(),
            name: "Tea".to_owned(),
            domain: "tea.example".to_owned(),
            base_url: "https://tea.example".to_owned(),
            currency: "INR".parse().unwrap(),
            crawl_country: None,
            refreshed_at: "2026-11-21T00:00:00Z".parse().unwrap(),
        };
        let saved = serde_json::to_value((brand, Target::default())).unwrap();
        let read: BrandTarget = serde_json::from_value(saved.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), saved);
    }
}
