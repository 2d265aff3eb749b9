//! Finds the regions that a sentence names.

use data_model::{CurrencyCode, ShippingRegion};

use crate::item::{Item, Sense};
use crate::lexicon::Concept;
use crate::words::Words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceMention {
    /// Index of the item that names the region.
    pub(crate) at: usize,
    pub(crate) region: ShippingRegion,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Places {
    /// Named regions in text order.
    pub(crate) named: Vec<PlaceMention>,
    /// True if a named country may be the store's own or not.
    pub(crate) is_unclear: bool,
}

/// Names of home countries, for currencies that only one country uses.
const HOME: &[(&str, Words)] = &[
    ("INR", Words("india, indian, bharat, hindustan")),
    ("USD", Words("us, usa, states, america")),
    ("GBP", Words("uk, kingdom, britain, england")),
    ("AED", Words("uae, emirates")),
    ("CAD", Words("canada")),
    ("AUD", Words("australia")),
    ("NZD", Words("zealand")),
    ("SGD", Words("singapore")),
    ("CHF", Words("schweiz, suisse, switzerland")),
];

/// Countries with the euro and their neighbours. Any of them may be the store's own.
const EURO: Words = Words(
    "germany, deutschland, deutschlands, allemagne, alemania, france, frankreich, francia, spain, spanien, \
     espagne, espana, italy, italien, italie, italia, osterreich, austria, autriche, belgium, belgien, belgique, \
     belgica, netherlands, niederlande, holland, bas, bajos, portugal, luxemburg, luxembourg, luxemburgo, \
     ireland, irland, irlande, irlanda, greece, griechenland, grece, grecia, finland, finnland, europe, europa, \
     eu, ue, union",
);

/// Names of the home country of a store with euros, in its own language.
const EURO_HOME: Words = Words("deutschland, deutschlands, france, espana, peninsula, metropole, continentale");

/// Words for all regions other than the big cities.
const ELSEWHERE: Words = Words("elsewhere, others, regional, ailleurs, anderswo");

/// Words before a country name that refer to it from outside.
const FOREIGN_LEADS: Words = Words("to, for, in, within, across, nach, the");

impl Places {
    /// Returns the named regions, except regions of origin.
    pub(crate) fn of(items: &[Item], text: &str, currency: CurrencyCode) -> Self {
        let mention = |at, region| PlaceMention { at, region };
        let mut places = Self::default();
        let mut nations: Vec<(usize, Option<ShippingRegion>)> = Vec::new();
        let has_metro = items.iter().any(|item| item.means(Concept::Metro));
        for (at, item) in items.iter().enumerate() {
            if is_from(items, at) {
                continue;
            }
            let behind = items.get(at + 1).map(|item| &item.sense);
            let is_rest = matches!(&item.sense, Sense::Word(word) if word == "rest")
                && matches!(behind, Some(Sense::Sign(':' | '-') | Sense::Days(_) | Sense::Money(_)));
            if let Some(region) = region(item).or_else(|| is_rest.then_some(ShippingRegion::Rest)) {
                places.named.push(mention(at, region));
            } else if has_metro && ELSEWHERE.has(item.word()) {
                places.named.push(mention(at, ShippingRegion::Rest));
            } else if item.means(Concept::Somewhere) {
                places.is_unclear = true;
            } else if item.means(Concept::Nation) {
                nations.extend(nation(items, at, text, currency).map(|region| (at, region)));
            } else if is_place(items, at, text) {
                // In German every noun is capitalised, so a capital letter does not indicate a town.
                let is_town = item.means(Concept::City) || currency.as_str() != "EUR";
                places.is_unclear |= !is_town;
                places.named.extend(is_town.then(|| mention(at, ShippingRegion::Place)));
            }
        }
        // If the store's own country is named, other countries are abroad.
        let has_home = |region: &Option<ShippingRegion>| *region == Some(ShippingRegion::Domestic);
        let is_home_told = nations.iter().any(|(_, region)| has_home(region));
        for (at, region) in nations {
            match region {
                Some(region) => places.named.push(mention(at, region)),
                None if is_home_told => places.named.push(mention(at, ShippingRegion::Abroad)),
                None => places.is_unclear = true,
            }
        }
        places.named.sort_unstable_by_key(|place| place.at);
        places
    }

    pub(crate) fn kinds(&self) -> Vec<ShippingRegion> {
        let mut kinds: Vec<ShippingRegion> = self.named.iter().map(|place| place.region).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    pub(crate) fn before(&self, end: usize) -> Self {
        let named = self.named.iter().filter(|place| place.at < end).copied();
        Self {
            named: named.collect(),
            is_unclear: self.is_unclear,
        }
    }
}

fn region(item: &Item) -> Option<ShippingRegion> {
    const REGIONS: [(Concept, ShippingRegion); 5] = [
        (Concept::Rest, ShippingRegion::Rest),
        (Concept::Metro, ShippingRegion::Metro),
        (Concept::Remote, ShippingRegion::Remote),
        (Concept::Abroad, ShippingRegion::Abroad),
        (Concept::Domestic, ShippingRegion::Domestic),
    ];
    let found = REGIONS.into_iter().find(|(concept, _)| item.means(*concept));
    found.map(|(_, region)| region)
}

/// Returns true for a region of origin, as in `ships from our studio in Jaipur, India`.
fn is_from(items: &[Item], at: usize) -> bool {
    let near = &items[at.saturating_sub(6)..at];
    // `Our studio in Jaipur` is a place of origin.
    if let [.., house, lead] = near
        && matches!(lead.word(), "in" | "at" | "a" | "en")
        && HOUSES.has(house.word())
    {
        return true;
    }
    let Some(from) = near.iter().rposition(|item| {
        let last = item.word().rsplit(' ').next().unwrap_or_default();
        matches!(last, "from" | "based" | "located" | "made" | "aus" | "depuis")
    }) else {
        return false;
    };
    let clause = near[from].clause;
    let is_near = near[from..].iter().all(|item| {
        let is_goal = matches!(item.word(), "to" | "nach" | "across" | "within" | "throughout");
        !is_goal && !matches!(item.sense, Sense::Days(_) | Sense::Money(_)) && item.clause <= clause + 1
    });
    // In `Orders from abroad`, the region is the destination.
    let is_ordered = near[..from].last().is_some_and(|item| item.means(Concept::Order));
    is_near && !is_ordered
}

/// Words for a store's own premises.
const HOUSES: Words = Words(
    "studio, warehouse, warehouses, workshop, factory, office, store, hub, unit, facility, lager, atelier, \
     taller, almacen",
);

/// Returns the region of a country name. The inner `None` means an unknown region, and the outer `None` means that the
/// name is not a country.
fn nation(items: &[Item], at: usize, text: &str, currency: CurrencyCode) -> Option<Option<ShippingRegion>> {
    // `India Post` is a company.
    if items
        .get(at + 1)
        .is_some_and(|next| matches!(next.word(), "post" | "mail" | "posts"))
    {
        return None;
    }
    let name = items[at].word();
    let is_one = |known: Words| name.split(' ').any(|word| known.has(word));
    let home = HOME.iter().find(|(code, _)| *code == currency.as_str());
    if name == "us" && currency.as_str() != "USD" {
        // `us` in `with us` is not the United States.
        let is_shouted = !text.chars().any(char::is_lowercase);
        let written = text.split(|char: char| !char.is_alphanumeric());
        let is_country = written.into_iter().any(|word| word == "US") && !is_shouted;
        if !is_country {
            return None;
        }
    }
    if let Some((_, names)) = home {
        let is_town = currency.as_str() == "AED" && name == "dubai";
        let region = if is_one(*names) {
            ShippingRegion::Domestic
        } else {
            ShippingRegion::Abroad
        };
        return Some(Some(region).filter(|_| !is_town));
    }
    if currency.as_str() != "EUR" {
        return Some(None);
    }
    let before = at.checked_sub(1).map_or("", |before| items[before].word());
    let is_lead = before.rsplit(' ').next().is_some_and(|last| FOREIGN_LEADS.has(last));
    if is_one(EURO_HOME) && !is_lead {
        return Some(Some(ShippingRegion::Domestic));
    }
    Some((!is_one(EURO)).then_some(ShippingRegion::Abroad))
}

/// Returns true if a town is a destination and not an origin.
fn is_place(items: &[Item], at: usize, text: &str) -> bool {
    let is_article = |item: &Item| matches!(item.word(), "the" | "your" | "our");
    let before = items[..at].iter().rev().find(|item| !is_article(item));
    if !items[at].means(Concept::City) {
        let Sense::Word(name) = &items[at].sense else {
            return false;
        };
        // `within XX days` contains a placeholder, not a region.
        if name.chars().all(|char| char == 'x') {
            return false;
        }
        let last = |lead: &str| matches!(lead.rsplit(' ').next(), Some("within" | "in" | "en" | "innerhalb"));
        let leads = matches!(before.map(|item| &item.sense), Some(Sense::Means(_, lead)) if last(lead));
        let written = text.split(|char: char| !char.is_alphanumeric());
        let mut written = written.filter(|written| written.to_lowercase() == *name).peekable();
        return leads && written.peek().is_some() && written.all(|written| written.starts_with(char::is_uppercase));
    }
    let is_within = items
        .get(at + 1)
        .is_some_and(|item| matches!(item.word(), "mein" | "me" | "ke andar"));
    let Some(before) = before.filter(|_| !is_within) else {
        return true;
    };
    match &before.sense {
        Sense::Word(word) => TO.has(word.as_str()),
        Sense::Means(concepts, word) => {
            let last = word.rsplit(' ').next().unwrap_or_default();
            let is_lead = [
                Concept::Within,
                Concept::Not,
                Concept::Except,
                Concept::Break,
                Concept::City,
            ];
            TO.has(last)
                || matches!(last, "in" | "within" | "en")
                || concepts.iter().any(|concept| is_lead.contains(concept))
        }
        Sense::Sign(sign) => matches!(sign, ',' | '&' | '/' | ':' | '(' | '-'),
        Sense::Days(_) | Sense::Money(_) => true,
        _ => false,
    }
}

/// Words before a destination.
const TO: Words = Words("over, throughout, sirf, to, for, across, nach, a, para, pour, fur, inside, only");

/// Returns the region, or `None` for the whole country. A nationwide fact has no region.
pub(crate) fn some(region: ShippingRegion) -> Option<ShippingRegion> {
    (region != ShippingRegion::Domestic).then_some(region)
}
