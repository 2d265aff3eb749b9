//! Stored record of a cart over several stores. The whole record is sealed, because it contains the keys to the stores'
//! carts.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{CurrencyCode, StoreHost, StoredBrand, Timestamp};
use serde::{Deserialize, Serialize, Serializer};

use super::own::{CartComparison, KnownCart};
use crate::hidden::SecretText;
use crate::rules::store_cart::{
    CartAddress, CartAttribute, LineQuantity, StoreCart, StoreDelivery, StoreLine, StoreOption,
};

/// Maximum number of remembered ids of finished operations, which callers may repeat. The newest id is last.
const DONE_MAX: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CartRecord {
    pub(crate) email: Option<SecretText>,
    pub(crate) address: Option<CartAddress>,
    /// Tokens of the last checkout. Attributes that a store reports are compared with these tokens and never trusted.
    #[serde(rename = "attributions")]
    pub(crate) attribution: Option<Attributions>,
    /// One group for each brand, in the order in which brands were added.
    pub(crate) groups: Vec<Group>,
    /// Operation that has started and may not be finished.
    pub(crate) open: Option<OpenOperation>,
    pub(crate) done: Vec<String>,
    /// Parts of finished operations that stores did not carry out for temporary reasons.
    pub(crate) unmet: Vec<Unmet>,
    /// Groups of a cart that the caller has ended. An ended cart can no longer be found.
    pub(crate) ended: Option<Vec<Group>>,
}

/// Attribution tokens, which name the service that sent the buyer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Attributions {
    /// Token in each store's cart, by the store's permanent host. A token names only that store's brand.
    pub(crate) stores: BTreeMap<String, SecretText>,
}

/// Part of an operation that a store did not carry out for a temporary reason. A repeated request queries only that
/// store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unmet {
    pub(crate) operation: String,
    pub(crate) store: StoreHost,
    /// Quantities by variant that the store accepted or may have accepted.
    pub(crate) maybe_done: BTreeMap<u64, u32>,
}

/// One brand's part of a cart.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) brand: StoredBrand,
    /// Store's cart as the store last returned it, at `seen_at`.
    pub(crate) seen: StoreCart,
    pub(crate) seen_at: Timestamp,
    /// Quantities by variant that were requested and not refused. The store may have fewer.
    #[serde(default)]
    pub(crate) wanted: BTreeMap<u64, u32>,
    /// Unit price when the variant was added, and the currency of the price, by variant.
    #[serde(default)]
    pub(crate) added_price_minor: BTreeMap<u64, (i64, CurrencyCode)>,
    /// Public product ids of the added variants.
    #[serde(default)]
    pub(crate) products: BTreeMap<u64, String>,
    /// Prices that the caller showed to the buyer, by variant.
    #[serde(default)]
    pub(crate) shown: BTreeMap<u64, ShownPrice>,
    /// Calls whose responses were lost and that the store may still carry out.
    #[serde(default)]
    pub(crate) doubt: Option<Doubt>,
    /// Address that was sent to the store.
    #[serde(default)]
    pub(crate) address: Option<CartAddress>,
    /// Address that the store refused last. The address is not sent again.
    #[serde(default)]
    pub(crate) declined: Option<Declined>,
    /// Settings that were changed while the store did not respond, and that are sent when the store responds again.
    #[serde(default)]
    pub(crate) unsent: Target,
    #[serde(default)]
    pub(crate) chosen: Option<ChosenDelivery>,
    /// Digest of the buyer that was sent to the store.
    #[serde(default)]
    pub(crate) buyer: Option<String>,
}

/// Unit price of a variant, as the caller showed it to the buyer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownPrice {
    pub(crate) minor: i64,
    /// Currency of the price: that of the quote, or else that of the product in the catalogue when the item was added.
    pub(crate) currency: Option<CurrencyCode>,
    /// Id of the signed quote, if there is one.
    pub(crate) quote: Option<String>,
    /// True if the quote had expired when the item was added.
    pub(crate) is_quote_over: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Declined {
    pub(crate) address: CartAddress,
    /// Store's reason for the refusal, as shown in responses.
    pub(crate) detail: String,
}

