//! Context that headings, questions and earlier sentences provide for later sentences.

use data_model::ShippingRegion;

use crate::context::{Context, Scope};
use crate::item::{Item, Sense, is_told};
use crate::lexicon::Concept;
use crate::sentence::Sentence;
use crate::text::Line;
use crate::words::Words;

/// A heading or a question. Its section lasts until the next one that is not subordinate to it.
#[derive(Debug, Clone, Copy)]
struct Section {
    level: u8,
    /// Region of the section. `None` if the heading names no region.
    scope: Option<Scope>,
    is_apart: bool,
    /// True if the heading is only the name of a region. It may be an item of a list of regions.
    is_thin: bool,
    is_used: bool,
}

/// Level of a line that looks like a heading. Such lines and questions are subordinate to headings with tags.
const LINE_LEVEL: u8 = 7;
const QUESTION_LEVEL: u8 = 8;
/// Maximum number of items before the name of a region that labels the next statement.
const LABEL_MAX: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Sections {
    stack: Vec<Section>,
    /// Region of the current paragraph.
    paragraph: Option<Scope>,
    /// True if the current line states the cost of shipping to a region.
    is_labelled: bool,
    is_paragraph_apart: bool,
    asked: Context,
    is_answered: bool,
    is_begun: bool,
}

impl Sections {
    pub(crate) fn begin(&mut self, line: &Line) {
        self.is_labelled &= !line.is_first;
        // A numbered line like `3. Shipping charges` begins a new section.
        let first = line.parts.first().map_or("", String::as_str);
        let number = first.trim_start_matches(|char: char| char.is_ascii_digit());
        let is_numbered = number.len() < first.len() && number.starts_with(['.', ')']);
        if !line.begins && !is_numbered {
            return;
        }
        (self.paragraph, self.is_paragraph_apart, self.asked.told) = (None, false, false);
        // A second paragraph may no longer belong to the question above it.
        if self.is_answered
            && let Some(section) = self.stack.last_mut()
            && section.level == QUESTION_LEVEL
            && section.scope.is_some_and(|scope| scope != Scope::Everywhere)
        {
            section.scope = Some(Scope::Unsure);
        }
    }

    pub(crate) fn context(&self) -> Context {
        let labelled = self.is_labelled.then_some(Scope::Unsure);
        let headed = self.stack.iter().rev().find_map(|section| section.scope);
        Context {
            scope: labelled.or(self.paragraph).or(headed).unwrap_or_default(),
            is_headed: labelled.is_none() && self.paragraph.is_none(),
            is_apart: self.is_paragraph_apart || self.stack.iter().any(|section| section.is_apart),
            line: false,
            ..self.asked
        }
    }

    /// Updates the context after a sentence. `told` is true if the sentence had facts.
    pub(crate) fn end(&mut self, sentence: &Sentence<'_>, line: &Line, told: bool) {
        // A label such as `A.` before an answer leaves the context unchanged.
        if line.level.is_none() && sentence.items.len() <= 2 && !sentence.items.iter().any(is_told) {
            return;
        }
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let is_whole = line.parts.len() == 1;
        let level = match line.level {
            Some(level) if is_whole => Some(level),
            _ if sentence.is_question => Some(QUESTION_LEVEL),
            _ if is_whole && sentence.is_heading() => Some(LINE_LEVEL),
            _ => None,
        };
        let pays = sentence.lists_payments() || self.asked.pays && level.is_none() && sentence.items.len() <= 5;
        self.asked = Context {
            pays,
            ..sentence.leaves(level.is_some(), told)
        };
        match level {
            Some(_) if sentence.is_bare_offer() => {}
            Some(level) => self.open(sentence, level, is_first),
            None => self.go_on(sentence, told, is_whole),
        }
    }

