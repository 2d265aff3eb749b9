//! Listings that move while they are read.

use crate::support::{Fault, Rig, Shop};

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
            third.requests, 9,
            "what stands still is read once, its end is asked for again and what is behind it, and its first page"
        );
    }
}

#[tokio::test]
async fn a_listing_that_moved_is_read_again_whether_or_not_products_are_known_to_be_missing() {
    for before in [Some(12), Some(10), None] {
        let mut rig = Rig::with(Shop::of(1..=12)).await;
        rig.products_before = before;
        rig.shop.change(|shop| {
            shop.meta = None;
            shop.removed_after = Some((1, 2));
        });
        assert_eq!(rig.crawl("r1", None).await.unwrap().products(), 12, "{before:?}");
    }
}

#[tokio::test]
async fn an_empty_page_within_the_listing_is_asked_again_where_products_are_missing() {
    // The last page with products, one in the middle, and the second of two.
    for (products, empty) in [(12, 6), (12, 3), (4, 2)] {
        let rig = Rig::with(Shop::of(1..=products)).await;
        let first = rig.crawl("r1", None).await.unwrap();
        rig.shop.change(|shop| shop.empty_once = Some(empty));
        let second = rig.crawl("r2", Some(&first)).await.unwrap();
        let mut found = rig.landed_ids(&second).await.concat();
        found.sort_unstable();
        assert_eq!(found, (1..=products).collect::<Vec<_>>(), "{empty}");
    }
}

#[tokio::test]
async fn a_page_that_stays_empty_does_not_hide_the_page_behind_it() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let empty = Fault::Answer(200, r#"{"products":[]}"#.to_owned());
    rig.shop
        .change(|shop| drop(shop.faults.insert("page=3".to_owned(), empty)));
    let crawl = rig.crawl("r1", None).await.unwrap();
    let mut found = rig.landed_ids(&crawl).await.concat();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4, 7, 8, 9, 10, 11, 12]);
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
    // Pages 1 to 5, the empty one once more and the one behind it, page 1 again, and pages 1 to 5 once more.
    assert_eq!(rig.shop.take_asked().len(), 5 + 2 + 1 + 5);
}

#[tokio::test]
async fn a_page_that_is_answered_with_another_one_hides_nothing_behind_it() {
    let rig = Rig::with(Shop::of(1..=14)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| shop.mistaken_once = Some((3, 1)));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    let mut found = rig.landed_ids(&second).await.concat();
    found.sort_unstable();
    assert_eq!(found, (1..=14).collect::<Vec<_>>());
}
