use data_embedding::{QUANTUM, Query, Vector};
use roaring::RoaringBitmap;

use super::Vectors;
use super::top::{Near, Nearest};
use crate::filter::Filter;
use crate::release::{Part, Release, RowAddress};

/// Products multiplied at once: they stay in the nearest cache.
const AT_ONCE: usize = 128;
/// A filter that keeps no more products than this has each of them looked at.
const EACH_MAX: u64 = 8_192;
/// The share of the products in lists that is read, and how many at least.
const READ_ONE_IN: usize = 28;
const READ_MIN: usize = 6_000;
/// The share of the lists that is put in order at first: more than are read as a rule.
const ORDERED_ONE_IN: usize = 8;

/// What of a part may be found.
enum Passing {
    /// Everything that is live.
    Live,
    /// These rows alone.
    Rows(RoaringBitmap),
}

impl Release {
    /// The products whose vectors are nearest to `vector`, at most `wanted`, nearest first, with the cosine of their
    /// angle; those equally near in order of their ids. Empty when the release has no vectors, or others.
    ///
    /// A filter is asked inside: as many are found as pass it, up to `wanted`. Large parts are read in part, the lists
    /// that are most likely to hold what is near; a filter that keeps few products has each of them looked at.
    #[must_use]
    pub fn nearest(&self, vector: &Vector, wanted: usize, filter: Option<&Filter>) -> Vec<(RowAddress, f32)> {
        let Some(query) = self.query(vector).filter(|_| wanted > 0) else {
            return Vec::new();
        };
        let passing = passing(self, filter);
        let mut search = Search {
            parts: self.parts(),
            passing: &passing,
            query: &query,
            nearest: Nearest::new(self.parts(), wanted),
            products: [0; AT_ONCE],
        };
        if kept(&passing).is_some_and(|kept| kept <= EACH_MAX) {
            search.each();
        } else {
            search.lists();
        }
        let found = search.nearest.into_sorted().into_iter();
        found.map(|near| (near.at, QUANTUM * near.product as f32)).collect()
    }

    /// The cosine of the angle between a vector and a product's, exactly as [`Release::nearest`] tells it.
    #[must_use]
    pub fn similarity(&self, vector: &Vector, at: RowAddress) -> Option<f32> {
        self.similarities(vector, std::iter::once(at)).next().flatten()
    }

    /// The same of several products, in their order.
    pub fn similarities(
        &self,
        vector: &Vector,
        rows: impl Iterator<Item = RowAddress>,
    ) -> impl Iterator<Item = Option<f32>> {
        let query = self.query(vector);
        rows.map(move |at| {
            let stored = self.part(at.part)?.vectors()?.of_row(at.row)?;
            let product = query.as_ref()?.dot(stored);
            Some(QUANTUM * product as f32)
        })
    }

    /// The vector of a product; `None` where the release has none of it.
    #[must_use]
    pub fn vector(&self, at: RowAddress) -> Option<Vector> {
        self.part(at.part)?.vectors()?.vector(at.row)
    }

    /// The vector, prepared, when it can be one of this release's.
    fn query(&self, vector: &Vector) -> Option<Query> {
        let dimensions = self.manifest().embedding.as_ref()?.dimensions as usize;
        (vector.dimensions() == dimensions).then(|| Query::new(vector))
    }
}

fn passing(release: &Release, filter: Option<&Filter>) -> Vec<Passing> {
    let of_part = |at: u32| match filter {
        None => Passing::Live,
        Some(filter) => Passing::Rows(filter.part(at).map(|part| part.bitmap()).unwrap_or_default()),
    };
    (0..).zip(release.parts()).map(|(at, _)| of_part(at)).collect()
}

/// How many rows a filter keeps; `None` without a filter.
fn kept(passing: &[Passing]) -> Option<u64> {
    let of_part = |passing: &Passing| match passing {
        Passing::Live => None,
        Passing::Rows(rows) => Some(rows.len()),
    };
    passing.iter().map(of_part).sum()
}

struct Search<'a> {
    parts: &'a [Part],
    passing: &'a [Passing],
    query: &'a Query,
    nearest: Nearest<'a>,
    products: [i32; AT_ONCE],
}

impl Search<'_> {
    /// Looks at every product that passes.
    fn each(&mut self) {
        for (part, (held, passing)) in (0..).zip(self.parts.iter().zip(self.passing)) {
            let (Some(vectors), Passing::Rows(rows)) = (held.vectors(), passing) else {
                continue;
            };
            for row in rows {
                if let Some(stored) = vectors.of_row(row) {
                    let product = self.query.dot(stored);
                    if product >= self.nearest.least() {
                        let at = RowAddress { part, row };
                        self.nearest.push(Near { product, at });
                    }
                }
            }
        }
    }

    /// Reads lists, those with the nearest centroids first, until enough was read and found; parts of one list whole.
    fn lists(&mut self) {
        let mut ranked: Vec<(i32, u32, u32)> = Vec::new();
        let mut in_lists = 0;
        for (part, (held, passing)) in (0_u32..).zip(self.parts.iter().zip(self.passing)) {
            let Some(vectors) = held.vectors() else { continue };
            if matches!(passing, Passing::Rows(rows) if rows.is_empty()) {
                continue;
            }
            if vectors.lists() == 1 {
                self.read(part, vectors, 0);
                continue;
            }
            in_lists += vectors.len();
            self.rank(part, vectors, &mut ranked);
        }
        let budget = READ_MIN.max(in_lists / READ_ONE_IN);
        let first = (ranked.len() / ORDERED_ONE_IN).min(ranked.len());
        if first > 0 {
            ranked.select_nth_unstable_by(first, |one, other| other.cmp(one));
        }
        let (likely, others) = ranked.split_at_mut(first);
        let mut read = 0;
        for lists in [likely, others] {
            if read >= budget && self.nearest.is_full() {
                return;
            }
            lists.sort_unstable_by(|one, other| other.cmp(one));
            for (_, part, list) in lists {
                if read >= budget && self.nearest.is_full() {
                    return;
                }
                if let Some(vectors) = self.parts.get(*part as usize).and_then(Part::vectors) {
                    read += vectors.list(*list as usize).len();
                    self.read(*part, vectors, *list as usize);
                }
            }
        }
    }

    /// How near the centroid of each list of a part is.
    fn rank(&mut self, part: u32, vectors: &Vectors, ranked: &mut Vec<(i32, u32, u32)>) {
        let mut list = 0;
        for centroids in vectors.centroids().chunks(AT_ONCE * self.query.stride()) {
            let count = centroids.len() / self.query.stride();
            self.query.dots(centroids, &mut self.products);
            for product in self.products.iter().take(count) {
                ranked.push((*product, part, list));
                list += 1;
            }
        }
    }

    fn read(&mut self, part: u32, vectors: &Vectors, list: usize) {
        let Some((held, passing)) = self.parts.get(part as usize).zip(self.passing.get(part as usize)) else {
            return;
        };
        let positions = vectors.list(list);
        for from in positions.clone().step_by(AT_ONCE) {
            let to = positions.end.min(from + AT_ONCE);
            self.query.dots(vectors.stored(from..to), &mut self.products);
            for (position, product) in (from..to).zip(&self.products) {
                if *product < self.nearest.least() {
                    continue;
                }
                let row = vectors.row_at(position);
                let passes = match passing {
                    Passing::Live => !held.dead().contains(row),
                    Passing::Rows(rows) => rows.contains(row),
                };
                if passes {
                    let at = RowAddress { part, row };
                    self.nearest.push(Near { product: *product, at });
                }
            }
        }
    }
}
