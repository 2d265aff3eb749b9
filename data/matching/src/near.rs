use crate::keys::Keys;

/// Number of products of each group with equal text that are also compared with other groups.
const FIRSTS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) store: u32,
    pub(crate) row: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
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

/// A product with its sort text and the keys that lead to other products.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) said: String,
    pub(crate) entry: Entry,
    pub(crate) keys: Keys,
}

#[derive(Debug)]
pub(crate) struct PlacedProduct {
    beside: SortPlace,
    pub(crate) entry: Entry,
    pub(crate) keys: Keys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortPlace {
    /// Number of the group of products with equal text.
    said: u32,
    /// `true` if the same store has another product with equal text.
    is_repeated: bool,
}

/// Sorts products by text, then by store. Among products of equal text, duplicates within one store come last. They may
/// not be matched and must not separate the other products.
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

/// Positions of the products that share one key. Few products are all paired with each other. Many products are each
/// paired with their nearest neighbours, and the first products of a group with equal text with the first of other
/// groups. Matching products stay connected this way, and the cost grows linearly with the number of products.
#[derive(Debug)]
pub(crate) struct Line {
    places: Vec<u32>,
    /// First products of each group. Empty if there are few products.
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

    /// Returns the neighbours of a group's first product among the first products.
    pub(crate) fn firsts(&self, place: u32) -> &[u32] {
        nearest(&self.firsts, place, self.few)
    }

    /// Returns the neighbours of a position among all positions.
    pub(crate) fn nearest(&self, place: u32) -> &[u32] {
        nearest(&self.places, place, self.few)
    }
}

/// Returns the positions on both sides of `place`, or all positions if there are few.
fn nearest(places: &[u32], place: u32, few: usize) -> &[u32] {
    let Ok(at) = places.binary_search(&place) else {
        return &[];
    };
    let few = few.min(places.len());
    let start = at.saturating_sub(few / 2).min(places.len() - few);
    places.get(start..start + few).unwrap_or_default()
}

/// Returns the pairs of one product with others. A second product of the same store with equal text is also compared,
/// because the nearest one is not necessarily the right one.
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
