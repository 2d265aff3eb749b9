//! A sentence as a list of meaningful items: amounts, durations, and concepts of words.

use data_model::{CurrencyCode, ShippingFact, ShippingFactKind};

use crate::context::Context;
use crate::item::{Item, QUALIFIES, Sense, names_cod};
use crate::lexicon::{Concept, meanings};
use crate::places::Places;
use crate::quantity::quantity;
use crate::settle::SentenceFacts;
use crate::template::is_template;
use crate::token::{Token, tokens};
use crate::weekday::weekdays;
use crate::words::Words;

#[derive(Debug, Clone)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    pub(crate) items: Vec<Item>,
    pub(crate) asked: Context,
    pub(crate) is_question: bool,
    pub(crate) places: Places,
    pub(crate) currency: CurrencyCode,
}

impl<'a> Sentence<'a> {
    pub(crate) fn new(text: &'a str, currency: CurrencyCode, asked: Context) -> Self {
        let items = without_remarks(items(&tokens(text, currency.exponent() == 3), currency));
        let places = Places::of(&items, text, currency);
        Self {
            text,
            items,
            asked,
            is_question: text.ends_with('?'),
            places,
            currency,
        }
    }

    pub(crate) fn has(&self, concept: Concept) -> bool {
        self.items.iter().any(|item| item.means(concept))
    }

    pub(crate) fn has_in(&self, clause: u16, concept: Concept) -> bool {
        let mut items = self.items.iter().filter(|item| item.clause == clause);
        items.any(|item| item.means(concept))
    }

    pub(crate) fn read(&self, found: &mut SentenceFacts) {
        if self.is_of_code() {
            return;
        }
        if is_template(self.text, &self.items) {
            for kind in self.kinds() {
                found.note_template(kind, self.text);
            }
            return;
        }
        for claim in self.claims() {
            claim.facts(found);
        }
    }

    fn facts(&self, found: &mut SentenceFacts) {
        if self.asked.is_marked && !self.asked.is_title && !self.asked.is_apart && !self.is_question {
            self.read_mark(found);
        }
        if self.is_passing()
            || self.is_question
            || self.is_stray()
            || self.is_bare_offer()
            || (self.asked.is_apart && !self.is_standard())
        {
            return;
        }
        if let Some(exception) = self.exception() {
            // In `49 within Mumbai, 79 across India except Mumbai`, the first price is valid.
            if let Some(rest) = self.until(exception) {
                rest.facts(found);
            }
            return;
        }
        // Handles `Orders after 5 PM are processed the next day`.
        let has_clock = self.items.iter().any(|item| matches!(item.sense, Sense::Clock(_)));
        let is_sent = self.has(Concept::Dispatch) && !self.has(Concept::Ship);
        let is_express =
            |item: &Item| item.means(Concept::Express) && !((has_clock || is_sent) && item.means(Concept::SameDay));
        if (0..self.items.len()).any(|at| self.is_special(at)) || self.items.iter().any(is_express) {
            self.read_cod_alone(found);
            return;
        }
        if self.has(Concept::Elsewhere) && (self.has(Concept::Fee) || self.has(Concept::Ship)) {
            found.note_elsewhere(ShippingFactKind::Fee, self.text);
        }
        if self.mentions_dispatch() {
            found.mention_dispatch(self.text);
        }
        self.read_fees(found);
        self.read_spans(found);
        self.read_handling(found);
    }

    /// Returns true if the sentence starts with a discount code: `SHIPFREE – free delivery above 499` applies only to
    /// customers who enter it. An uppercase name is a code if it contains a number of two digits, or joins known words
    /// of which one means "free". `INDIA –` and `TIER2 –` are places.
    fn is_of_code(&self) -> bool {
        let text = self.text.trim_start();
        let end = text.find(|char: char| !char.is_ascii_uppercase() && !char.is_ascii_digit());
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        let means = |word: &str| meanings(&[Token::Word(word.to_lowercase())]);
        let is_joined = (1..name.len()).any(|at| {
            let halves = [means(&name[..at]), means(&name[at..])];
            let is_free = |half: &Vec<(Concept, usize)>| half.iter().any(|(concept, _)| *concept == Concept::Free);
            halves.iter().all(|half| !half.is_empty()) && halves.iter().any(is_free)
        });
        let has_number = name
            .as_bytes()
            .windows(2)
            .any(|pair| pair.iter().all(u8::is_ascii_digit));
        let has_letters = name.starts_with(|char: char| char.is_ascii_uppercase());
        has_letters
            && rest.trim_start().starts_with(['-', '\u{2013}', '\u{2014}', ':'])
            && (has_number || is_joined && means(name).is_empty())
    }