/// Calls whose responses were lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// Time after which none of the calls can still be running.
    pub(crate) until: Timestamp,
    /// Quantities by variant that these calls or later ones requested.
    pub(crate) asked: BTreeMap<u64, u32>,
    /// Required settings. One of the lost calls may still reset them to older values.
    #[serde(default)]
    pub(crate) set: Target,
}

/// Delivery option that was selected. The handle of an option differs between carts of the same store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChosenDelivery {
    pub(crate) handle: String,
    /// Option as the store offered it; `None` if the offer is not known.
    pub(crate) option: Option<StoreOption>,
}

/// Operation that has started but not ended. The record contains the wanted state instead of the changes, so that the
/// operation can be repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenOperation {
    pub(crate) id: String,
    pub(crate) targets: Vec<BrandTarget>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BrandTarget {
    pub(crate) brand: StoredBrand,
    pub(crate) target: Target,
}

/// Saved records store the brand and its target as a pair.
impl Serialize for BrandTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.brand, &self.target).serialize(serializer)
    }
}

/// Wanted state of one store's cart. Absent fields leave the cart's state unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Target {
    /// Quantities by variant; 0 removes the buyer's lines of the variant.
    pub(crate) lines: BTreeMap<u64, u32>,
    /// The only variants that the buyer's lines in the store's cart may have. Other lines are removed once one of these
    /// variants is in the cart.
    pub(crate) only: Option<BTreeSet<u64>>,
    /// Changes to lines that the store added. The changes are sent only once.
    pub(crate) at_store: Vec<LineQuantity>,
    /// Complete new list of codes.
    pub(crate) codes: Option<Vec<String>>,
    pub(crate) address: Option<CartAddress>,
    pub(crate) chosen: Option<ChosenDelivery>,
    /// Attributes to add to the existing ones.
    pub(crate) attributes: Vec<CartAttribute>,
    /// Public product ids by variant, for responses that name the products.
    pub(crate) products: BTreeMap<u64, String>,
    /// Prices that the caller showed to the buyer, by variant.
    pub(crate) shown: BTreeMap<u64, ShownPrice>,
    /// True if the store's cart must be read even if nothing else must be done.
    pub(crate) is_read: bool,
    /// True if the buyer's data must be sent to the store.
    pub(crate) tells_buyer: bool,
    /// True if this target must wait until the cart contains a variant that another target names in `only`.
    pub(crate) waits: bool,
}

impl CartRecord {
    pub(crate) fn group(&self, brand: &StoredBrand) -> Option<&Group> {
        self.groups.iter().find(|group| group.brand.store == brand.store)
    }

    pub(crate) fn is_done(&self, operation: &str) -> bool {
        self.done.iter().any(|id| id == operation)
    }

    /// Returns the parts of a finished operation that stores did not carry out.
    pub(crate) fn unmet_of(&self, operation: &str) -> Vec<Unmet> {
        let unmet = self.unmet.iter().filter(|one| one.operation == operation);
        unmet.cloned().collect()
    }

    /// Records the outcome of one store in the open operation: done, or `left` with the quantities that may have been
    /// accepted. A store that is done stays done after later attempts.
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

    /// Returns the number of lines of all groups, except lines that stores added.
    pub(crate) fn lines(&self) -> usize {
        self.groups.iter().map(|group| group.wanted.len()).sum()
    }

    /// True if the cart contains a variant that other targets of the operation wait for.
    pub(crate) fn has_awaited(&self, open: &OpenOperation) -> bool {
        let mut awaited = open.targets.iter().filter(|one| !one.target.waits);
        awaited.any(|BrandTarget { brand, target }| {
            let has_some =
                |group: &Group, only: &BTreeSet<u64>| only.iter().any(|variant| group.holding().has(*variant));
            let group = self.group(brand);
            group.is_some_and(|group| target.only.as_ref().is_none_or(|only| has_some(group, only)))
        })
    }

