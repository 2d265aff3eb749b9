//! Crawls listings that change while they are read.

use crate::support::{Fault, Rig, Shop, product};

#[tokio::test]
async fn products_that_are_skipped_because_others_are_removed_meanwhile_are_not_gone() {
    // Each case has or lacks a product count by the store, and page 1 may come from the last landing.
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
            third.requests, 14,
            "it is read to its end, which is asked for again and what is behind it, and once more: two are missing"
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
    // The empty page is the last page with products, one in the middle, or the second of two.
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
    // After the first page of the second pass, the crawl has seen as many products as the store reports.
    rig.shop.change(|shop| {
        shop.removed_after = Some((2, 4));
        shop.meta.as_mut().unwrap()["published_products_count"] = 9.into();
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.products(), 12);
    // Pages 1 to 5, the empty page twice, the page after it, and pages 1 to 5 again.
    assert_eq!(rig.shop.take_asked().len(), 5 + 2 + 5);
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

async fn found(rig: &Rig, crawl: &pipeline_crawl::StoreCrawl) -> Vec<u64> {
    let mut found = rig.landed_ids(crawl).await.concat();
    found.sort_unstable();
    found.dedup();
    found
}

#[tokio::test]
async fn a_product_that_is_removed_behind_the_first_page_hides_no_other() {
    // The cases have a known crawl or not, a new product that keeps the count equal, and a listing that shrinks to one
    // page.
    for (products, anew, came, removed) in [
        (12, false, false, (2, 3)),
        (12, true, false, (2, 3)),
        (12, false, true, (2, 2)),
        (3, false, false, (1, 1)),
    ] {
        let mut rig = Rig::with(Shop::of(1..=products)).await;
        let first = rig.crawl("r1", None).await.unwrap();
        rig.anew = anew;
        rig.shop.change(|shop| {
            if came {
                shop.products.insert(0, product(13));
            }
            shop.gone_after = Some(removed);
        });
        let second = rig.crawl("r2", Some(&first)).await.unwrap();
        let expected: Vec<_> = (1..=products).chain(came.then_some(13)).collect();
        assert_eq!(found(&rig, &second).await, expected, "{anew} {came} {removed:?}");
    }
}

#[tokio::test]
async fn without_the_last_landing_the_counts_tell_that_a_product_was_skipped() {
    for (known, before) in [(true, None), (false, Some(12))] {
        let mut rig = Rig::with(Shop::of(1..=12)).await;
        rig.products_before = before;
        let first = rig.crawl("r1", None).await.unwrap();
        pipeline_crawl::drop_run(&rig.storage, &"r1".parse().unwrap())
            .await
            .unwrap();
        rig.anew = true;
        rig.shop.change(|shop| shop.gone_after = Some((2, 3)));
        let second = rig.crawl("r2", known.then_some(&first)).await.unwrap();
        assert_eq!(found(&rig, &second).await, (1..=12).collect::<Vec<_>>(), "{known}");
    }
}

#[tokio::test]
async fn a_product_that_is_removed_while_a_crawl_is_interrupted_hides_no_other() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| {
        shop.products[0]["title"] = "Another".into();
        drop(shop.faults.insert("/products.json?page=4".into(), Fault::Hang));
    });
    rig.killed_at_hang("r2", Some(&first)).await;
    rig.shop.change(|shop| {
        shop.faults.clear();
        shop.products.retain(|product| product["id"] != 4);
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        rig.shop.take_asked()[0],
        "/products.json?page=4 200",
        "it is gone on with"
    );
    assert_eq!(found(&rig, &second).await, (1..=12).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_a_second_reading_misses_too_is_gone_and_costs_no_bodies_and_no_third() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| {
        shop.products.retain(|product| product["id"] != 5);
        shop.meta.as_mut().unwrap()["published_products_count"] = 11.into();
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        found(&rig, &second).await,
        [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12],
        "what neither reading lists"
    );
    let asked = rig.shop.take_asked();
    // The requests are six pages and the empty page, the empty page again and the page after it, and then the six pages
    // and the empty page.
    assert_eq!(asked.len(), 6 + 3 + 7, "{asked:?}");
    let unchanged = asked[9..].iter().filter(|asked| asked.ends_with(" 304")).count();
    assert_eq!(unchanged, 7, "{asked:?}");
    // Removed products no longer count as missing.
    rig.crawl("r3", Some(&second)).await.unwrap();
    assert!(rig.shop.take_asked().iter().all(|asked| asked.ends_with(" 304")));
}

#[tokio::test]
async fn a_listing_of_one_page_is_not_read_again_for_what_it_misses() {
    let rig = Rig::with(Shop {
        per_page: 20,
        ..Shop::of(1..=12)
    })
    .await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| {
        shop.products.remove(4);
        shop.meta.as_mut().unwrap()["published_products_count"] = 11.into();
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.products(), 11);
    let pages: Vec<_> = rig.shop.take_asked();
    assert_eq!(
        pages.iter().filter(|asked| asked.contains("page=1 ")).count(),
        1,
        "{pages:?}"
    );
}

#[tokio::test]
async fn a_store_that_just_fits_is_no_larger_for_having_lost_a_product() {
    let mut rig = Rig::with(Shop {
        etags: false,
        ..Shop::of(1..=12)
    })
    .await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.config.store_bytes_max = first.bytes + first.bytes / 4;
    rig.shop.change(|shop| {
        shop.products.retain(|product| product["id"] != 5);
        shop.meta.as_mut().unwrap()["published_products_count"] = 11.into();
    });
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.products(), 11);
    assert!(second.bytes > rig.config.store_bytes_max, "it was read twice");
}

#[tokio::test]
async fn a_reading_that_brings_nothing_to_light_is_the_last() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    // One product is duplicated, one is new, and the store reports more products.
    rig.shop.change(|shop| {
        shop.products.insert(0, product(13));
        shop.products.push(product(2));
        shop.meta.as_mut().unwrap()["published_products_count"] = 20.into();
    });
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(found(&rig, &second).await, (1..=13).collect::<Vec<_>>());
    // The requests are seven pages and the empty page, the empty page again and the page after it, and then the seven
    // pages and the empty page.
    let asked = rig.shop.take_asked();
    assert_eq!(asked.len(), 7 + 3 + 8, "{asked:?}");
}