    /// Returns true if the item is about special goods or times. `Every piece is made to order` applies to all goods,
    /// and is not special.
    fn is_special(&self, at: usize) -> bool {
        const ALL: Words =
            Words("all, every, each, everything, alle, alles, jede, jedes, tous, toutes, chaque, todos, todas, cada");
        const IS: Words = Words("is, are, ist, sind, est, sont, es, son, wird, werden");
        let is_said = self.before(at, 1).any(|item| IS.has(item.word()));
        let is_of_all = is_said && self.items[..at].iter().any(|item| ALL.has(item.word()));
        self.items[at].means(Concept::Special) && !is_of_all
    }

    /// Reads a banner phrase without details, such as `Free shipping` or `COD`.
    fn read_mark(&self, found: &mut SentenceFacts) {
        let mut mark = ShippingFact::new(ShippingFactKind::FreeShipping, self.text);
        if self.is_bare_offer() {
            mark.min_order_minor = Some(0);
        } else if names_cod(&self.items) {
            (mark.kind, mark.is_available) = (ShippingFactKind::Cod, Some(true));
        } else {
            return;
        }
        found.mark(mark);
    }

    /// Returns the sentence up to the amount before the exception, or `None` if that text does not contain an amount
    /// and a region.
    fn until(&self, exception: usize) -> Option<Self> {
        let is_amount = |item: &Item| matches!(item.sense, Sense::Money(_) | Sense::Days(_));
        let last = self.items[..exception].iter().rposition(is_amount)?;
        let items = self.items[..last].to_vec();
        let places = self.places.before(last);
        (items.iter().any(is_amount) && !places.named.is_empty()).then_some(Self { items, places, ..*self })
    }

    /// Returns true for a bare `Free shipping`: a banner phrase, or a heading of its terms.
    pub(crate) fn is_bare_offer(&self) -> bool {
        let first = self.items.iter().find(|item| !matches!(item.sense, Sense::Word(_)));
        let is_plain = |item: &Item| match &item.sense {
            Sense::Sign(sign) => matches!(sign, '!' | '.' | ':' | '-'),
            Sense::Word(word) => QUALIFIES.has(word.as_str()),
            _ => item.means_any(&[Concept::Free, Concept::Ship, Concept::ShipVerb]),
        };
        self.has(Concept::Free)
            && self.items.len() <= 5
            && self.items.iter().all(is_plain)
            && first.is_some_and(|item| item.means(Concept::Free))
    }

    /// Returns true for a short phrase, as in a row of banner phrases.
    pub(crate) fn is_mark(&self) -> bool {
        let names = [Concept::Cod, Concept::Stray, Concept::Promo, Concept::Support];
        let is_name = self.items.len() <= 4 && self.items.iter().any(|item| item.means_any(&names));
        !self.is_question && !self.text.ends_with(':') && (self.is_bare_offer() || names_cod(&self.items) || is_name)
    }

    /// Returns true for a condition after a plain yes: `On orders over 799.`
    pub(crate) fn bounds_offer(&self) -> bool {
        self.asked.offer && self.items.len() <= 9 && !self.bounds().is_empty() && self.is_bound_alone()
    }

    /// Returns true if the sentence is about the standard service.
    pub(crate) fn is_standard(&self) -> bool {
        let is = |word: &str| ["standard", "regular", "normal", "estandar", "classique"].contains(&word);
        let has = |words: &str| words.split(' ').any(|word| is(word) || word.starts_with("standard"));
        self.items
            .iter()
            .any(|item| matches!(&item.sense, Sense::Word(word) | Sense::Means(_, word) if has(word)))
    }

    /// Returns true if the sentence is about another topic. An advance payment that confirms an order is not one.
    pub(crate) fn is_stray(&self) -> bool {
        let is_advance = self.has(Concept::Advance) && self.has(Concept::Cod);
        let confirms = |item: &Item| matches!(&item.sense, Sense::Means(_, word) if word == "confirm");
        // In `Spend 300 more and get free shipping`, the amount depends on the cart.
        let lacks =
            |pair: &[Item]| matches!(pair[0].sense, Sense::Money(_)) && pair[1].sense == Sense::Word("more".to_owned());
        if self.has(Concept::Free) && self.items.windows(2).any(lacks) {
            return true;
        }
        // `since 2015` is not a reason, but `since all is made by hand` is.
        let is_reason = |at: usize| {
            let since = self.items[at].word() == "since";
            since && !matches!(self.items.get(at + 1).map(|item| &item.sense), Some(Sense::Bare(..)))
        };
        // The sentence may name a reason: `Due to many returns we have stopped cash on delivery`.
        let cause = self
            .items
            .iter()
            .position(|item| matches!(item.word(), "due" | "owing" | "because" | "aufgrund"));
        let is_end = |item: &Item| item.sense == Sense::Sign(',') || matches!(item.word(), "we" | "wir" | "cod");
        let end = cause.and_then(|cause| self.items[cause..].iter().position(is_end).map(|end| cause + end));
        let is_cause = |at: usize| cause.zip(end).is_some_and(|(cause, end)| (cause..end).contains(&at));
        let is_told = |at: &usize| !is_reason(*at) && !is_cause(*at);
        let stray = (0..self.items.len())
            .filter(|at| self.items[*at].means(Concept::Stray))
            .filter(is_told);
        let mut stray = stray.map(|at| &self.items[at]);
        stray.any(|item| !(is_advance && confirms(item)))
    }

