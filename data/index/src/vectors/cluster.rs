use data_embedding::{Query, Vector, stride};

/// Up to so many vectors are one list: to read them all costs little.
const ONE_LIST_MAX: usize = 2_048;
/// How many vectors a list holds on average.
const VECTORS_PER_LIST: usize = 128;
/// Vectors that centroids are found with, a list.
const SAMPLE_PER_LIST: usize = 16;
/// How often centroids are moved to the middle of what is nearest to them.
const ROUNDS: usize = 5;
/// Below so many centroids all of them are compared with.
const GROUPED_MIN: usize = 64;
/// Of the groups of centroids, those in which a vector's nearest centroid is looked for.
const GROUPS_SEARCHED: usize = 4;

/// Vectors divided into lists.
#[derive(Debug)]
pub(super) struct Lists {
    /// One stored row a list.
    pub(super) centroids: Vec<u8>,
    /// Which vectors each list holds, ascending.
    pub(super) members: Vec<Vec<u32>>,
}

/// Divides stored vectors into lists: spherical k-means on an even sample. The same vectors in the same order give the
/// same lists.
pub(super) fn lists(stored: &[u8], dimensions: usize) -> Lists {
    let vectors: Vec<&[u8]> = stored.chunks_exact(stride(dimensions)).collect();
    let lists = if vectors.len() <= ONE_LIST_MAX {
        vectors.len().min(1)
    } else {
        vectors.len().div_ceil(VECTORS_PER_LIST)
    };
    let centroids = centroids(&vectors, lists, dimensions);
    let mut members = vec![Vec::new(); lists];
    let mut finder = Finder::grouped(&centroids, dimensions);
    for (nth, vector) in (0_u32..).zip(&vectors) {
        members[finder.nearest(vector)].push(nth);
    }
    Lists { centroids, members }
}

/// So many items, evenly spread over all.
fn spread<'a>(vectors: &[&'a [u8]], count: usize) -> Vec<&'a [u8]> {
    (0..count.min(vectors.len()))
        .map(|at| vectors[at * vectors.len() / count.max(1)])
        .collect()
}

/// The middles of so many clusters, as stored rows.
fn centroids(vectors: &[&[u8]], clusters: usize, dimensions: usize) -> Vec<u8> {
    let mut centroids = spread(vectors, clusters).concat();
    if clusters > 1 {
        let sample = spread(vectors, clusters * SAMPLE_PER_LIST);
        for _ in 0..ROUNDS {
            let mut finder = Finder::grouped(&centroids, dimensions);
            centroids = moved(&centroids, &sample, dimensions, |vector| finder.nearest(vector));
        }
    }
    centroids
}

/// The centroids, each moved to the middle of the vectors that are nearest to it; one without any stays.
fn moved(centroids: &[u8], vectors: &[&[u8]], dimensions: usize, mut nearest: impl FnMut(&[u8]) -> usize) -> Vec<u8> {
    let stride = stride(dimensions);
    let mut sums = vec![0_i32; centroids.len()];
    for vector in vectors {
        let from = nearest(vector) * stride;
        for (sum, byte) in sums[from..from + stride].iter_mut().zip(*vector) {
            *sum += i32::from(*byte) - 128;
        }
    }
    let mut moved = Vec::with_capacity(centroids.len());
    for (sum, before) in sums.chunks_exact(stride).zip(centroids.chunks_exact(stride)) {
        let sum: Vec<f32> = sum.iter().take(dimensions).map(|component| *component as f32).collect();
        match Vector::new(&sum) {
            Some(middle) => Query::store(Some(&middle), dimensions, &mut moved),
            None => moved.extend_from_slice(before),
        }
    }
    moved
}

/// Finds the centroid that is nearest to a vector, or nearly so: first the nearest groups of centroids, then the
/// nearest of these. To compare with every centroid would make a build half as long again.
struct Finder {
    /// One stored row a group.
    middles: Vec<u8>,
    groups: Vec<Group>,
    products: Vec<i32>,
}

