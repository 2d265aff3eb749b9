use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Facts from a store's shipping text, each with the sentence that states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingTerms {
    /// URL of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// Time at which the text was read.
    pub observed_at: Timestamp,
    /// Facts from the text, in the order of [`ShippingFactKind`].
    pub facts: Vec<ShippingFact>,
    /// Kinds of facts that are unknown, with the reason. Each kind occurs at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownTerm>,
}

impl ShippingTerms {
    /// Returns the facts of one kind.
    pub fn of(&self, kind: ShippingFactKind) -> impl Iterator<Item = &ShippingFact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// Returns the days from order to dispatch that the text promises for every order.
    #[must_use]
    pub fn dispatch(&self) -> Option<DaySpan> {
        self.of(ShippingFactKind::Dispatch)
            .find(|fact| fact.is_general())
            .and_then(ShippingFact::days)
    }

    /// Returns `true` if the text does not mention the dispatch at all, so that its days of delivery count from the
    /// order. A text that mentions the dispatch without its time is the sentence of the unknown term.
    #[must_use]
    pub fn counts_from_order(&self) -> bool {
        let mut unknown = self.unknown.iter();
        unknown.any(|unknown| {
            unknown.kind == ShippingFactKind::Dispatch
                && unknown.reason == UnknownReason::NotStated
                && unknown.sentence.is_none()
        })
    }

    /// Returns the transit days to a region.
    ///
    /// For an unknown region, or one that the text does not mention, returns the days for the whole country. Returns
    /// `None` if one of the country's regions is not mentioned. For delivery abroad, returns `None` if the text does
    /// not mention delivery abroad.
    #[must_use]
    pub fn delivery(&self, region: Option<ShippingRegion>) -> Option<DaySpan> {
        let told = |wanted: ShippingRegion| {
            let facts = self.of(ShippingFactKind::Delivery);
            facts
                .filter(|fact| fact.payment.is_none() && fact.region == Some(wanted))
                .find_map(ShippingFact::days)
        };
        let general = self.of(ShippingFactKind::Delivery);
        let general = general.filter(|fact| fact.is_general()).find_map(ShippingFact::days);
        let own = region.and_then(told);
        if region == Some(ShippingRegion::Abroad) {
            return own;
        }
        own.or(general).or_else(|| {
            // Texts seldom mention remote places, so that they count as part of the rest of the country.
            let (metro, rest) = (told(ShippingRegion::Metro)?, told(ShippingRegion::Rest)?);
            match region {
                Some(ShippingRegion::Place) => None,
                _ => {
                    let remote = told(ShippingRegion::Remote).unwrap_or(rest);
                    Some(metro.widest(rest).widest(remote))
                }
            }
        })
    }

    /// Returns `true` if a language model read any fact of these kinds.
    #[must_use]
    pub fn is_of_model(&self, kinds: &[ShippingFactKind]) -> bool {
        let mut facts = self.facts.iter().filter(|fact| kinds.contains(&fact.kind));
        facts.any(|fact| fact.basis == FactBasis::Model)
    }

    /// Returns the reason why a kind of fact is unknown.
    #[must_use]
    pub fn reason(&self, kind: ShippingFactKind) -> Option<UnknownReason> {
        let unknown = self.unknown.iter().find(|unknown| unknown.kind == kind);
        unknown.map(|unknown| unknown.reason)
    }
}

/// A range of days with both bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySpan {
    /// Minimum number of days.
    pub min: u16,
    /// Maximum number of days. `None` if only the minimum is stated.
    pub max: Option<u16>,
    /// `true` if the days are working days.
    pub in_working_days: bool,
}

impl DaySpan {
    fn widest(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.zip(other.max).map(|(one, other)| one.max(other)),
            in_working_days: self.in_working_days || other.in_working_days,
        }
    }
}

/// One fact about shipping in a store's text. The kind determines the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingFact {
    /// Kind of the fact.
    pub kind: ShippingFactKind,
    /// Region to which the fact applies. `None` means everywhere in the store's country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<ShippingRegion>,
    /// Payment method to which the fact applies. `None` means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentKind>,
    /// For cash on delivery: `true` if the store offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_available: Option<bool>,
    /// For a fee: the amount in minor units. For a range of fees: the minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_minor: Option<i64>,
    /// For a range of fees: the maximum, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_max_minor: Option<i64>,
    /// For an advance payment: the percentage of the order value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u16>,
    /// Minimum order value for the fact, in minor units. For free shipping: the threshold, where 0 means every order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_order_minor: Option<i64>,
    /// Maximum order value for the fact, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_order_minor: Option<i64>,
    /// Minimum weight for the fact, in grams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_grams: Option<u32>,
    /// Maximum weight for the fact, in grams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_grams: Option<u32>,
    /// Minimum number of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_min: Option<u16>,
    /// Maximum number of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_max: Option<u16>,
    /// `true` if the days are working days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_working_days: Option<bool>,
    /// For a cut-off time: minutes after midnight in the store's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute_of_day: Option<u16>,
    /// For working days: a bit mask in which bit 0 is Monday and bit 6 is Sunday.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekdays: Option<u8>,
    /// Sentence that states the fact.
    pub sentence: String,
    /// URL of the page with that sentence. `None` stands for the URL of the terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// Method of reading the fact. All facts of one kind have the same method.
    #[serde(default, skip_serializing_if = "FactBasis::is_rules")]
    pub basis: FactBasis,
}