    fn kinds(&self) -> Vec<ShippingFactKind> {
        let cues = [
            (Concept::Free, ShippingFactKind::FreeShipping),
            (Concept::Cod, ShippingFactKind::Cod),
            (Concept::Dispatch, ShippingFactKind::Dispatch),
            (Concept::ShipVerb, ShippingFactKind::Dispatch),
            (Concept::Deliver, ShippingFactKind::Delivery),
            (Concept::Fee, ShippingFactKind::Fee),
        ];
        let told = cues.into_iter().filter(|(concept, _)| self.has(*concept));
        told.map(|(_, kind)| kind).collect()
    }
}

fn items(tokens: &[Token], currency: CurrencyCode) -> Vec<Item> {
    let (mut items, mut at, mut clause): (Vec<Item>, usize, u16) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        let rest = &tokens[at..];
        let before = items.last();
        let (sense, len) = if let Some(found) = quantity(rest, before, currency) {
            found
        } else if let Some(found) = weekdays(rest) {
            found
        } else {
            plain(rest)
        };
        let breaks = match &sense {
            Sense::Means(concepts, _) => concepts.contains(&Concept::Break),
            Sense::Sign(sign) => matches!(sign, ',' | ':' | '(' | ')' | '-' | '/' | '+' | '=' | '.'),
            _ => false,
        };
        // `Sí, …` means "yes", but without punctuation after it, `si` means "if".
        let is_si = items.is_empty() && tokens[at].word() == Some("si");
        let stops = tokens
            .get(at + 1)
            .is_none_or(|token| token.is(',') || token.is('.') || token.is('!'));
        let sense = if is_si && stops {
            Sense::Means(vec![Concept::Yes], "si".to_owned())
        } else {
            sense
        };
        clause += u16::from(breaks);
        items.push(Item { clause, sense });
        at += len.max(1);
    }
    items
}

/// Removes bracketed remarks without effect: `(remote areas may take longer)`, `(non-refundable)`.
fn without_remarks(items: Vec<Item>) -> Vec<Item> {
    let mut out = items;
    let mut from = 0;
    while let Some(open) = (from..out.len()).find(|at| out[*at].sense == Sense::Sign('(')) {
        let close = (open..out.len()).find(|at| out[*at].sense == Sense::Sign(')'));
        let end = close.map_or(out.len(), |close| close + 1);
        let is_denied = |pair: &[Item]| pair[0].means(Concept::Not) && pair[1].means(Concept::Stray);
        if is_longer(&out[open..end])
            || matches!(&out[open..end], [_, told @ .., _] if told.len() == 2 && is_denied(told))
        {
            out.drain(open..end);
        } else {
            from = end;
        }
    }
    out
}

/// Returns true if something takes longer by an unstated amount.
pub(crate) fn is_longer(items: &[Item]) -> bool {
    const LONGER: Words = Words("longer, delay, delays, delayed, more time, extra time, langer, additional time");
    let is_amount = |item: &Item| {
        matches!(
            item.sense,
            Sense::Money(_) | Sense::Days(_) | Sense::Percent(_) | Sense::Bare(..)
        )
    };
    items.iter().any(|item| LONGER.has(item.word())) && !items.iter().any(is_amount)
}

const NOON: [&str; 3] = ["noon", "midi", "mediodia"];

fn plain(tokens: &[Token]) -> (Sense, usize) {
    let meant = meanings(tokens);
    if let Some((_, len)) = meant.first() {
        let words = tokens[..*len].iter().filter_map(Token::word).collect::<Vec<_>>();
        return (
            Sense::Means(meant.iter().map(|(concept, _)| *concept).collect(), words.join(" ")),
            *len,
        );
    }
    match &tokens[0] {
        Token::Word(word) if NOON.contains(&word.as_str()) => (Sense::Clock(12 * 60), 1),
        Token::Word(word) => (Sense::Word(word.clone()), 1),
        Token::Number(number) => (Sense::Bare(*number, *number), 1),
        Token::Clock(minutes) => (Sense::Clock(*minutes), 1),
        Token::Sign(sign) => (Sense::Sign(*sign), 1),
    }
}

/// Returns true if a line, and therefore each of its parts, is about the price of shipping.
pub(crate) fn is_about_shipping(parts: &[String], currency: CurrencyCode) -> bool {
    let parts: Vec<Sentence<'_>> = parts
        .iter()
        .map(|part| Sentence::new(part, currency, Context::default()))
        .collect();
    let has = |concept| parts.iter().any(|part: &Sentence<'_>| part.has(concept));
    has(Concept::Ship) && !has(Concept::Cod) && !has(Concept::Stray) && !has(Concept::Promo)
}
