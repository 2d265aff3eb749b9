//! A sentence as things that mean something: amounts, durations, and what words stand for.

use data_model::{CurrencyCode, ShippingFactKind, ShippingRegion};

use crate::lexicon::{Concept, meanings};
use crate::settle::Found;
use crate::spans::quantity;
use crate::token::{Token, tokens};

/// Something in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Which clause it stands in.
    pub(crate) clause: u16,
    pub(crate) sense: Sense,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sense {
    Means(Vec<Concept>, String),
    Money(Amount),
    Days(Days),
    /// Numbers without a unit.
    Bare(i64, i64),
    Percent(u16),
    Grams(u32),
    Clock(u16),
    /// Bit 0 is Monday.
    Weekdays(u8),
    Word(String),
    Sign(char),
}

/// An amount or a range of amounts, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) min: i64,
    pub(crate) max: i64,
    /// It is in another currency.
    pub(crate) is_foreign: bool,
    /// A plus stands behind it.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) min: Option<u16>,
    pub(crate) max: Option<u16>,
    pub(crate) in_working_days: bool,
}

/// What a question leaves for the sentence that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Context {
    pub(crate) cod: bool,
    pub(crate) dispatch: bool,
    pub(crate) delivery: bool,
}

#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    pub(crate) items: Vec<Item>,
    pub(crate) asked: Context,
    is_question: bool,
}

impl Item {
    pub(crate) fn means(&self, concept: Concept) -> bool {
        matches!(&self.sense, Sense::Means(concepts, _) if concepts.contains(&concept))
    }

    pub(crate) fn means_any(&self, concepts: &[Concept]) -> bool {
        concepts.iter().any(|concept| self.means(*concept))
    }

    pub(crate) fn region(&self) -> Option<ShippingRegion> {
        const REGIONS: [(Concept, ShippingRegion); 5] = [
            (Concept::Rest, ShippingRegion::Rest),
            (Concept::Metro, ShippingRegion::Metro),
            (Concept::Remote, ShippingRegion::Remote),
            (Concept::Abroad, ShippingRegion::Abroad),
            (Concept::Domestic, ShippingRegion::Domestic),
        ];
        let found = REGIONS.into_iter().find(|(concept, _)| self.means(*concept));
        found.map(|(_, region)| region)
    }
}

impl<'a> Sentence<'a> {
    pub(crate) fn new(text: &'a str, currency: CurrencyCode, asked: Context) -> Self {
        Self {
            text,
            items: items(&tokens(text), currency),
            asked,
            is_question: text.ends_with('?'),
        }
    }

    pub(crate) fn has(&self, concept: Concept) -> bool {
        self.items.iter().any(|item| item.means(concept))
    }

    pub(crate) fn has_in(&self, clause: u16, concept: Concept) -> bool {
        let mut items = self.items.iter().filter(|item| item.clause == clause);
        items.any(|item| item.means(concept))
    }

    /// What it leaves for the next sentence.
    pub(crate) fn leaves(&self) -> Context {
        if !self.is_question {
            return Context::default();
        }
        let dispatch = self.has(Concept::Dispatch) || self.has(Concept::ShipVerb);
        Context {
            cod: self.has(Concept::Cod),
            dispatch,
            delivery: !dispatch && (self.has(Concept::Deliver) || self.has(Concept::Ship)),
        }
    }

    /// Reads the facts that it states.
    pub(crate) fn facts(&self, found: &mut Found) {
        if is_template(self.text) {
            for kind in self.kinds() {
                found.note_template(kind, self.text);
            }
            return;
        }
        if self.is_question || self.has(Concept::Stray) {
            return;
        }
        if self.has(Concept::Special) || self.has(Concept::Express) {
            self.read_cod_alone(found);
            return;
        }
        if self.has(Concept::Elsewhere) && (self.has(Concept::Fee) || self.has(Concept::Ship)) {
            found.note_elsewhere(ShippingFactKind::Fee, self.text);
        }
        self.read_fees(found);
        self.read_spans(found);
        self.read_handling(found);
    }

