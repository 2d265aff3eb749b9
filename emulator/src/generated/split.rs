/// Maximum number of products in one store while other stores have space. `products.json` has no pages beyond it.
const STORE_PRODUCTS_MAX: u64 = 25_000;

/// Distributes `products` over `stores` as a few large and many small stores, with an exact sum.
///
/// A store's share is proportional to 1 / (rank + 8). If there are enough products, every store has one. If there are
/// enough stores, none has more than 25,000.
pub(crate) fn split(products: u64, stores: u32) -> Vec<u64> {
    if stores == 0 {
        return Vec::new();
    }
    let count = u64::from(stores);
    let room = STORE_PRODUCTS_MAX.max(products.div_ceil(count));
    let weight = |rank: u64| 1_000_000_000 / (rank + 8);
    let sum: u64 = (0..count).map(weight).sum();
    let least = u64::from(products >= count);
    let share = |rank| (u128::from(products) * u128::from(weight(rank)) / u128::from(sum)) as u64;
    let mut sizes: Vec<u64> = (0..count).map(|rank| share(rank).clamp(least, room)).collect();
    level(&mut sizes, products, least, room);
    sizes
}

/// Changes the sizes evenly and within their bounds until their sum is `products`. Each round reaches the sum or brings
/// a store to its bound, so there are at most as many rounds as stores.
fn level(sizes: &mut [u64], products: u64, least: u64, room: u64) {
    for _ in 0..=sizes.len() {
        let sum: u64 = sizes.iter().sum();
        let mut gap = sum.abs_diff(products);
        if gap == 0 {
            return;
        }
        let grow = sum < products;
        let free = sizes
            .iter()
            .filter(|size| if grow { **size < room } else { **size > least })
            .count() as u64;
        let each = gap.div_ceil(free.max(1));
        for size in sizes.iter_mut() {
            let change = if grow {
                each.min(room - *size)
            } else {
                each.min(*size - least)
            }
            .min(gap);
            *size = if grow { *size + change } else { *size - change };
            gap -= change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_sum_to_the_whole(products in 0u64..3_000_000, stores in 1u32..3000) {
            let sizes = split(products, stores);
            prop_assert_eq!(sizes.len(), stores as usize);
            prop_assert_eq!(sizes.iter().sum::<u64>(), products);
            if products >= u64::from(stores) {
                prop_assert!(sizes.iter().all(|size| *size > 0));
            }
            if products <= u64::from(stores) * 25_000 {
                prop_assert!(sizes.iter().all(|size| *size <= 25_000));
            }
        }
    }

    #[test]
    fn large_stores_are_few() {
        let sizes = split(200_000, 1000);
        assert!(sizes[0] > 20 * sizes[999]);
        assert_eq!(split(12, 3).iter().sum::<u64>(), 12);
        assert_eq!(split(1, 3), [1, 0, 0]);
        assert!(split(5, 0).is_empty());
    }
}
