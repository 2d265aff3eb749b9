//! Listings that move while they are read.

use crate::support::{Rig, Shop};

#[tokio::test]
async fn products_that_are_skipped_because_others_are_removed_meanwhile_are_not_gone() {
    // With and without a count by the store itself, and where page 1 is taken from the last landing.
    for counts in [true, false] {
        let rig = Rig::with(Shop::of(1..=12)).await;
        if !counts {
            rig.shop.change(|shop| {
                drop(
                    shop.meta
                        .as_mut()
                        .unwrap()
                        .as_object_mut()
                        .unwrap()
                        .remove("published_products_count"),
                )
            });
        }
        let first = rig.crawl("r1", None).await.unwrap();
        rig.shop.change(|shop| shop.removed_after = Some((1, 2)));
        let second = rig.crawl("r2", Some(&first)).await.unwrap();
        let mut found = rig.landed_ids(&second).await.concat();
        found.sort_unstable();
        assert_eq!(found, (1..=12).collect::<Vec<_>>(), "{counts}");
        let third = rig.crawl("r3", Some(&second)).await.unwrap();
        assert_eq!(rig.landed_ids(&third).await.concat(), (3..=12).collect::<Vec<_>>());
        assert_eq!(
            third.requests, 7,
            "what stands still is read once, and its first page looked at again"
        );
    }
}

#[tokio::test]
async fn a_crawl_that_knows_nothing_of_the_last_one_still_knows_how_many_products_there_were() {
    for (before, expected) in [(Some(12), 12), (None, 10)] {
        let mut rig = Rig::with(Shop::of(1..=12)).await;
        rig.products_before = before;
        rig.shop.change(|shop| {
            shop.meta = None;
            shop.removed_after = Some((1, 2));
        });
        assert_eq!(rig.crawl("r1", None).await.unwrap().products(), expected);
    }
}

#[tokio::test]
async fn the_second_reading_goes_to_the_end_and_there_is_no_third() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    // At the second reading's first page as many have been seen as the store says it has.
    rig.shop.change(|shop| {
        shop.removed_after = Some((2, 4));
        shop.meta.as_mut().unwrap()["published_products_count"] = 9.into();
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.products(), 12);
    // Pages 1 to 5, page 1 again, and pages 1 to 5 once more.
    assert_eq!(rig.shop.take_asked().len(), 5 + 1 + 5);
}