    /// Which kinds of facts it would be about.
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

/// Whether a blank or a placeholder stands in it, or it tells the shop's owner what to write.
fn is_template(text: &str) -> bool {
    let lower = text.to_lowercase();
    let placeholder = |open: char, close: char| {
        let inner = text.split(open).skip(1).filter_map(|rest| rest.split_once(close));
        inner.into_iter().any(|(inner, _)| {
            let is_blank = inner.chars().all(|char| " _.-…".contains(char));
            is_blank || inner.chars().any(char::is_alphabetic)
        })
    };
    let words = || text.split(|char: char| !char.is_alphanumeric());
    let is_blank_word =
        |word: &str| !word.is_empty() && word.len() <= 4 && word.chars().all(|char| "xXyYN".contains(char));
    let told = [
        "state ",
        "mention ",
        "specify ",
        "explain ",
        "describe ",
        "include ",
        "insert ",
        "add your ",
        "clearly ",
    ];
    placeholder('[', ']')
        || text.contains("{{")
        || text.contains("__")
        || text.contains("......")
        || lower.contains("lorem")
        || lower.contains("e.g")
        || lower.contains("ipsum")
        || lower.contains("choose threshold")
        || placeholder('<', '>')
        || words().any(is_blank_word) && !words().any(|word| word == "y")
        || told.iter().any(|told| lower.starts_with(told))
}

/// What the tokens stand for.
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
        // A slash or a comma between two regions parts nothing that a clause needs.
        clause += u16::from(breaks);
        items.push(Item { clause, sense });
        at += len.max(1);
    }
    items
}

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
        Token::Word(word) => (Sense::Word(word.clone()), 1),
        Token::Number(number) => (Sense::Bare(*number, *number), 1),
        Token::Clock(minutes) => (Sense::Clock(*minutes), 1),
        Token::Sign(sign) => (Sense::Sign(*sign), 1),
    }
}

const DAYS: [&[&str]; 7] = [
    &["monday", "mondays", "mon", "montag", "montags", "lundi", "lunes"],
    &["tuesday", "tuesdays", "tue", "dienstag", "mardi", "martes"],
    &["wednesday", "wednesdays", "wed", "mittwoch", "mercredi", "miercoles"],
    &["thursday", "thursdays", "thu", "donnerstag", "jeudi", "jueves"],
    &["friday", "fridays", "fri", "freitag", "freitags", "vendredi", "viernes"],
    &[
        "saturday",
        "saturdays",
        "sat",
        "samstag",
        "samstags",
        "samedi",
        "sabado",
        "sabados",
    ],
    &[
        "sunday", "sundays", "sun", "sonntag", "sonntags", "dimanche", "domingo", "domingos",
    ],
];

fn weekday(token: Option<&Token>) -> Option<usize> {
    let word = token?.word()?;
    DAYS.iter().position(|names| names.contains(&word))
}

fn weekdays(tokens: &[Token]) -> Option<(Sense, usize)> {
    if tokens[0]
        .word()
        .is_some_and(|word| matches!(word, "weekend" | "weekends"))
    {
        return Some((Sense::Weekdays(0b110_0000), 1));
    }
    let from = weekday(tokens.first())?;
    let joins = |token: &Token| {
        token.is('-')
            || token
                .word()
                .is_some_and(|word| matches!(word, "to" | "through" | "bis" | "au" | "a" | "till" | "se"))
    };
    // `Mon-Fri` is two words.
    if let Some(to) = weekday(tokens.get(1)).filter(|to| *to > from + 1) {
        let mask = (from..=to).fold(0, |mask, day| mask | 1 << day);
        return Some((Sense::Weekdays(mask), 2));
    }
    if tokens.get(1).is_some_and(joins)
        && let Some(to) = weekday(tokens.get(2))
        && to > from
    {
        let mask = (from..=to).fold(0, |mask, day| mask | 1 << day);
        return Some((Sense::Weekdays(mask), 3));
    }
    Some((Sense::Weekdays(1 << from), 1))
}