    fn open(&mut self, sentence: &Sentence<'_>, level: u8, is_first: bool) {
        let mut closed = None;
        while let Some(section) = self.stack.pop_if(|section| section.level >= level) {
            closed = Some(section);
        }
        (self.paragraph, self.is_paragraph_apart, self.is_answered) = (None, false, false);
        let kinds = sentence.places.kinds();
        let is_topic = [Concept::Ship, Concept::Deliver, Concept::Dispatch, Concept::Fee];
        let whole = [Concept::Abroad, Concept::Domestic, Concept::Order];
        let is_below = sentence.items.iter().any(|item| item.means_any(&is_topic)) && level == LINE_LEVEL;
        let held = closed.and_then(|section| section.scope.filter(|_| section.level == LINE_LEVEL));
        let is_thin = level == LINE_LEVEL
            && !sentence
                .items
                .iter()
                .any(|item| item.means_any(&is_topic) || item.means_any(&whole));
        let is_list = is_thin && closed.is_some_and(|section| section.is_thin && !section.is_used);
        let scope = match kinds[..] {
            _ if is_list && !kinds.is_empty() => Some(Scope::Unsure),
            _ if sentence.places.is_unclear || sentence.exception().is_some() => Some(Scope::Unsure),
            // `Delivery time` may or may not belong to the heading `International orders` above it.
            [] => held
                .filter(|held| is_below && *held != Scope::Everywhere)
                .map(|_| Scope::Unsure),
            [ShippingRegion::Domestic] => Some(Scope::Everywhere),
            [_] if sentence.is_worldwide() => Some(Scope::Unsure),
            [region] => Some(Scope::Region(region)),
            // The title of a page describes the page and not a region.
            _ if level == 1 || is_first => None,
            _ => Some(Scope::Unsure),
        };
        let is_special = sentence.has(Concept::Special) || sentence.has(Concept::Express);
        let is_way = sentence.items.iter().any(|item| item.means_any(&is_topic));
        let is_stray = sentence.has(Concept::Stray) && !is_way;
        let is_apart = is_stray || (level > 1 && is_special && !sentence.is_standard());
        self.stack.push(Section {
            level,
            scope,
            is_apart,
            is_thin,
            is_used: false,
        });
    }

    fn go_on(&mut self, sentence: &Sentence<'_>, told: bool, is_whole: bool) {
        // In `Islands: 2.95. Free above 100.`, it is unclear if the second sentence is about the islands.
        let mut named = sentence.places.named.iter().take_while(|place| place.at < LABEL_MAX);
        let is_label = named.any(|place| {
            place.region != ShippingRegion::Domestic
                && sentence.items[place.at..]
                    .iter()
                    .take(3)
                    .any(|item| item.sense == Sense::Sign(':'))
        });
        let has_money = sentence.items.iter().any(|item| matches!(item.sense, Sense::Money(_)));
        self.is_labelled |= is_label && has_money && is_whole;
        // A region from another sentence applies only to the next sentence.
        if told && matches!(self.paragraph, Some(Scope::Region(_))) && sentence.places.named.is_empty() {
            self.paragraph = Some(Scope::Unsure);
        }
        let first = sentence.items.first();
        if !self.is_answered && first.is_some_and(|item| item.means(Concept::Not)) {
            while self.stack.pop_if(|section| section.level == QUESTION_LEVEL).is_some() {}
        }
        self.is_answered = true;
        if let Some(section) = self.stack.last_mut().filter(|section| section.is_thin) {
            section.is_used = true;
            section.scope = section.scope.map(|scope| {
                if scope == Scope::Everywhere {
                    scope
                } else {
                    Scope::Unsure
                }
            });
        }
        let is_way = [Concept::Ship, Concept::ShipVerb, Concept::Deliver, Concept::Order];
        if sentence.has(Concept::Cod) || !sentence.items.iter().any(|item| item.means_any(&is_way)) {
            return;
        }
        if sentence.is_standard() {
            self.is_paragraph_apart = false;
        } else if sentence.has(Concept::Express) {
            self.is_paragraph_apart = true;
        }
        if sentence.has(Concept::Not) || sentence.has(Concept::Ended) {
            return;
        }
        let kinds = sentence.places.kinds();
        let has_abroad = kinds.contains(&ShippingRegion::Abroad);
        match kinds[..] {
            _ if sentence.places.is_unclear => self.paragraph = Some(Scope::Unsure),
            [] => {}
            [ShippingRegion::Domestic] => self.paragraph = None,
            [region] if has_abroad && !told && !sentence.is_worldwide() => {
                // `We ship abroad` sets the region, but a sentence about duties does not.
                let ways = [Concept::ShipVerb, Concept::Deliver, Concept::Offered];
                let others = [Concept::Stray, Concept::Elsewhere, Concept::Charge, Concept::Hedge];
                let has = |concepts: &[Concept]| sentence.items.iter().any(|item| item.means_any(concepts));
                let offers = has(&ways) && !has(&others);
                self.paragraph = Some(if offers { Scope::Region(region) } else { Scope::Unsure });
            }
            _ if has_abroad && (kinds.len() == 1 || !told) => self.paragraph = Some(Scope::Unsure),
            _ if !told => self.paragraph = Some(Scope::Unsure),
            _ => {}
        }
    }
}

