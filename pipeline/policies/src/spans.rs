//! Amounts and durations, and what durations are about.

use data_model::{CurrencyCode, ShippingFact, ShippingFactKind, ShippingRegion};

use crate::lexicon::Concept;
use crate::numbers::{in_words, multiplier};
use crate::sentence::{Amount, Days, Item, Sense, Sentence};
use crate::settle::Found;
use crate::token::Token;

/// Longest that anything takes; what is longer is no duration of shipping.
const DAYS_MAX: i64 = 180;

#[derive(Debug, Clone, Copy)]
enum Unit {
    Hours,
    Days,
    WorkingDays,
    Weeks,
}

/// Reads an amount, a duration, a share, a weight, a time of day or a range of numbers that stands at the beginning.
pub(crate) fn quantity(tokens: &[Token], before: Option<&Item>, currency: CurrencyCode) -> Option<(Sense, usize)> {
    if let [Token::Clock(minutes), Token::Word(half), ..] = tokens
        && let Some(hour) = clock(i64::from(minutes / 60) * 100, half)
    {
        return Some((Sense::Clock(hour + minutes % 60), 2));
    }
    let mut at = 0;
    let mut mark = mark(&tokens[0]);
    if mark.is_some() {
        at += 1;
        while tokens.get(at).is_some_and(|token| token.is('.') || token.is(':')) {
            at += 1;
        }
        if tokens.get(at).and_then(self::mark).is_some() {
            at += 1;
        }
    }
    let (min, mut at) = number(tokens, at)?;
    let mut marked = |at: &mut usize| {
        if let Some(behind) = tokens.get(*at).and_then(self::mark) {
            mark = mark.or(Some(behind));
            *at += 1;
        }
    };
    marked(&mut at);
    let mut max = None;
    let is_between = before.is_some_and(|item| item.means(Concept::Between));
    if tokens.get(at).is_some_and(|token| joins(token, is_between)) {
        let mut next = at + 1;
        let mut behind = tokens.get(next).and_then(self::mark);
        if behind.is_some() {
            next += 1;
            next += usize::from(tokens.get(next).is_some_and(|token| token.is('.')));
        }
        if let Some((number, mut next)) = number(tokens, next) {
            if let Some(mark) = tokens.get(next).and_then(self::mark) {
                behind = Some(mark);
                next += 1;
            }
            mark = mark.or(behind);
            (max, at) = (Some(number), next);
        }
    }
    let of = Range { min, max, before };
    if mark.is_none()
        && let Some(found) = measured(&of, tokens, at)
    {
        return Some(found);
    }
    let is_open = tokens.get(at).is_some_and(|token| token.is('+'));
    let at = at + usize::from(is_open);
    if let Some(mark) = mark {
        let (min, max) = (minor(min, currency)?, minor(max.unwrap_or(min), currency)?);
        let is_foreign = !is_of(mark, currency);
        let amount = Amount {
            min,
            max,
            is_foreign,
            is_open,
        };
        return Some((Sense::Money(amount), at));
    }
    tokens[0]
        .word()
        .is_none()
        .then_some((Sense::Bare(min, max.unwrap_or(min)), at))
}

/// A range of numbers, in hundredths.
#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    min: i64,
    max: Option<i64>,
    before: Option<&'a Item>,
}

/// What the words after a number make of it.
fn measured(of: &Range<'_>, tokens: &[Token], at: usize) -> Option<(Sense, usize)> {
    let token = tokens.get(at)?;
    let highest = of.max.unwrap_or(of.min);
    if token.is('%') || token.word().is_some_and(|word| matches!(word, "percent" | "prozent")) {
        let percent = u16::try_from(highest / 100).ok().filter(|percent| *percent <= 100)?;
        return Some((Sense::Percent(percent), at + 1));
    }
    let word = token.word();
    if let Some(word) = word {
        let grams = match word {
            "g" | "gm" | "gms" | "gram" | "grams" | "gramm" | "grammes" | "gramos" => Some(highest / 100),
            "kg" | "kgs" | "kilo" | "kilos" | "kilogram" => Some(highest * 10),
            _ => None,
        };
        if let Some(grams) = grams {
            return Some((Sense::Grams(u32::try_from(grams).ok()?), at + 1));
        }
        if let Some(found) = clock(highest, word) {
            return of.max.is_none().then_some((Sense::Clock(found), at + 1));
        }
    }
    let (unit, at) = unit(tokens, at)?;
    Some((Sense::Days(days(of, unit)?), at))
}