#[derive(Debug, Default, Clone)]
struct Group {
    members: Vec<usize>,
    /// The members' stored rows.
    stored: Vec<u8>,
}

impl Finder {
    fn grouped(centroids: &[u8], dimensions: usize) -> Self {
        let vectors: Vec<&[u8]> = centroids.chunks_exact(stride(dimensions)).collect();
        let count = if vectors.len() < GROUPED_MIN {
            1
        } else {
            vectors.len().isqrt()
        };
        let mut middles = spread(&vectors, count).concat();
        let mut groups = vec![Group::default(); count];
        let mut flat = Flat::default();
        if count > 1 {
            for _ in 0..ROUNDS {
                middles = moved(&middles, &vectors, dimensions, |vector| flat.nearest(&middles, vector));
            }
        }
        for (at, vector) in vectors.iter().enumerate() {
            let group = &mut groups[flat.nearest(&middles, vector)];
            group.members.push(at);
            group.stored.extend_from_slice(vector);
        }
        Self {
            middles,
            groups,
            products: flat.products,
        }
    }

    fn nearest(&mut self, vector: &[u8]) -> usize {
        let query = Query::of_stored(vector);
        products(&query, &self.middles, &mut self.products);
        let mut order = [(i32::MIN, 0); GROUPS_SEARCHED];
        for (at, product) in self.products.iter().enumerate() {
            let after = order.partition_point(|(known, _)| known >= product);
            if after < order.len() {
                order[after..].rotate_right(1);
                order[after] = (*product, at);
            }
        }
        let mut best = (i32::MIN, 0);
        for (_, group) in order.iter().filter(|(product, _)| *product > i32::MIN) {
            let group = &self.groups[*group];
            products(&query, &group.stored, &mut self.products);
            for (product, member) in self.products.iter().zip(&group.members) {
                if *product > best.0 {
                    best = (*product, *member);
                }
            }
        }
        best.1
    }
}

/// Compares with every row.
#[derive(Debug, Default)]
struct Flat {
    products: Vec<i32>,
}

impl Flat {
    fn nearest(&mut self, rows: &[u8], vector: &[u8]) -> usize {
        products(&Query::of_stored(vector), rows, &mut self.products);
        let mut best = (i32::MIN, 0);
        for (at, product) in self.products.iter().enumerate() {
            if *product > best.0 {
                best = (*product, at);
            }
        }
        best.1
    }
}

fn products(query: &Query, rows: &[u8], products: &mut Vec<i32>) {
    products.resize(rows.len() / query.stride(), 0);
    query.dots(rows, products);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of 8 components around so many directions.
    fn stored(count: usize) -> Vec<u8> {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as f32 - 127.5
        };
        let mut stored = Vec::new();
        for nth in 0..count {
            let mut components: Vec<f32> = (0..8).map(|_| next() / 8.0).collect();
            components[nth % 8] += 300.0;
            Query::store(Vector::new(&components).as_ref(), 8, &mut stored);
        }
        stored
    }

    #[test]
    fn every_vector_is_in_one_list_and_the_same_vectors_give_the_same_lists() {
        for count in [0, 1, ONE_LIST_MAX, ONE_LIST_MAX + 1, 20_000] {
            let stored = stored(count);
            let (one, other) = (lists(&stored, 8), lists(&stored, 8));
            assert_eq!(one.centroids, other.centroids);
            assert_eq!(one.members, other.members);
            let mut members = one.members.concat();
            members.sort_unstable();
            assert_eq!(members, (0..count as u32).collect::<Vec<_>>());
            assert_eq!(one.centroids.len(), one.members.len() * stride(8));
        }
    }

    #[test]
    fn the_vectors_of_a_list_are_near_each_other() {
        let stored = stored(20_000);
        let divided = lists(&stored, 8);
        let largest = divided.members.iter().max_by_key(|members| members.len()).unwrap();
        // Neighbours point the same way as they were made: around one of eight directions.
        let direction = largest[0] % 8;
        assert!(largest.iter().all(|nth| nth % 8 == direction));
    }
}
