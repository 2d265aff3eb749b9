//! Reads durations with their subjects and regions.

use data_model::{ShippingFact, ShippingFactKind, ShippingRegion};

use crate::item::{Days, Item, Sense};
use crate::lexicon::Concept;
use crate::pairs::FactMention;
use crate::places::PlaceMention;
use crate::sentence::Sentence;
use crate::settle::SentenceFacts;
use crate::words::Words;

/// Position, duration and region of a time statement.
type DurationSpan = (usize, Days, Option<ShippingRegion>);

impl Sentence<'_> {
    pub(crate) fn read_spans(&self, found: &mut SentenceFacts) {
        let spans = self.spans();
        let spans: Vec<(usize, Days)> = spans
            .into_iter()
            .filter(|(at, _)| !self.is_of_else_than_way(*at))
            .collect();
        let ways = [Concept::Ship, Concept::ShipVerb, Concept::Deliver, Concept::Dispatch];
        let is_promo = self.has(Concept::Promo) && !self.items.iter().any(|item| item.means_any(&ways));
        if is_promo || spans.is_empty() || self.has_extra_days() || self.has_not_come() || self.is_of_some() {
            return;
        }
        let has_region = !self.places.named.is_empty();
        let kinds = spans.iter().map(|(at, _)| (*at, self.about(*at, has_region)));
        let told = kinds.filter_map(|(at, kind)| Some(FactMention { at, kind: kind? }));
        let told: Vec<FactMention> = told.collect();
        for (FactMention { at, kind }, region) in told.iter().zip(self.scopes(&told)) {
            let days = spans.iter().find(|(span, _)| span == at);
            if let (Some((_, days)), Some(region)) = (days, region) {
                found.add(fact(*kind, (*at, *days, region), self.text));
            }
        }
    }

    /// Returns true if a duration is a period or a frequency: `for 7 days`, `every 3 days`, `over 3 days`, `2 hours to
    /// change the address`.
    pub(crate) fn is_of_else_than_way(&self, at: usize) -> bool {
        let before: Vec<&str> = self.before(at, 3).map(Item::word).collect();
        let last = before.first().copied().unwrap_or_default();
        let waits = self.has(Concept::Take) || before.iter().any(|word| matches!(*word, "wait" | "time" | "period"));
        // An extension such as `extended by 3 days` is not a shipping time.
        let is_more = before.iter().any(|word| {
            ["exten", "prolong", "increas", "verlanger"]
                .iter()
                .any(|stem| word.starts_with(stem))
        });
        let lasts = matches!(last, "for" | "of" | "durant" | "durante")
            && !waits
            && !self.before(at, 2).any(|item| item.means(Concept::Deliver));
        let is_denied = self.before(at, 6).any(|item| item.means(Concept::Not));
        let exceeds = Words("over, above, more than, every, each, uber, mehr als, plus de, mas de, alle, cada")
            .has(last)
            && !is_denied;
        let is_rate = before
            .iter()
            .any(|word| matches!(*word, "once" | "twice" | "times" | "pay"))
            && !self.items[..at]
                .iter()
                .rev()
                .take(3)
                .any(|item| item.means(Concept::Dispatch));
        let behind: Vec<&Item> = self.items.iter().skip(at + 1).take(2).collect();
        const WAYS: Words =
            Words("get, be, pack, complete, the, your, any, all, our, make, create, craft, produce, sew");
        let is_other = |item: &Item| matches!(&item.sense, Sense::Word(word) if !WAYS.has(word.as_str()));
        let serves = matches!(&behind[..], [to, other] if to.word() == "to" && is_other(other));
        lasts || exceeds || is_rate || serves || is_more
    }

    /// Returns true for days in addition to a time stated elsewhere: `an additional 3-4 days`.
    pub(crate) fn has_extra_days(&self) -> bool {
        let words = self.items.iter().map(|item| match &item.sense {
            Sense::Word(word) | Sense::Means(_, word) => word.as_str(),
            _ => "",
        });
        let mut words = words.filter(|word| matches!(*word, "additional" | "extra" | "zusatzlich" | "supplementaires"));
        // `North East may take 2-3 days more` states days in addition to another time.
        let is_more = self.items.windows(2).any(|pair| {
            let is_days = matches!(pair[0].sense, Sense::Days(_));
            is_days && matches!(&pair[1].sense, Sense::Word(word) if matches!(word.as_str(), "more" | "longer" | "mehr" | "mas"))
        });
        is_more || words.next().is_some()
    }

    /// Returns true if the sentence is about a parcel that has not arrived: `If you have not received the parcel in 15
    /// days`.
    pub(crate) fn has_not_come(&self) -> bool {
        let told = self.items.iter().enumerate();
        let mut told = told.filter(|(_, item)| item.means_any(&[Concept::Deliver, Concept::Dispatch]));
        told.any(|(at, item)| {
            self.before(at, 2)
                .any(|one| one.means(Concept::Not) && one.clause == item.clause)
        })
    }

    /// Returns true if the duration applies to unspecified regions: `Some pin codes may take 15 days`.
    pub(crate) fn is_of_some(&self) -> bool {
        const SOME: [&str; 6] = ["some", "certain", "select", "selected", "specific", "limited"];
        let some = |item: &Item| matches!(&item.sense, Sense::Means(_, word) if SOME.contains(&word.as_str()));
        self.items.iter().any(some) && self.places.named.is_empty()
    }

    /// `By the next working day` means within one day.
    fn next_day(&self) -> Option<(usize, Days)> {
        let has_clock = self.items.iter().any(|item| matches!(item.sense, Sense::Clock(_)));
        let names = |stems: &str, word: &str| stems.split(' ').any(|stem| word.contains(stem));
        let is_same = |word: &str| names("same selb gleich meme mismo", word);
        let told = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.means(Concept::SameDay));
        // `the same or the next day` means within one day.
        let told = told
            .map(|(at, item)| (at, item.word()))
            .min_by_key(|(_, word)| is_same(word));
        let (at, word) = told.filter(|(_, word)| !has_clock && names(NEXT_DAY, word))?;
        let is_bound = self
            .before(at, 2)
            .any(|item| item.means_any(&[Concept::Before, Concept::Within]));
        let in_working_days = names("working business werktag ouvre habil laborable", word);
        // `dispatched the next business day` and `Ships same day` apply to every order.
        let leaves = [Concept::Dispatch, Concept::ShipVerb];
        let unsure = [
            Concept::After,
            Concept::Hedge,
            Concept::Special,
            Concept::Stray,
            Concept::Not,
        ];
        let is_plain = self.items.iter().any(|item| item.means_any(&leaves))
            && !self.has(Concept::Deliver)
            && self.places.named.is_empty()
            && !self
                .items
                .iter()
                .any(|item| matches!(item.sense, Sense::Weekdays(_)) || item.means_any(&unsure));
        let max = u16::from(!is_same(word));
        (is_bound && max > 0 || is_plain).then_some((
            at,
            Days {
                min: None,
                max: Some(max),
                in_working_days: in_working_days && max > 0,
            },
        ))
    }

    /// Treats a duration as a maximum if the limiting word is not directly before it: `the maximum delivery time is 7
    /// days`, Hindi `2 din ke andar`.
    fn limited(&self, at: usize, days: Days) -> Days {
        const BEHIND: [&str; 6] = ["ke andar", "ke bhitar", "tak", "mein", "me", "mai"];
        let is_behind = self.items.get(at + 1).is_some_and(|item| BEHIND.contains(&item.word()));
        let clause = self.items[at].clause;
        let ahead = self.before(at, 6).take_while(|item| item.clause == clause);
        let mut ahead = ahead.filter(|item| item.means(Concept::Most));
        let is_ahead = ahead.any(|item| ["max", "hochst"].iter().any(|limit| item.word().starts_with(limit)));
        // `7 days delivery guarantee` is a promise of at most 7 days.
        let is_promise = self
            .items
            .iter()
            .any(|item| ["guarant", "garant"].iter().any(|stem| item.word().starts_with(stem)));
        // `Not more than 7 days` is a limit.
        let is_exceeded = self
            .before(at, 1)
            .any(|item| matches!(item.word(), "more than" | "mehr als" | "plus de" | "mas de"));
        let is_ahead = is_ahead || is_exceeded;
        if days.min == days.max && (is_behind || is_ahead || is_promise) {
            Days { min: None, ..days }
        } else {
            days
        }
    }

    /// Returns the durations. A number range without a unit is in days if the sentence contains a duration with a unit.
    pub(crate) fn spans(&self) -> Vec<(usize, Days)> {
        let with_unit = self.items.iter().filter_map(|item| match item.sense {
            Sense::Days(days) => Some(days),
            _ => None,
        });
        let with_unit: Vec<Days> = with_unit.collect();
        let Some(last) = with_unit.last().copied() else {
            return self.next_day().into_iter().collect();
        };
        let mut spans: Vec<(usize, Days)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            match item.sense {
                Sense::Days(days) => spans.push((at, self.limited(at, days))),
                Sense::Bare(min, max) if min < max && max <= 60_000 && min % 1_000 == 0 && max % 1_000 == 0 => {
                    let narrow = |thousandths: i64| u16::try_from(thousandths / 1_000).ok();
                    spans.push((
                        at,
                        Days {
                            min: narrow(min),
                            max: narrow(max),
                            ..last
                        },
                    ));
                }
                _ => {}
            }
        }
        // `A minimum of 2 days and a maximum of 10 days` is one range.
        if let [(at, low), (_, high)] = spans[..]
            && (low.max, high.min) == (None, None)
        {
            return vec![(at, Days { min: low.min, ..high })];
        }
        // `3 days to 5 days` is one range.
        let joins = |item: &Item| match &item.sense {
            Sense::Word(word) => matches!(word.as_str(), "to" | "bis" | "a"),
            sense => *sense == Sense::Sign('-'),
        };
        let mut at = 0;
        while at + 1 < spans.len() {
            let ((one, low), (other, high)) = (spans[at], spans[at + 1]);
            let is_single = low.min == low.max || low.min.is_none();
            let is_range = other == one + 2 && joins(&self.items[one + 1]) && is_single && low.max <= high.max;
            if is_range {
                spans[at].1 = Days { min: low.max, ..high };
                spans.remove(at + 1);
            }
            at += 1;
        }
        spans
    }

    /// Returns the subject of a duration.
    pub(crate) fn about(&self, at: usize, has_region: bool) -> Option<ShippingFactKind> {
        let clause = self.items[at].clause;
        let ways = [Concept::Ship, Concept::Deliver, Concept::Dispatch];
        let is_way = |at: &usize| self.items[*at].means_any(&ways);
        if (0..self.items.len())
            .filter(is_way)
            .any(|at| self.is_of_goods_by_name(at))
        {
            return None;
        }
        let kind = |item: &Item| match item {
            item if item.means(Concept::Deliver) => Some(ShippingFactKind::Delivery),
            item if item.means_any(&[Concept::Dispatch, Concept::ShipVerb]) => Some(ShippingFactKind::Dispatch),
            _ => None,
        };
        let cues: Vec<(usize, ShippingFactKind)> = self
            .items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some((index, kind(item)?)))
            .filter(|(index, _)| {
                index.abs_diff(at) <= NEAR_MAX && !self.is_origin(*index) && !self.is_shipped_to(*index, at)
            })
            .collect();
        let here = |(index, _): &&(usize, ShippingFactKind)| self.items[*index].clause == clause;
        let left = |(index, _): &&(usize, ShippingFactKind)| *index < at;
        let found = (cues.iter().filter(here).rfind(left)).or_else(|| cues.iter().filter(here).find(|cue| !left(cue)));
        // The clause may name the subject after the duration: `and 5-7 days for delivery`.
        let is_here = |index: usize| {
            let item = &self.items[index];
            // A courier is named as a company, not as shipping.
            item.clause == clause && item.means(Concept::Ship) && !item.word().contains("courier")
        };
        if found.is_none() && (0..self.items.len()).any(|index| is_here(index) && !self.is_origin(index)) {
            return Some(ShippingFactKind::Delivery);
        }
        let found = found.or_else(|| cues.iter().rfind(left)).or_else(|| cues.first());
        if let Some((_, kind)) = found {
            return Some(*kind);
        }
        let near = &self.items[at.saturating_sub(NEAR_MAX)..(at + NEAR_MAX).min(self.items.len())];
        let has_near = |concept| near.iter().any(|item| item.means(concept));
        let is_thing = has_near(Concept::Order) || has_near(Concept::Parcel);
        // `Within 24 hours of delivery` starts at the delivery and is not a delivery time.
        let is_ship = |index: usize| {
            index.abs_diff(at) <= NEAR_MAX && self.items[index].means(Concept::Ship) && !self.is_origin(index)
        };
        let is_way = (0..self.items.len()).any(is_ship)
            || (has_region && self.items.len() <= SHORT_MAX)
            || (is_thing && has_near(Concept::Take));
        let origin = self
            .items
            .iter()
            .enumerate()
            .any(|(index, item)| kind(item).is_some() && self.is_origin(index));
        let delivers = |index: usize| is_ship(index) && self.items[index].word().starts_with("deliver");
        // Dispatch does not depend on the destination.
        let is_answer = self.is_answer();
        if self.asked.dispatch && is_answer && !has_region && !(0..self.items.len()).any(delivers) {
            Some(ShippingFactKind::Dispatch)
        } else if is_way
            || (self.asked.delivery && is_answer)
            || (origin && self.has(Concept::Take))
            || self.has_domestic()
        {
            Some(ShippingFactKind::Delivery)
        } else {
            None
        }
    }

    /// Returns true if the sentence contains little besides a duration, like an answer or a line below a heading.
    fn is_answer(&self) -> bool {
        const PLAIN: Words = Words(
            "it, is, are, will, be, usually, about, approximately, approx, around, the, a, an, of, to, on, your, you, we, our, location, \
             generally, normally, typically, only, just, then, that, please, from, most, all, and, in, at, for, this, next, up, date, day, days, hain, hai, \
             ka, time, ca, etwa, circa, environ, unos, es, sie, wir, il, elle, se, en, der, die, das, le, la, les, el, los, de, des, more",
        );
        let is_other = |item: &&Item| matches!(&item.sense, Sense::Word(word) if !PLAIN.has(word));
        !self.has(Concept::Support) && self.items.iter().filter(is_other).count() <= 1
    }

    fn has_domestic(&self) -> bool {
        self.has(Concept::Domestic)
    }

    /// Returns true if a destination shows that the duration is a delivery time and not dispatch: `We ship to Dubai in
    /// 5 days`, `Ships across India in 5 days`.
    fn is_shipped_to(&self, at: usize, days: usize) -> bool {
        let is_to = self.items.get(at + 1).is_some_and(|item| item.word() == "to");
        let is_goal = |place: &PlaceMention| {
            (at..days).contains(&place.at) && self.items[place.at].clause == self.items[at].clause
        };
        (is_to || self.places.named.iter().any(is_goal))
            && self.items[at].means(Concept::ShipVerb)
            && !self.items[at].means(Concept::Deliver)
    }

    /// Returns true for phrases such as `Delivery of sofas`.
    pub(crate) fn is_of_goods_by_name(&self, at: usize) -> bool {
        let of = self.items.get(at + 1).map(|item| &item.sense);
        matches!(of, Some(Sense::Word(word) | Sense::Means(_, word)) if word == "of") && !self.is_plain_object(at + 2)
    }

    /// Returns true if the sentence speaks of a dispatch, from which days of delivery may count: `5 days once shipped`.
    pub(crate) fn mentions_dispatch(&self) -> bool {
        let is_start = |at: usize| self.items[at].means(Concept::ShipVerb) && self.is_origin(at);
        self.has(Concept::Dispatch) || (0..self.items.len()).any(is_start)
    }

    /// Returns true if a duration starts or ends at this event: `after dispatch`.
    fn is_origin(&self, at: usize) -> bool {
        const STRONG: Words = Words("after, once, when, nach, apres, despues de, following, from the date of, post");
        let clause = self.items[at].clause;
        let near = self.items[at.saturating_sub(6)..at].iter().rev();
        for (distance, item) in near.enumerate() {
            if item.clause != clause || matches!(item.sense, Sense::Days(_)) {
                return false;
            }
            // In `tiempo de preparación`, the word names the duration itself.
            let of_time = at.checked_sub(distance + 2).map(|at| &self.items[at].sense);
            if matches!(of_time, Some(Sense::Word(word)) if TIME.has(word.as_str())) {
                return false;
            }
            // `Ready in 5 days before dispatch` is about dispatch.
            let is_before = distance == 0 && matches!(item.word(), "before" | "vor" | "avant" | "antes de");
            let is_following = item.means(Concept::Following) && (!is_before || self.items[at].means(Concept::Deliver));
            let is_strong = matches!(&item.sense, Sense::Means(_, word) if STRONG.has(word.as_str()));
            if is_following && (distance == 0 || is_strong) {
                return true;
            }
        }
        false
    }
}

/// Maximum number of items of a sentence in which the name of a region suffices to indicate shipping.
const SHORT_MAX: usize = 24;
/// Maximum number of items between a duration and its subject.
const NEAR_MAX: usize = 10;
/// Words for `time of` before the name of a process.
const TIME: Words = Words("tiempo, tiempos, plazo, plazos, delai, delais, temps, duree");

/// Words that mean the next or the same day.
const NEXT_DAY: &str = "next following nachste folge suivant siguiente same selb gleich meme mismo";

fn fact(kind: ShippingFactKind, (_, days, region): DurationSpan, text: &str) -> ShippingFact {
    ShippingFact {
        region,
        days_min: days.min,
        days_max: days.max,
        in_working_days: Some(days.in_working_days),
        ..ShippingFact::new(kind, text)
    }
}
