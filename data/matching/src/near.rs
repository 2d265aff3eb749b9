use crate::keys::Keys;

/// Of those that say the same, so many are compared with those that say something else.
const FIRSTS: usize = 3;

/// A product in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) store: u32,
    pub(crate) row: u32,
}

/// Two products of different stores, by their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
    /// The lower row.
    pub(crate) one: u32,
    pub(crate) other: u32,
}

impl Pair {
    pub(crate) fn of(left: Entry, right: Entry) -> Option<Self> {
        (left.store != right.store).then(|| Self {
            one: left.row.min(right.row),
            other: left.row.max(right.row),
        })
    }
}

/// A product by what it says, as far as it puts the likely same beside each other, and what leads from it to others.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) said: String,
    pub(crate) entry: Entry,
    pub(crate) keys: Keys,
}

/// A product at its place among others.
#[derive(Debug)]
pub(crate) struct PlacedProduct {
    beside: SortPlace,
    pub(crate) entry: Entry,
    pub(crate) keys: Keys,
}

/// The place of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortPlace {
    /// One number for all that say the same.
    said: u32,
    /// Its store has another that says the same.
    is_repeated: bool,
}

/// Products by what they say, then by store. Those that a store has twice come last of those that say the same: neither may be
/// taken, and they must not part the others.
pub(crate) fn placed(mut told: Vec<Candidate>) -> Vec<PlacedProduct> {
    told.sort_unstable_by(|left, right| (&left.said, left.entry).cmp(&(&right.said, right.entry)));
    let mut stands = Vec::with_capacity(told.len());
    for (said, alike) in (0..).zip(told.chunk_by(|one, next| one.said == next.said)) {
        for of_store in alike.chunk_by(|one, next| one.entry.store == next.entry.store) {
            let is_repeated = of_store.len() > 1;
            stands.extend(of_store.iter().map(|_| SortPlace { said, is_repeated }));
        }
    }
    let placed = told.into_iter().zip(stands).map(|(told, beside)| PlacedProduct {
        beside,
        entry: told.entry,
        keys: told.keys,
    });
    let mut placed: Vec<PlacedProduct> = placed.collect();
    placed.sort_by_key(|placed| placed.beside);
    placed
}

/// The products that one thing leads to, by their places: it leads from each to all others where they are few, else to its nearest,
/// and from the first of those that say the same to the first of those that say something else. So what is the same stays
/// connected, and the cost follows the number of products.
#[derive(Debug)]
pub(crate) struct Line {
    places: Vec<u32>,
    /// None where they are few.
    firsts: Vec<u32>,
    few: usize,
}

impl Line {
    pub(crate) fn of(places: Vec<u32>, all: &[PlacedProduct], few: usize) -> Self {
        let said = |place: &u32| all.get(*place as usize).map(|placed| placed.beside.said);
        let alike = places.chunk_by(|one, next| said(one) == said(next));
        let firsts = alike.flat_map(|alike| alike.iter().copied().take(FIRSTS));
        let firsts = if places.len() > few {
            firsts.collect()
        } else {
            Vec::new()
        };
        Self { places, firsts, few }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The neighbours of a first among the firsts.
    pub(crate) fn firsts(&self, place: u32) -> &[u32] {
        nearest(&self.firsts, place, self.few)
    }

    /// The neighbours of a place among all.
    pub(crate) fn nearest(&self, place: u32) -> &[u32] {
        nearest(&self.places, place, self.few)
    }
}

/// Those on both sides of one of them, and all where they are few.
fn nearest(places: &[u32], place: u32, few: usize) -> &[u32] {
    let Ok(at) = places.binary_search(&place) else {
        return &[];
    };
    let few = few.min(places.len());
    let start = at.saturating_sub(few / 2).min(places.len() - few);
    places.get(start..start + few).unwrap_or_default()
}

/// The pairs of one product with others. A second product of a store that says the same is compared too: which of both
/// is meant may not follow from which is nearer.
pub(crate) fn pairs<'a>(
    all: &'a [PlacedProduct],
    place: u32,
    others: impl Iterator<Item = u32> + 'a,
) -> impl Iterator<Item = Pair> + 'a {
    others.flat_map(move |other| {
        let of_both =
            with_second(all, place).flat_map(move |one| with_second(all, other).map(move |other| (one, other)));
        of_both.filter_map(|(one, other)| Pair::of(one, other))
    })
}

fn with_second(all: &[PlacedProduct], place: u32) -> impl Iterator<Item = Entry> {
    let own = all.get(place as usize);
    let is_second = move |other: &&PlacedProduct| {
        own.is_some_and(|own| own.beside == other.beside && own.entry.store == other.entry.store)
    };
    let at = |place: Option<u32>| place.and_then(|place| all.get(place as usize)).filter(is_second);
    let second = at(place.checked_add(1)).or_else(|| at(place.checked_sub(1)));
    own.into_iter().chain(second).map(|placed| placed.entry)
}