impl ShippingFact {
    /// Creates a fact with only its kind and sentence set.
    #[must_use]
    pub fn new(kind: ShippingFactKind, sentence: impl Into<String>) -> Self {
        Self {
            kind,
            region: None,
            payment: None,
            is_available: None,
            amount_minor: None,
            amount_max_minor: None,
            percent: None,
            min_order_minor: None,
            max_order_minor: None,
            min_grams: None,
            max_grams: None,
            days_min: None,
            days_max: None,
            in_working_days: None,
            minute_of_day: None,
            weekdays: None,
            sentence: sentence.into(),
            source_url: None,
            basis: FactBasis::Rules,
        }
    }

    /// Returns `true` if the fact applies in the store's whole country and for every payment method.
    #[must_use]
    pub fn is_general(&self) -> bool {
        matches!(self.region, None | Some(ShippingRegion::Domestic)) && self.payment.is_none()
    }

    /// Returns the days of the fact, or `None` if it has none or the maximum is below the minimum.
    #[must_use]
    pub fn days(&self) -> Option<DaySpan> {
        let min = self.days_min.or(self.days_max.map(|_| 0))?;
        let is_contrary = self.days_max.is_some_and(|max| max < min);
        (!is_contrary).then_some(DaySpan {
            min,
            max: self.days_max,
            in_working_days: self.in_working_days == Some(true),
        })
    }
}

/// A shipping term that a text does not state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTerm {
    /// The kind of fact.
    pub kind: ShippingFactKind,
    /// Reason why the term is unknown.
    pub reason: UnknownReason,
    /// Sentence that caused the term to be unknown, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// Error: the name does not belong to any variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such name")]
pub struct UnknownName;

macro_rules! from_name {
    ($($name:ident),*) => {$(
        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::named(text).ok_or(UnknownName)
            }
        }
    )*};
}

from_name!(ShippingFactKind, ShippingRegion, PaymentKind, UnknownReason);

crate::named! {
    /// Kind of a shipping fact.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ShippingFactKind {
        /// Order value above which shipping is free.
        FreeShipping = "free_shipping",
        /// Cost of shipping.
        Fee = "fee",
        /// Cash on delivery: its availability and the orders that qualify.
        Cod = "cod",
        /// Extra charge for cash on delivery, in addition to shipping.
        CodFee = "cod_fee",
        /// Part of a cash-on-delivery order that is paid in advance.
        CodAdvance = "cod_advance",
        /// Days from the order to the dispatch.
        Dispatch = "dispatch",
        /// Days from the dispatch to the buyer.
        Delivery = "delivery",
        /// Time of day before which orders are processed the same day.
        CutOff = "cut_off",
        /// Days of the week on which orders are processed.
        WorkingDays = "working_days",
    }
}

crate::named! {
    /// Region to which a shipping fact applies.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ShippingRegion {
        /// The store's whole country.
        Domestic = "domestic",
        /// Large cities of the country.
        Metro = "metro",
        /// Places that are neither large cities nor remote.
        Rest = "rest",
        /// Remote places: hills, islands and border states.
        Remote = "remote",
        /// Countries other than the store's country.
        Abroad = "abroad",
        /// A place that the sentence names.
        Place = "place",
    }
}

crate::named! {
    /// Payment method of a buyer, as far as it affects shipping.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PaymentKind {
        /// Payment in advance.
        Prepaid = "prepaid",
        /// Payment on delivery.
        Cod = "cod",
    }
}

crate::named! {
    /// Method by which a shipping fact was read.
    #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FactBasis {
        /// The fact was parsed by rules, without a language model.
        #[default]
        Rules = "rules",
        /// A language model proposed the fact. The sentence was checked to contain the figures, direction and place of
        /// the fact. Only the model asserts that the sentence is about the fact.
        Model = "model",
    }
}

impl FactBasis {
    /// Returns `true` if the fact was parsed by rules, without a language model.
    #[must_use]
    pub const fn is_rules(&self) -> bool {
        matches!(self, Self::Rules)
    }
}

crate::named! {
    /// Reason why a shipping term is unknown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum UnknownReason {
        /// The text does not mention the term.
        NotStated = "not_stated",
        /// The text has a blank or a placeholder where the term should be.
        Template = "template",
        /// The text makes two statements that contradict each other.
        Contradiction = "contradiction",
        /// The text refers to another place for the term, for example the checkout.
        ToldElsewhere = "told_elsewhere",
        /// The amount is not in the store's currency.
        OtherCurrency = "other_currency",
    }
}
