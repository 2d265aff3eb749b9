//! Decides which categories of a shop's products are trusted: those from two independent sources, or confirmed by the
//! shop's other products.
//!
//! The sources of a product's category are its type, its title and its tags. The same phrase in two of these texts
//! counts as one source. Within a shop, a phrase also counts as one source, however many products contain it. Otherwise
//! one misunderstood word could make a whole shop wrong.
//!
//! A category from a single source is trusted if the rules know most of the shop's words. If they know fewer, the
//! shop's trade takes precedence. The trade is the narrowest category that clearly leads among the shop's phrases.
//! Services and notices do not belong to a trade.

use data_model::CategoryId;
use google_taxonomy::ProductCategory;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assortment::{Assortment, LEVELS_MIN, ancestors, near};
use super::table::Table;
use super::{Reading, Witness, agree, contains, department};

/// Minimum share of a shop's other phrases near a category to confirm it.
const BORNE_OUT_MIN: f32 = 0.03;
/// Minimum share of a shop's other phrases in a department, so that a single source there is trusted outside of the
/// shop's trade.
const DEPARTMENT_MIN: f32 = 0.15;
/// Minimum share of a shop's products with a category by the rules, so that its vocabulary counts as known.
const KNOWN_MIN: f32 = 0.8;
/// Minimum number and share of a shop's products with a category, so that the shop has a trade.
const NAMED_MIN: u32 = 8;
const NAMED_SHARE_MIN: f32 = 0.4;
/// Conditions of a trade: its maximum level, its minimum share of the shop's phrases, and the maximum votes of any
/// other kind relative to it.
const TRADE_LEVEL_MAX: usize = 3;
const TRADE_MIN: f32 = 0.33;
const NEXT_MAX: f32 = 0.5;
/// Minimum share of the trade among trusted products of a type, so that other products of the type belong to the trade.
const OF_TYPE_MIN: f32 = 0.5;

#[derive(Debug)]
pub(crate) struct Belief<'t> {
    assortment: Assortment<'t>,
    /// Number of the shop's products, and of those with a category.
    products: u32,
    named: u32,
    all: Votes,
    by_phrase: FxHashMap<u64, Votes>,
    /// Phrases of product types, which are the shop's own names for things.
    types: FxHashSet<u64>,
    trade: Option<ProductCategory>,
    /// Trusted products of each type.
    by_type: FxHashMap<u64, Mates>,
}

/// Number of trusted products of a type, and of those within the trade.
#[derive(Debug, Default)]
struct Mates {
    all: f32,
    of_trade: f32,
}

/// Votes for categories, including their subcategories.
#[derive(Debug, Default)]
struct Votes {
    all: f32,
    by_path: FxHashMap<&'static str, f32>,
}

impl Votes {
    fn add(&mut self, category: ProductCategory) {
        self.all += 1.0;
        for path in ancestors(category.name()) {
            *self.by_path.entry(path).or_default() += 1.0;
        }
    }

    /// Scales the votes of one phrase. Their sum is the square root of the number of products with the phrase.
    fn of_phrase(mut self) -> Self {
        let scale = self.all.sqrt().recip();
        self.all *= scale;
        self.by_path.values_mut().for_each(|votes| *votes *= scale);
        self
    }