impl Sentence<'_> {
    fn leaves(&self, is_over: bool, told: bool) -> Context {
        if self.has(Concept::Stray) {
            return Context::default();
        }
        if !is_over {
            // A list row passes on the context from above the list.
            let is_row = self.items.len() <= 12 && (!self.text.ends_with('.') || self.items.len() <= 4) && told;
            let has_money = self.items.iter().any(|item| matches!(item.sense, Sense::Money(_)));
            let is_of_way = self.has(Concept::Free) || self.has(Concept::Ship);
            let threshold = match self.bounds()[..] {
                [bound] if is_of_way && !self.has(Concept::Cod) => bound.min.or(bound.max.map(|max| max + 1)),
                _ => None,
            };
            return Context {
                threshold,
                dispatch: is_row && self.asked.dispatch,
                delivery: is_row && self.asked.delivery,
                fee: is_row && self.asked.fee,
                ship: is_row && self.asked.ship,
                // The offer may continue: `Is shipping free? Yes! On orders over 799.`, `Free shipping! Orders over 799
                // only.`
                offer: told && (self.asked.free || self.has(Concept::Free)) && self.bounds().is_empty(),
                told: told && has_money && self.has(Concept::Ship) && !self.has(Concept::Cod),
                ..Context::default()
            };
        }
        let costs = self.has(Concept::Ship) && !self.has(Concept::Cod);
        let ways = [Concept::Deliver, Concept::Ship, Concept::ShipVerb];
        let has_money = self.items.iter().any(|item| matches!(item.sense, Sense::Money(_)));
        // A heading or question with the verb `ship` is about dispatch, unless it names a destination: `Do you ship to
        // Nepal?`
        let is_way = self.has(Concept::ShipVerb) && self.places.named.is_empty();
        let dispatch = self.has(Concept::Dispatch) || is_way;
        let of_fee = costs && (self.has(Concept::Fee) || self.items.iter().any(is_pay));
        Context {
            cod: self.has(Concept::Cod)
                && self.asks_only(&[Concept::Cod, Concept::Offered, Concept::Prepaid, Concept::Take]),
            cod_fee: self.has(Concept::Cod) && self.has(Concept::Fee) && self.is_question,
            dispatch,
            delivery: !dispatch && self.items.iter().any(|item| item.means_any(&ways)),
            fee: of_fee,
            free: costs && self.is_question && self.has(Concept::Free) && !has_money,
            charged: of_fee
                && self.is_question
                && self.asks_only(&[Concept::Ship, Concept::Fee, Concept::Offered, Concept::ShipVerb]),
            offer: self.is_bare_offer(),
            ship: costs,
            ..Context::default()
        }
    }

    /// Returns true if payment methods follow: `Payment options`, `How can I pay?`.
    fn lists_payments(&self) -> bool {
        let stems = [
            "payment",
            "zahlungs",
            "moyens de paiement",
            "modes de paiement",
            "formas de pago",
            "metodos de pago",
        ];
        let names = |item: &Item| stems.iter().any(|stem| item.word().contains(stem));
        let asks = self.is_question
            && self
                .items
                .iter()
                .any(|item| matches!(item.word(), "pay" | "zahlen" | "bezahlen" | "payer" | "pagar"));
        let is_else = [Concept::Cod, Concept::Fee, Concept::Ship, Concept::Stray, Concept::Not];
        let is_short = self.items.len() <= 5 || self.is_question;
        let is_pay = |item: &&Item| !is_pay(item);
        (asks || is_short && self.items.iter().any(names))
            && !self.items.iter().filter(is_pay).any(|item| item.means_any(&is_else))
    }

    /// Returns true if the sentence contains only these concepts and no limit.
    fn asks_only(&self, concepts: &[Concept]) -> bool {
        let is_known = |item: &Item| match &item.sense {
            Sense::Word(word) => ASKING.has(word.as_str()),
            Sense::Sign(sign) => matches!(sign, '?' | '¿' | ':' | ',' | '.' | '(' | ')'),
            Sense::Means(..) => {
                let weak = [Concept::Order, Concept::Domestic, Concept::Within, Concept::Yes];
                let limits = [
                    Concept::Above,
                    Concept::Below,
                    Concept::UpTo,
                    Concept::Least,
                    Concept::Most,
                ];
                if item.means_any(&limits) || item.means(Concept::Abroad) {
                    return false;
                }
                let is_home = self.places.kinds() == [ShippingRegion::Domestic] && item.means(Concept::Nation);
                item.means_any(concepts) || item.means_any(&weak) || is_home || is_pay(item)
            }
            _ => false,
        };
        self.items.iter().all(is_known) && self.exception().is_none()
    }

    pub(crate) fn is_heading(&self) -> bool {
        let is_plain = |item: &Item| matches!(item.sense, Sense::Means(..) | Sense::Word(_) | Sense::Sign(':' | '&'));
        let states = [
            Concept::Free,
            Concept::Not,
            Concept::Yes,
            Concept::Offered,
            Concept::Ended,
            Concept::Elsewhere,
        ];
        let is_verb = |item: &Item| matches!(&item.sense, Sense::Word(word) if matches!(word.as_str(), "is" | "are" | "will" | "be"));
        let most = if self.text.ends_with(':') { 8 } else { 5 };
        let is_short = self.items.len() <= most && !self.text.ends_with(['.', '!']);
        let is_told = self.items.iter().any(|item| is_verb(item) || item.means_any(&states));
        is_short && self.items.iter().all(is_plain) && (!is_told || self.is_bare_offer())
    }

    /// Returns true for phrases like `We ship to 40 countries`, which mean abroad and perhaps also the home country.
    pub(crate) fn is_worldwide(&self) -> bool {
        self.items.iter().any(|item| item.word() == "countries")
    }
}

/// Words of a question that do not change its subject.
const ASKING: Words = Words(
    "sie, ihr, paiement, pago, ¿, hay, hacen, tienen, moi, je, peux, puis, fallen, an, do, you, does, is, are, \
     there, can, i, we, my, any, a, the, of, for, on, q, option, options, service, your, website, site, store, \
     with, use, get, also, currently, kya, hai, ka, ki, gibt, es, bei, euch, ist, man, kann, ich, per, mit, vous, \
     est, que, ce, le, la, les, y, se, puedo, el, en, will, be, have, to, what, about, as, payment, mode, method, \
     all, products, kyu, aap, dete, hain, karte, koi, lagta, lagega, and",
);

fn is_pay(item: &Item) -> bool {
    const PAY: Words = Words("pay, much, zahlen, bezahlen, payer, pagar, cuesta, kostet");
    matches!(&item.sense, Sense::Means(_, word) | Sense::Word(word) if PAY.has(word.as_str()))
}