fn clock(hundredths: i64, word: &str) -> Option<u16> {
    let hour = u16::try_from(hundredths / 100).ok()?;
    let minutes = u16::try_from(hundredths % 100).ok().filter(|minutes| *minutes < 60)?;
    let hour = match word {
        "pm" if hour < 12 => hour + 12,
        "noon" | "pm" if hour == 12 => 12,
        "am" if hour == 12 => 0,
        "am" | "uhr" | "h" if hour < 24 => hour,
        _ => return None,
    };
    (hour < 24).then_some(hour * 60 + minutes)
}

fn unit(tokens: &[Token], from: usize) -> Option<(Unit, usize)> {
    const WORKING: &[&str] = &[
        "working",
        "business",
        "ouvres",
        "ouvrables",
        "ouvre",
        "habiles",
        "laborables",
        "habil",
        "laborable",
    ];
    let word = |at: usize| tokens.get(at).and_then(Token::word);
    let (mut at, mut is_working) = (from, false);
    // `5 (five) business days`
    while let Some(ahead) = word(at) {
        match ahead {
            _ if WORKING.contains(&ahead) => is_working = true,
            "full" | "calendar" | "more" | "natural" => {}
            _ => break,
        }
        at += 1;
    }
    let unit = match word(at)? {
        "day" | "days" | "tag" | "tage" | "tagen" | "jour" | "jours" | "dia" | "dias" | "din" | "dino" => Unit::Days,
        "werktag" | "werktage" | "werktagen" | "werktags" | "arbeitstag" | "arbeitstage" | "arbeitstagen" => {
            Unit::WorkingDays
        }
        "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana" | "semanas" | "hafte" => Unit::Weeks,
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "heure" | "heures" | "hora" | "horas" | "ghante"
        | "h" => Unit::Hours,
        _ => return None,
    };
    at += 1;
    if word(at).is_some_and(|word| WORKING.contains(&word)) {
        is_working = true;
        at += 1;
    }
    let unit = if is_working && matches!(unit, Unit::Days) {
        Unit::WorkingDays
    } else {
        unit
    };
    Some((unit, at))
}

fn days(of: &Range<'_>, unit: Unit) -> Option<Days> {
    let whole = |hundredths: i64, rounded_up: i64| match unit {
        Unit::Hours => (hundredths / 100 + rounded_up) / 24,
        Unit::Weeks => hundredths * 7 / 100,
        Unit::Days | Unit::WorkingDays => hundredths / 100,
    };
    let narrow = |days: i64| u16::try_from(days).ok().filter(|days| i64::from(*days) <= DAYS_MAX);
    let highest = narrow(whole(of.max.unwrap_or(of.min), 23))?;
    let lowest = narrow(whole(of.min, 0))?;
    let is_single = of.max.is_none();
    let is = |concept| of.before.is_some_and(|item| item.means(concept));
    let (min, max) = if !is_single {
        (Some(lowest), Some(highest))
    } else if is(Concept::Within) || is(Concept::Most) || matches!(unit, Unit::Hours) {
        (None, Some(highest))
    } else if is(Concept::Least) {
        (Some(lowest), None)
    } else {
        (Some(lowest), Some(highest))
    };
    let in_working_days = matches!(unit, Unit::WorkingDays);
    let is_range = min.zip(max).is_none_or(|(min, max)| min <= max);
    is_range.then_some(Days {
        min,
        max,
        in_working_days,
    })
}

/// A number at a place, and what follows it.
fn number(tokens: &[Token], at: usize) -> Option<(i64, usize)> {
    let (number, mut at) = match tokens.get(at)? {
        Token::Number(number) => (*number, at + 1),
        // `two business days`, and not `one of`.
        Token::Word(word) => {
            let number = in_words(word)? * 100;
            let is_counted =
                unit(tokens, at + 1).is_some() || tokens.get(at + 1).is_some_and(|token| joins(token, false));
            (is_counted.then_some(number)?, at + 1)
        }
        _ => return None,
    };
    let times = tokens.get(at).and_then(Token::word).and_then(multiplier);
    at += usize::from(times.is_some());
    at += usize::from(tokens.get(at).is_some_and(|token| token.is('¤')) && times.is_some());
    Some((number.checked_mul(times.unwrap_or(1))?, at))
}

