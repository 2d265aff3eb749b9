//! Groups stores that are read together. The module does no I/O.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreSize {
    /// Bucket of the lake's tables that contains the store.
    pub(crate) bucket: u32,
    /// Size of the landed pages in bytes.
    pub(crate) bytes: u64,
}

/// Splits stores, sorted by bucket, into groups of one bucket and at most `bytes_max` bytes, unless a single store is
/// larger. The lake's data of a group is read once, and its products are in memory together.
pub(crate) fn groups<T>(stores: Vec<T>, size: impl Fn(&T) -> StoreSize, bytes_max: u64) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut last: Option<StoreSize> = None;
    for store in stores {
        let size = size(&store);
        let joined = last.filter(|last| last.bucket == size.bucket);
        let joined = joined.and_then(|last| last.bytes.checked_add(size.bytes));
        match (groups.last_mut(), joined.filter(|bytes| *bytes <= bytes_max)) {
            (Some(group), Some(bytes)) => {
                group.push(store);
                last = Some(StoreSize { bytes, ..size });
            }
            _ => {
                groups.push(vec![store]);
                last = Some(size);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_of_one_bucket_and_within_the_bound_unless_one_store_alone_is_more() {
        let size = |(bucket, bytes): &(u32, u64)| StoreSize {
            bucket: *bucket,
            bytes: *bytes,
        };
        let stores = vec![(0, 4), (0, 6), (0, 1), (1, 50), (1, 2), (3, 2)];
        assert_eq!(
            groups(stores, size, 10),
            [
                vec![(0, 4), (0, 6)],
                vec![(0, 1)],
                vec![(1, 50)],
                vec![(1, 2)],
                vec![(3, 2)]
            ]
        );
        assert!(groups(Vec::new(), size, 10).is_empty());
    }
}
