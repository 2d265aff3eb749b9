//! Groups of stores that are read together. Pure.

/// A store on its way to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreSize {
    /// The part of the lake's tables that it is in.
    pub(crate) bucket: u32,
    /// Of its landed pages.
    pub(crate) bytes: u64,
}

/// Cuts stores, sorted by bucket, into groups of one bucket each and of at most so many bytes, unless one store alone has
/// more: what the lake has of a group is read once, and its products are in memory together.
pub(crate) fn groups<T>(stores: Vec<(StoreSize, T)>, bytes_max: u64) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut last: Option<StoreSize> = None;
    for (size, store) in stores {
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
        let store = |bucket, bytes| (StoreSize { bucket, bytes }, (bucket, bytes));
        let stores = vec![
            store(0, 4),
            store(0, 6),
            store(0, 1),
            store(1, 50),
            store(1, 2),
            store(3, 2),
        ];
        assert_eq!(
            groups(stores, 10),
            [
                vec![(0, 4), (0, 6)],
                vec![(0, 1)],
                vec![(1, 50)],
                vec![(1, 2)],
                vec![(3, 2)]
            ]
        );
        assert!(groups(Vec::<(StoreSize, u8)>::new(), 10).is_empty());
    }
}