fn joins(token: &Token, is_between: bool) -> bool {
    token.is('-')
        || token.word().is_some_and(|word| match word {
            "to" | "bis" | "a" | "se" => true,
            "and" | "und" | "et" | "y" => is_between,
            _ => false,
        })
}

/// The sign of a currency.
fn mark(token: &Token) -> Option<&'static str> {
    match token {
        Token::Sign('₹') => Some("INR"),
        Token::Sign('€') => Some("EUR"),
        Token::Sign('£') => Some("GBP"),
        Token::Sign('$') => Some("$"),
        Token::Sign('¤') => Some(""),
        Token::Word(word) => match word.as_str() {
            "rs" | "re" | "rupees" | "rupee" | "rupaye" | "rupaiye" | "rupay" => Some("Rs"),
            "inr" => Some("INR"),
            "eur" | "euro" | "euros" => Some("EUR"),
            "gbp" => Some("GBP"),
            "usd" | "dollars" => Some("USD"),
            "aed" => Some("AED"),
            _ => None,
        },
        _ => None,
    }
}

fn is_of(mark: &str, currency: CurrencyCode) -> bool {
    let code = currency.as_str();
    match mark {
        "" => true,
        "Rs" => matches!(code, "INR" | "PKR" | "LKR" | "NPR" | "MUR"),
        "$" => matches!(code, "USD" | "AUD" | "CAD" | "NZD" | "SGD" | "HKD" | "MXN"),
        mark => mark == code,
    }
}

/// Hundredths of the main unit in the currency's minor unit.
fn minor(hundredths: i64, currency: CurrencyCode) -> Option<i64> {
    match currency.exponent() {
        0 => Some(hundredths / 100),
        2 => Some(hundredths),
        3 => hundredths.checked_mul(10),
        _ => None,
    }
}

/// A duration, where it stands, and where it holds.
type Told = (usize, Days, Option<ShippingRegion>);