    fn of(&self, path: &str) -> f32 {
        self.by_path.get(path).copied().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grounds {
    Believed,
    /// Only one source names the category.
    Single,
    /// No source names the category, or only weak words that no other source confirms.
    Nothing,
}

impl<'t> Belief<'t> {
    pub(crate) fn of<'r>(table: &'t Table, readings: impl Iterator<Item = &'r Reading> + Clone) -> Self {
        let mut belief = Self {
            assortment: Assortment::of(table, readings.clone()),
            products: 0,
            named: 0,
            all: Votes::default(),
            by_phrase: FxHashMap::default(),
            types: FxHashSet::default(),
            trade: None,
            by_type: FxHashMap::default(),
        };
        for reading in readings.clone() {
            belief.products += 1;
            belief.types.extend(reading.witnesses[0].map(|typed| typed.phrase));
            if let Some(category) = belief.assortment.settle(reading) {
                belief.named += 1;
                let phrase = reading.speaking_for(category).next().map(|witness| witness.phrase);
                belief
                    .by_phrase
                    .entry(phrase.unwrap_or_default())
                    .or_default()
                    .add(category);
            }
        }
        belief.by_phrase = belief
            .by_phrase
            .into_iter()
            .map(|(phrase, votes)| (phrase, votes.of_phrase()))
            .collect();
        for votes in belief.by_phrase.values() {
            belief.all.all += votes.all;
            for (path, votes) in &votes.by_path {
                *belief.all.by_path.entry(path).or_default() += votes;
            }
        }
        belief.trade = belief.trade();
        let Some(trade) = belief.trade else { return belief };
        for reading in readings {
            let category = belief.assortment.settle(reading);
            let (Some(product_type), Some(category)) = (reading.product_type, category) else {
                continue;
            };
            if belief.grounds(reading, Some(category)) == Grounds::Believed {
                let mates = belief.by_type.entry(product_type).or_default();
                mates.all += 1.0;
                mates.of_trade += f32::from(u8::from(contains(trade.name(), category.name())));
            }
        }
        belief
    }

    /// Returns the trusted category of a product.
    pub(crate) fn settle(&self, reading: &Reading) -> Option<CategoryId> {
        let settled = self.assortment.settle(reading);
        let believed = match (self.grounds(reading, settled), settled) {
            (Grounds::Single, Some(category)) if self.may_stand(reading, category) => settled,
            (Grounds::Believed, _) => settled,
            (Grounds::Single | Grounds::Nothing, _) => self.trade_of(reading),
        };
        believed.map(|category| CategoryId(category.id()))
    }

    fn grounds(&self, reading: &Reading, settled: Option<ProductCategory>) -> Grounds {
        let Some(category) = settled else {
            return Grounds::Nothing;
        };
        let mut speaking = reading.speaking_for(category);
        let own = speaking.next();
        let is_second = |witness: &Witness| own.is_some_and(|own| own.phrase != witness.phrase);
        // A few products do not show the trade of a shop.
        let is_small = self.named < NAMED_MIN;
        let is_called_so =
            own.is_some_and(|own| reading.witnesses[0] != Some(*own) && self.types.contains(&own.phrase));
        if reading.stated
            || is_small
            || is_called_so
            || speaking.any(is_second)
            || self.is_borne_out(own, near(category), BORNE_OUT_MIN)
        {
            Grounds::Believed
        } else if reading.weak {
            Grounds::Nothing
        } else if reading.doubtful.is_none() && self.is_known() {
            Grounds::Believed
        } else {
            Grounds::Single
        }
    }

    /// Returns true if the rules know the vocabulary of the shop.
    fn is_known(&self) -> bool {
        self.named as f32 >= KNOWN_MIN * self.products as f32
    }

    /// Returns true if the shop's other phrases give this path at least this share of votes.
    fn is_borne_out(&self, own: Option<&Witness>, path: &str, share_min: f32) -> bool {
        let (mut all, mut votes) = (self.all.all, self.all.of(path));
        if let Some(own) = own.and_then(|own| self.by_phrase.get(&own.phrase)) {
            all -= own.all;
            votes -= own.of(path);
        }
        // At least one whole vote is needed, with tolerance for rounding.
        votes > 0.99 && votes >= share_min * all
    }

    /// A category may be outside of the shop's trade if the shop has no trade, or if other phrases are in the
    /// category's department.
    fn may_stand(&self, reading: &Reading, category: ProductCategory) -> bool {
        let own = reading.speaking_for(category).next();
        self.trade.is_none() || self.is_borne_out(own, department(category), DEPARTMENT_MIN)
    }

    fn trade(&self) -> Option<ProductCategory> {
        if self.named < NAMED_MIN || (self.named as f32) < NAMED_SHARE_MIN * self.products as f32 {
            return None;
        }
        let levels = |path: &str| path.split(" > ").count();
        let is_trade = |path: &str, votes: f32| {
            (LEVELS_MIN..=TRADE_LEVEL_MAX).contains(&levels(path)) && votes >= TRADE_MIN * self.all.all
        };
        let leading = self.all.by_path.iter().filter(|(path, votes)| is_trade(path, **votes));
        let order = |path: &str, votes: f32| (levels(path), votes, path.len());
        let (path, votes) = leading.max_by(|(one, own), (other, others)| {
            order(one, **own)
                .partial_cmp(&order(other, **others))
                .unwrap_or(std::cmp::Ordering::Equal)
        })?;
        let trade = ProductCategory::from_name(path).ok()?;
        let others = self
            .all
            .by_path
            .iter()
            .filter(|(path, _)| levels(path) == LEVELS_MIN && **path != near(trade));
        let next = others.map(|(_, votes)| *votes).fold(0.0, f32::max);
        (next <= NEXT_MAX * votes).then_some(trade)
    }

    /// Returns `None` for a product that cannot belong to the trade.
    fn trade_of(&self, reading: &Reading) -> Option<ProductCategory> {
        let mates = reading
            .product_type
            .and_then(|product_type| self.by_type.get(&product_type));
        let is_of_it = mates.is_none_or(|mates| mates.of_trade >= OF_TYPE_MIN * mates.all);
        // With a known vocabulary, the noun in the title must be able to name something of the trade.
        let may_be = |trade: ProductCategory| {
            let meanings = reading
                .open
                .filter(|_| self.is_known())
                .map(|noun| self.assortment.meanings(noun));
            meanings.is_none_or(|meanings| meanings.iter().any(|one| contains(trade.name(), one.name())))
        };
        self.trade
            .filter(|trade| is_of_it && !reading.no_goods && may_be(*trade))
    }
}

impl Reading {
    /// Returns the sources that agree with a category.
    fn speaking_for(&self, category: ProductCategory) -> impl Iterator<Item = &Witness> {
        let witnesses = self.witnesses.iter().flatten();
        witnesses.filter(move |witness| agree(witness.category, category))
    }
}