    /// True if a store has received all settings of its cart.
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
    /// Returns the settings of the target that apply to a store's whole cart, independent of its lines.
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

    /// Adds the settings of an earlier target, unless this target sets its own.
    pub(crate) fn join(&mut self, before: &Self) {
        self.codes = self.codes.take().or_else(|| before.codes.clone());
        self.address = self.address.take().or_else(|| before.address.clone());
        self.chosen = self.chosen.take().or_else(|| before.chosen.clone());
        if self.attributes.is_empty() {
            self.attributes.clone_from(&before.attributes);
        }
        self.tells_buyer |= before.tells_buyer;
    }

    /// Removes the quantities in `maybe_done` that are already in the cart, so that a repeated request adds nothing
    /// twice.
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

    /// Creates a group for a store's cart about which nothing else is known.
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

    /// Drops wanted variants that the store's cart lacks, and records the price of each variant when it is first seen.
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

    /// Records the products and shown prices of variants that were added or may have been added, and removes those of
    /// removed variants.
    pub(crate) fn note_items(&mut self, target: &Target, maybe_done: &BTreeMap<u64, u32>) {
        let is_new = |variant: &u64| maybe_done.contains_key(variant);
        let products = target.products.iter().filter(|(variant, _)| is_new(variant));
        self.products
            .extend(products.map(|(variant, id)| (*variant, id.clone())));
        for (variant, price) in target.shown.iter().filter(|(variant, _)| is_new(variant)) {
            self.shown.insert(*variant, price.clone());
        }
        let doubted = self.doubt.as_ref().map(|doubt| &doubt.asked);
        let is_there = |variant: &u64| {
            self.wanted.contains_key(variant) || doubted.is_some_and(|asked| asked.contains_key(variant))
        };
        self.products.retain(|variant, _| is_there(variant));
        self.shown.retain(|variant, _| is_there(variant));
    }

    /// Returns the ids of the quotes with which lines were added.
    pub(crate) fn quotes(&self) -> impl Iterator<Item = &str> {
        self.shown.values().filter_map(|price| price.quote.as_deref())
    }

    /// True if the buyer has no line left. Stores remove free lines with the lines that they belong to.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && !self.seen.lines.iter().any(StoreLine::costs)
    }

    /// Returns the requested quantities of the variants of which the store's cart has fewer units.
    pub(crate) fn short(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.holding().short()
    }

    /// Returns the buyer's quantity of a variant in the store's cart.
    pub(crate) fn quantity(&self, variant: u64) -> u32 {
        self.holding().pieces(variant)
    }

    pub(crate) fn line(&self, variant: u64) -> Option<&StoreLine> {
        self.seen.lines.iter().find(|line| line.variant.0 == variant)
    }

    /// Returns the wanted settings that are not certain to be in effect.
    pub(crate) fn settings(&self) -> Target {
        let mut settings = self.unsent.clone();
        if let Some(doubt) = &self.doubt {
            settings.join(&doubt.set);
        }
        settings
    }

    /// Returns the complete wanted list of codes.
    pub(crate) fn codes(&self) -> Vec<String> {
        let seen = || self.seen.codes.iter().map(|code| code.code.clone()).collect();
        self.settings().codes.unwrap_or_else(seen)
    }

    /// Returns the selected delivery option, if the store's cart had it.
    pub(crate) fn selected(&self) -> Option<ChosenDelivery> {
        let is_selected = |chosen: &&ChosenDelivery| chosen.selected(&self.seen).is_some();
        self.chosen.as_ref().filter(is_selected).cloned()
    }

    pub(crate) fn choice(&self, handle: &str) -> ChosenDelivery {
        let mut options = self.seen.deliveries.iter().flat_map(|group| &group.options);
        ChosenDelivery {
            handle: handle.to_owned(),
            option: options.find(|option| option.handle == handle).cloned(),
        }
    }
}

impl ChosenDelivery {
    /// Returns the delivery options of a cart that match this one: by handle, or else by title, code and amount.
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

    /// Returns this option as the cart has it, if it is selected there.
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
