//! What is kept of a cart over several stores: sealed as a whole, for it holds what opens the stores' carts.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{CurrencyCode, StoredBrand, Timestamp};
use serde::{Deserialize, Serialize};

use crate::cart_client::CartAddress;
use crate::hidden::Hidden;
use crate::store_cart::StoreCart;

/// Ids of operations that are through and may be asked about again, the newest last.
const DONE_MAX: usize = 64;

/// A cart over several stores.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CartRecord {
    pub(crate) email: Option<Hidden>,
    pub(crate) address: Option<CartAddress>,
    /// The token of the last checkout. What a store says that its cart carries is compared with it, never believed.
    pub(crate) attribution: Option<Hidden>,
    /// One for each brand, in the order in which they came.
    pub(crate) groups: Vec<Group>,
    /// What was begun, and is not known to be through.
    pub(crate) open: Option<OpenOperation>,
    pub(crate) done: Vec<String>,
    /// What it was, where its caller has ended it: nobody finds it any more.
    pub(crate) ended: Option<Vec<Group>>,
}

/// One brand's part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) brand: StoredBrand,
    /// The store's cart as the store last told it, and when.
    pub(crate) seen: StoreCart,
    pub(crate) seen_at: Timestamp,
    /// Quantities as they were asked for, by variant: a store may give less.
    #[serde(default)]
    pub(crate) wanted: BTreeMap<u64, u32>,
    /// What one of a variant cost when it was put in, and in which currency, by variant.
    #[serde(default)]
    pub(crate) added_price_minor: BTreeMap<u64, (i64, CurrencyCode)>,
    /// The store may have done more than it told of: it is asked before anything else is done.
    #[serde(default)]
    pub(crate) is_unsure: bool,
    /// The handle of the delivery that was chosen.
    #[serde(default)]
    pub(crate) delivery: Option<String>,
    /// What the store was told of who buys.
    #[serde(default)]
    pub(crate) buyer: Option<String>,
}

/// What an operation is to bring about. It says how things are to be, not what is to be added, so that it can be done
/// again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenOperation {
    pub(crate) id: String,
    pub(crate) targets: Vec<(StoredBrand, Target)>,
}

/// How one store's cart is to be; what is not named stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Target {
    /// Quantities by variant; 0 takes the line away.
    pub(crate) lines: BTreeMap<u64, u32>,
    /// The variants beside which nothing is to be in the store's cart. Other lines go once one of these is there.
    pub(crate) only: Option<BTreeSet<u64>>,
    /// The whole list of codes.
    pub(crate) codes: Option<Vec<String>>,
    pub(crate) address: Option<CartAddress>,
    /// The handle of a way of delivery.
    pub(crate) delivery: Option<String>,
    /// Attributes to be set beside those that are there.
    pub(crate) attributes: Vec<(String, String)>,
    /// Public ids of the products that variants are of, for what must be told of them.
    pub(crate) products: BTreeMap<u64, String>,
    /// Read the store's cart even where nothing else is to be done.
    pub(crate) is_read: bool,
}

impl CartRecord {
    pub(crate) fn group(&self, brand: &StoredBrand) -> Option<&Group> {
        self.groups.iter().find(|group| group.brand.store == brand.store)
    }

    /// Whether an operation is through.
    pub(crate) fn is_done(&self, operation: &str) -> bool {
        self.done.iter().any(|id| id == operation)
    }

    /// Ends the operation that was begun.
    pub(crate) fn close(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.id.is_empty()) else {
            return;
        };
        if self.done.len() >= DONE_MAX {
            self.done.remove(0);
        }
        self.done.push(open.id);
    }

    /// Lines of all groups.
    pub(crate) fn lines(&self) -> usize {
        self.groups.iter().map(|group| group.seen.lines.len()).sum()
    }
}

impl Group {
    /// Takes in what was asked for; of what is not in the store's cart nothing is kept.
    pub(crate) fn wants(&mut self, target: &Target) {
        self.wanted.extend(&target.lines);
        let lines = &self.seen.lines;
        let is_there = |variant: u64| lines.iter().any(|line| line.variant.0 == variant);
        self.wanted.retain(|variant, _| is_there(*variant));
        self.added_price_minor.retain(|variant, _| is_there(*variant));
        for line in lines {
            let added = self.added_price_minor.entry(line.variant.0);
            added.or_insert((line.unit_price_minor, self.seen.currency));
        }
    }

    /// Variants of which the store's cart has fewer than were asked for, and how many those were.
    pub(crate) fn short(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let wanted = self.wanted.iter().map(|(variant, wanted)| (*variant, *wanted));
        wanted.filter(|(variant, wanted)| self.quantity(*variant) < *wanted)
    }

    /// How many of a variant there are in the store's cart.
    pub(crate) fn quantity(&self, variant: u64) -> u32 {
        let lines = self.seen.lines.iter().filter(|line| line.variant.0 == variant);
        lines.map(|line| line.quantity).sum()
    }
}