impl Sentence<'_> {
    /// Reads days of dispatch and of delivery.
    pub(crate) fn read_spans(&self, found: &mut Found) {
        let spans = self.spans();
        if spans.is_empty() || self.has_extra_days() {
            return;
        }
        let mut used = vec![false; self.items.len()];
        for (at, days) in &spans {
            let region = self.region_of(*at, &spans, &mut used);
            let Ok(region) = region else { continue };
            let Some(kind) = self.about(*at, region.is_some()) else {
                continue;
            };
            found.add(fact(kind, (*at, *days, region), self.text));
        }
    }

    /// `an additional 3-4 days`: more than what is told elsewhere.
    fn has_extra_days(&self) -> bool {
        let words = self.items.iter().map(|item| match &item.sense {
            Sense::Word(word) | Sense::Means(_, word) => word.as_str(),
            _ => "",
        });
        let mut words = words.filter(|word| matches!(*word, "additional" | "extra" | "zusatzlich" | "supplementaires"));
        words.next().is_some()
    }

    /// Durations; numbers without a unit are some where one with a unit stands in the same sentence.
    fn spans(&self) -> Vec<(usize, Days)> {
        let with_unit = self.items.iter().filter_map(|item| match item.sense {
            Sense::Days(days) => Some(days),
            _ => None,
        });
        let with_unit: Vec<Days> = with_unit.collect();
        let Some(last) = with_unit.last().copied() else {
            return Vec::new();
        };
        let mut spans: Vec<(usize, Days)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            match item.sense {
                Sense::Days(days) => spans.push((at, days)),
                Sense::Bare(min, max) if min < max && max <= 6_000 && min % 100 == 0 && max % 100 == 0 => {
                    let narrow = |hundredths: i64| u16::try_from(hundredths / 100).ok();
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
        // `a minimum of 2 days and a maximum of 10 days`
        if let [(at, low), (_, high)] = spans[..]
            && (low.max, high.min) == (None, None)
        {
            return vec![(at, Days { min: low.min, ..high })];
        }
        spans
    }

    /// Where a duration holds; an error where that cannot be told.
    fn region_of(&self, at: usize, spans: &[(usize, Days)], used: &mut [bool]) -> Result<Option<ShippingRegion>, ()> {
        let named: Vec<(usize, ShippingRegion)> = self.regions();
        let mut kinds: Vec<ShippingRegion> = named.iter().map(|(_, region)| *region).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match kinds[..] {
            [] => return Ok(None),
            [region] => return Ok(some(region)),
            _ => {}
        }
        let clause = self.items[at].clause;
        let between = |one: usize| {
            spans
                .iter()
                .any(|(span, _)| (one < *span && *span < at) || (at < *span && *span < one))
        };
        let free = |(one, _): &&(usize, ShippingRegion)| !used[*one] && !between(*one);
        let same = named.iter().rev().filter(free);
        let same = same.filter(|(one, _)| self.items[*one].clause == clause);
        let near = same.min_by_key(|(one, _)| one.abs_diff(at));
        let before = || named.iter().filter(free).rfind(|(one, _)| *one < at);
        let (one, region) = near.or_else(before).copied().ok_or(())?;
        // All the names of the same group are used with it: `North East and J&K`.
        used[one] = true;
        Ok(some(region))
    }

    /// What a duration is about.
    fn about(&self, at: usize, has_region: bool) -> Option<ShippingFactKind> {
        let clause = self.items[at].clause;
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
            .filter(|(index, _)| !self.is_origin(*index))
            .collect();
        let here = |(index, _): &&(usize, ShippingFactKind)| self.items[*index].clause == clause;
        let left = |(index, _): &&(usize, ShippingFactKind)| *index < at;
        let found = (cues.iter().filter(here).rfind(left)).or_else(|| cues.iter().filter(here).find(|cue| !left(cue)));
        // `and 5-7 days for delivery`
        if found.is_none() && self.has_in(clause, Concept::Ship) {
            return Some(ShippingFactKind::Delivery);
        }
        let found = found.or_else(|| cues.iter().rfind(left)).or_else(|| cues.first());
        if let Some((_, kind)) = found {
            return Some(*kind);
        }
        let is_way = self.has(Concept::Ship) || has_region || (self.has(Concept::Order) && self.has(Concept::Take));
        let origin = self
            .items
            .iter()
            .enumerate()
            .any(|(index, item)| kind(item).is_some() && self.is_origin(index));
        if self.asked.dispatch {
            Some(ShippingFactKind::Dispatch)
        } else if is_way || self.asked.delivery || (origin && self.has(Concept::Take)) || self.has_domestic() {
            Some(ShippingFactKind::Delivery)
        } else {
            None
        }
    }

    fn has_domestic(&self) -> bool {
        self.has(Concept::Domestic)
    }

    /// Whether this is what a duration is counted from, or goes to: `after dispatch`.
    fn is_origin(&self, at: usize) -> bool {
        const STRONG: &[&str] = &[
            "after",
            "once",
            "when",
            "nach",
            "apres",
            "despues de",
            "following",
            "from the date of",
            "post",
        ];
        let clause = self.items[at].clause;
        let near = self.items[at.saturating_sub(6)..at].iter().rev();
        for (distance, item) in near.enumerate() {
            if item.clause != clause || matches!(item.sense, Sense::Days(_)) {
                return false;
            }
            let is_following = item.means(Concept::Following);
            let is_strong = matches!(&item.sense, Sense::Means(_, word) if STRONG.contains(&word.as_str()));
            if is_following && (distance == 0 || is_strong) {
                return true;
            }
        }
        false
    }

    /// The regions that it names, each with its place.
    pub(crate) fn regions(&self) -> Vec<(usize, ShippingRegion)> {
        let named = self.items.iter().enumerate();
        let mut named: Vec<_> = named.filter_map(|(at, item)| Some((at, item.region()?))).collect();
        for (at, pair) in self.items.windows(2).enumerate() {
            let Sense::Word(word) = &pair[1].sense else { continue };
            let last = |lead: &str| matches!(lead.rsplit(' ').next(), Some("within" | "in"));
            let leads = matches!(&pair[0].sense, Sense::Means(_, lead) if last(lead));
            if leads
                && self
                    .text
                    .split(|char: char| !char.is_alphanumeric())
                    .any(|written| written.to_lowercase() == *word && written.starts_with(char::is_uppercase))
            {
                named.push((at + 1, ShippingRegion::Place));
            }
        }
        named
    }
}

/// What holds in all of the country is not told of a region.
pub(crate) fn some(region: ShippingRegion) -> Option<ShippingRegion> {
    (region != ShippingRegion::Domestic).then_some(region)
}

fn fact(kind: ShippingFactKind, (_, days, region): Told, text: &str) -> ShippingFact {
    ShippingFact {
        region,
        days_min: days.min,
        days_max: days.max,
        in_working_days: Some(days.in_working_days),
        ..ShippingFact::new(kind, text)
    }
}
