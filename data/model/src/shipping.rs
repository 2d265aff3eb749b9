use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The facts of a store's text about shipping, each with the sentence that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingTerms {
    /// The address of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// When it was read.
    pub observed_at: Timestamp,
    /// Its facts, in the order of [`ShippingFactKind`].
    pub facts: Vec<ShippingFact>,
    /// Kinds of facts that are not known, with the reason; each kind at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownTerm>,
}

impl ShippingTerms {
    /// The facts of one kind.
    pub fn of(&self, kind: ShippingFactKind) -> impl Iterator<Item = &ShippingFact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// The days from the order to the dispatch that the text promises for every order.
    #[must_use]
    pub fn dispatch(&self) -> Option<DaySpan> {
        self.of(ShippingFactKind::Dispatch)
            .find(|fact| fact.is_general())
            .and_then(ShippingFact::days)
    }

    /// The days of transit to a region. For an unknown region, or one that the text says nothing of alone, those that
    /// hold for all of the country; `None` where one of its regions is not mentioned, and abroad where the text says
    /// nothing of it.
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
            // Remote places are seldom kept apart, and then belong to the rest.
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

    /// True where a language model read any fact of these kinds.
    #[must_use]
    pub fn is_of_model(&self, kinds: &[ShippingFactKind]) -> bool {
        let mut facts = self.facts.iter().filter(|fact| kinds.contains(&fact.kind));
        facts.any(|fact| fact.basis == FactBasis::Model)
    }

    /// The reason why a kind of fact is not known.
    #[must_use]
    pub fn reason(&self, kind: ShippingFactKind) -> Option<UnknownReason> {
        let unknown = self.unknown.iter().find(|unknown| unknown.kind == kind);
        unknown.map(|unknown| unknown.reason)
    }
}

/// Days, both bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySpan {
    /// Fewest.
    pub min: u16,
    /// Most; `None` where only the fewest are stated.
    pub max: Option<u16>,
    /// `true` where they are working days.
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

/// One thing that a store's text says of shipping. The kind decides about the members that are set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingFact {
    /// Its kind.
    pub kind: ShippingFactKind,
    /// Its region; everywhere in the store's country when `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<ShippingRegion>,
    /// Its payment; any when `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentKind>,
    /// Of cash on delivery: whether there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_available: Option<bool>,
    /// Of a fee: how much, in minor units; of a range its least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_minor: Option<i64>,
    /// Of a fee that is a range: its most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_max_minor: Option<i64>,
    /// Of an advance: how much of the order's value, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u16>,
    /// Order value from which it holds, in minor units. Of free shipping: the threshold, 0 for every order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_order_minor: Option<i64>,
    /// Order value up to which it holds, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_order_minor: Option<i64>,
    /// Weight from which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_grams: Option<u32>,
    /// Weight up to which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_grams: Option<u32>,
    /// Fewest days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_min: Option<u16>,
    /// Most days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_max: Option<u16>,
    /// `true` where the days are working days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_working_days: Option<bool>,
    /// Of a cut-off: minutes after midnight in the store's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute_of_day: Option<u16>,
    /// Of working days: bit 0 is Monday, bit 6 is Sunday.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekdays: Option<u8>,
    /// The sentence it was read from.
    pub sentence: String,
    /// The address of that sentence; that of the terms when `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// The reader that found it there. All facts of a kind have one basis.
    #[serde(default, skip_serializing_if = "FactBasis::is_rules")]
    pub basis: FactBasis,
}

impl ShippingFact {
    /// A fact of which nothing is set but its kind and sentence.
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

    /// `true` where it holds in all of the store's country and for every payment.
    #[must_use]
    pub fn is_general(&self) -> bool {
        matches!(self.region, None | Some(ShippingRegion::Domestic)) && self.payment.is_none()
    }

    /// Its days; `None` where it has none, or where the most is below the fewest.
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

/// Something that a text does not state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTerm {
    /// The kind of fact.
    pub kind: ShippingFactKind,
    /// The reason.
    pub reason: UnknownReason,
    /// The sentence that is to blame, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// Writes and reads the names of an enumeration, as JSON and tables have them.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|one| one.as_str() == text);
                found.copied().ok_or(UnknownName)
            }
        }
    };
}

/// A name of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such name")]
pub struct UnknownName;

named! {
    /// The kind of a fact of shipping.
    ShippingFactKind {
        /// The order value from which shipping is free.
        FreeShipping = "free_shipping",
        /// The cost of shipping.
        Fee = "fee",
        /// Cash on delivery: its offer, and the orders that it is for.
        Cod = "cod",
        /// The cost of cash on delivery beside shipping.
        CodFee = "cod_fee",
        /// The part of a cash order that is paid in advance.
        CodAdvance = "cod_advance",
        /// Days from the order to the dispatch.
        Dispatch = "dispatch",
        /// Days from the dispatch to the buyer.
        Delivery = "delivery",
        /// The time of day up to which an order is handled the same day.
        CutOff = "cut_off",
        /// The days of the week on which orders are handled.
        WorkingDays = "working_days",
    }
}

named! {
    /// The region of a fact of shipping.
    ShippingRegion {
        /// All of the store's country.
        Domestic = "domestic",
        /// Its large cities.
        Metro = "metro",
        /// Places that are neither a large city nor remote.
        Rest = "rest",
        /// Hills, islands, border states.
        Remote = "remote",
        /// Other countries.
        Abroad = "abroad",
        /// A place that the sentence names.
        Place = "place",
    }
}

named! {
    /// The payment of a buyer, as far as it matters to shipping.
    PaymentKind {
        /// In advance.
        Prepaid = "prepaid",
        /// At the door.
        Cod = "cod",
    }
}

named! {
    /// The reader of a fact of shipping.
    #[derive(Default)]
    FactBasis {
        /// Rules alone.
        #[default]
        Rules = "rules",
        /// A language model proposed it, and the sentence has its figures, its direction and its place. That the sentence is
        /// about it, the model says.
        Model = "model",
    }
}

impl FactBasis {
    /// True where rules alone read it.
    #[must_use]
    pub const fn is_rules(&self) -> bool {
        matches!(self, Self::Rules)
    }
}

named! {
    /// The reason why a term is not known.
    UnknownReason {
        /// The text says nothing of it.
        NotStated = "not_stated",
        /// The text has a blank or a placeholder where it would stand.
        Template = "template",
        /// The text says two things that cannot both hold.
        Contradiction = "contradiction",
        /// The text says that it is stated elsewhere, as at the checkout.
        ToldElsewhere = "told_elsewhere",
        /// The amount is not in the store's currency.
        OtherCurrency = "other_currency",
    }
}
