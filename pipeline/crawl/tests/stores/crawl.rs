//! Crawls one store several times.

use std::sync::Arc;

use crate::support::{Fault, Rig, Shop, product};
use data_storage::Storage;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use pipeline_crawl::{CrawlConfig, CrawlError, Verdict, landed_before, prune_landing};
use storefront::StoreError;

#[tokio::test]
async fn the_first_crawl_lands_every_page_until_an_empty_one() {
    let rig = Rig::with(Shop::of(1..=5)).await;
    let crawl = rig.crawl("r1", None).await.unwrap();
    assert_eq!(rig.landed_ids(&crawl).await, [vec![1, 2], vec![3, 4], vec![5]]);
    assert_eq!(
        (crawl.verdict, crawl.products(), crawl.truncated),
        (Verdict::Landed, 5, false)
    );
    assert_eq!(crawl.facts.name.as_deref(), Some("Tea & Co"));
    let store = "landing/r1/tea.localhost";
    let landed = [
        "done.json",
        "meta.json.zst",
        "products-00001.json.zst",
        "products-00002.json.zst",
        "products-00003.json.zst",
    ];
    assert_eq!(rig.objects().await, landed.map(|file| format!("{store}/{file}")));
}

#[tokio::test]
async fn an_unchanged_store_is_asked_for_changes_only_and_lands_its_verdict_alone() {
    for etags in [true, false] {
        let rig = Rig::with(Shop {
            etags,
            ..Shop::of(1..=3)
        })
        .await;
        let first = rig.crawl("r1", None).await.unwrap();
        rig.shop.take_asked();
        let second = rig.crawl("r2", Some(&first)).await.unwrap();
        let status = if etags { 304 } else { 200 };
        let pages = [1, 2, 3].map(|page| format!("/products.json?page={page} {status}"));
        assert_eq!(rig.shop.take_asked(), pages);
        assert_eq!((second.verdict, second.landing.as_str()), (Verdict::Unchanged, "r1"));
        assert_eq!((second.products(), &second.pages), (3, &first.pages));
        let of_second: Vec<_> = rig
            .objects()
            .await
            .into_iter()
            .filter(|path| path.contains("/r2/"))
            .collect();
        assert_eq!(of_second, ["landing/r2/tea.localhost/done.json"]);
    }
}

#[tokio::test]
async fn pages_that_did_not_change_are_taken_from_the_last_landing() {
    let rig = Rig::with(Shop::of(1..=7)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.take_asked();
    rig.shop.change(|shop| shop.products[4]["title"] = "Another".into());
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    // Each page is requested once, and the first page again to detect changes of the listing. All responses except one
    // have no body.
    let asked: Vec<_> = [(1, 304), (2, 304), (3, 200), (4, 304), (5, 304), (1, 304)]
        .into_iter()
        .map(|(page, status)| format!("/products.json?page={page} {status}"))
        .collect();
    assert_eq!(rig.shop.take_asked(), asked);
    assert_eq!(second.verdict, Verdict::Landed);
    assert_eq!(
        rig.landed_ids(&second).await,
        [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]
    );
    assert!(second.pages.iter().all(|page| page.etag.is_some()));
    // The landing is complete without the previous one.
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!((third.verdict, third.landing.as_str()), (Verdict::Unchanged, "r2"));
}

#[tokio::test]
async fn a_page_whose_landing_is_gone_is_asked_for_in_full() {
    let rig = Rig::with(Shop::of(1..=5)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    pipeline_crawl::drop_run(&rig.storage, &"r1".parse().unwrap())
        .await
        .unwrap();
    rig.shop.change(|shop| shop.products.push(product(6)));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(rig.landed_ids(&second).await, [vec![1, 2], vec![3, 4], vec![5, 6]]);
}

#[tokio::test]
async fn a_catalogue_that_grew_shrank_or_emptied_is_read_to_its_new_end() {
    let rig = Rig::with(Shop::of(1..=4)).await;
    let mut last = rig.crawl("r1", None).await.unwrap();
    for (run, ids) in [
        ("r2", vec![1, 2, 3, 4, 5, 6, 7]),
        ("r3", vec![1, 2]),
        ("r4", vec![]),
        ("r5", vec![9]),
    ] {
        rig.shop
            .change(|shop| shop.products = ids.iter().copied().map(product).collect());
        last = rig.crawl(run, Some(&last)).await.unwrap();
        assert_eq!(last.verdict, Verdict::Landed);
        assert_eq!(rig.landed_ids(&last).await.concat(), ids);
        last = rig.crawl(&format!("{run}-again"), Some(&last)).await.unwrap();
        assert_eq!(last.verdict, Verdict::Unchanged);
    }
}

#[tokio::test]
async fn another_reading_of_the_same_pages_lands_them_without_asking_for_their_bodies() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.take_asked();
    let second = rig.crawl_for("r2", Some(&first), "v2").await.unwrap();
    assert!(rig.shop.take_asked().iter().all(|asked| asked.ends_with("304")));
    assert_eq!(
        (second.verdict, second.landing.as_str(), second.context.as_str()),
        (Verdict::Landed, "r2", "v2")
    );
    assert_eq!(rig.landed_ids(&second).await.concat(), [1, 2, 3]);
}

#[tokio::test]
async fn a_store_that_presents_itself_otherwise_is_landed_even_if_its_products_are_the_same() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["currency"] = "USD".into());
    assert_eq!(rig.crawl("r2", Some(&first)).await.unwrap().verdict, Verdict::Landed);
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["currency"] = "INR".into());
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["published_products_count"] = 4.into());
    assert_eq!(rig.crawl("r3", Some(&first)).await.unwrap().verdict, Verdict::Unchanged);
}

#[tokio::test]
async fn validators_are_believed_for_a_week_only() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.clock.advance_ms(8 * 24 * 3600 * 1000);
    rig.shop.take_asked();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert!(rig.shop.take_asked().iter().all(|asked| asked.ends_with("200")));
    assert_eq!(second.verdict, Verdict::Unchanged);
    assert!(second.verified_at > first.verified_at);
}

#[tokio::test]
async fn a_store_that_ignores_the_page_number_ends_with_its_second_page() {
    let rig = Rig::with(Shop {
        circular: true,
        ..Shop::of(1..=2)
    })
    .await;
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!(rig.landed_ids(&first).await, [vec![1, 2]]);
    assert_eq!(rig.shop.take_asked().len(), 2);
    assert_eq!(rig.crawl("r2", Some(&first)).await.unwrap().verdict, Verdict::Unchanged);
    rig.shop.change(|shop| shop.products[0]["title"] = "Another".into());
    let third = rig.crawl("r3", Some(&first)).await.unwrap();
    assert_eq!(rig.landed_ids(&third).await, [vec![1, 2]]);
}

#[tokio::test]
async fn products_that_move_to_a_page_that_was_read_are_found_by_reading_once_more() {
    let rig = Rig::with(Shop {
        rotating: 1,
        ..Shop::of(1..=9)
    })
    .await;
    let first = rig.crawl("r1", None).await.unwrap();
    let mut ids = rig.landed_ids(&first).await.concat();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids, (1..=9).collect::<Vec<_>>());
    rig.shop.change(|shop| shop.rotating = 0);
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, second.products(), second.requests),
        (Verdict::Landed, 9, 7)
    );
    assert_eq!(
        rig.crawl("r3", Some(&second)).await.unwrap().verdict,
        Verdict::Unchanged
    );
}

#[tokio::test]
async fn a_store_that_miscounts_itself_is_not_read_twice() {
    let rig = Rig::with(Shop::of(1..=5)).await;
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["published_products_count"] = 7.into());
    let crawl = rig.crawl("r1", None).await.unwrap();
    assert_eq!(
        (crawl.products(), rig.shop.take_asked().len()),
        (5, 7),
        "four pages, the empty one once more and the one behind it, and the first once more"
    );
}

#[tokio::test]
async fn a_store_that_counts_too_few_is_read_to_its_end() {
    for stated in [0, 5] {
        let rig = Rig::with(Shop {
            per_page: 400,
            ..Shop::of(1..=11_000)
        })
        .await;
        rig.shop
            .change(|shop| shop.meta.as_mut().unwrap()["published_products_count"] = stated.into());
        let crawl = rig.crawl("r1", None).await.unwrap();
        assert_eq!((crawl.products(), crawl.truncated), (11_000, false));
        let mut shop = Shop {
            pages_max: 2,
            ..Shop::of(1..=9)
        };
        shop.meta.as_mut().unwrap()["published_products_count"] = stated.into();
        shop.collections.insert("black".into(), (5..=7).map(product).collect());
        shop.collections.insert("green".into(), (8..=9).map(product).collect());
        let capped = Rig::with(shop).await.crawl("r1", None).await.unwrap();
        assert_eq!(capped.products(), 9);
    }
}

#[tokio::test]
async fn a_catalogue_without_end_is_an_error() {
    let stated = Rig::with(Shop {
        endless: true,
        pages_max: 1000,
        ..Shop::of(1..=3)
    })
    .await;
    assert!(matches!(
        stated.crawl("r1", None).await,
        Err(CrawlError::Endless { stated: Some(3), .. })
    ));
    assert_eq!(stated.shop.take_asked().len(), 101, "and the page beyond the cap");
    let silent = Rig::with(Shop {
        endless: true,
        meta: None,
        pages_max: 1000,
        ..Shop::of([])
    })
    .await;
    assert!(matches!(
        silent.crawl("r1", None).await,
        Err(CrawlError::Endless {
            stated: None,
            pages: 100,
            ..
        })
    ));
    assert!(silent.objects().await.iter().all(|path| !path.ends_with("done.json")));
}

#[tokio::test]
async fn beyond_the_platforms_cap_the_collections_are_read() {
    let mut shop = Shop {
        pages_max: 2,
        ..Shop::of(1..=9)
    };
    shop.collections.insert("black".into(), [3, 4, 5].map(product).to_vec());
    shop.collections.insert("empty".into(), Vec::new());
    shop.collections.insert("green".into(), [4, 6, 7].map(product).to_vec());
    shop.collections.insert("white".into(), [8].map(product).to_vec());
    let rig = Rig::with(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    let ids = rig.landed_ids(&first).await;
    assert_eq!(ids, [vec![1, 2], vec![3, 4], vec![5], vec![4, 6], vec![7], vec![8]]);
    assert!(
        first.truncated,
        "product 9 is in no collection, and the store says that it has nine"
    );
    rig.shop.take_asked();
    assert_eq!(rig.crawl("r2", Some(&first)).await.unwrap().verdict, Verdict::Unchanged);
    assert!(rig.shop.take_asked().iter().all(|asked| asked.ends_with("304")));
    rig.shop.change(|shop| {
        shop.collections.get_mut("white").unwrap().push(product(9));
        // Product 4 moves beyond the listing's cap. Only the collections show it now.
        shop.products.swap(3, 8);
    });
    let third = rig.crawl("r3", Some(&first)).await.unwrap();
    let mut all = rig.landed_ids(&third).await.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!((all, third.truncated), ((1..=9).collect(), false));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_midway_is_not_read_and_nothing_is_concluded() {
    let rig = Rig::with(Shop::of(1..=9)).await;
    let faults = [
        (Fault::Answer(429, String::new()), "throttled"),
        (Fault::Answer(200, r#"{"errors":"nonsense"}"#.into()), "not_a_catalogue"),
        (Fault::Answer(200, r#"{"products":[{"id":1}"#.into()), "truncated"),
        (Fault::Answer(200, "<html>".into()), "not_json"),
        (Fault::Answer(404, "gone".into()), "catalogue_closed"),
    ];
    for (number, (fault, label)) in faults.into_iter().enumerate() {
        rig.shop
            .change(|shop| drop(shop.faults.insert("/products.json?page=3".into(), fault)));
        let error = rig.crawl(&format!("r{number}"), None).await.unwrap_err();
        assert_eq!(error.label(), label, "{error}");
    }
    assert!(rig.objects().await.iter().all(|path| !path.ends_with("done.json")));
}

#[tokio::test]
async fn a_store_without_a_description_is_crawled_all_the_same() {
    let rig = Rig::with(Shop {
        meta: None,
        ..Shop::of(1..=3)
    })
    .await;
    let crawl = rig.crawl("r1", None).await.unwrap();
    assert_eq!((crawl.products(), crawl.facts.currency), (3, None));
}

#[tokio::test]
async fn an_interrupted_crawl_goes_on_after_its_last_landed_page() {
    let rig = Rig::with(Shop::of(1..=9)).await;
    rig.shop
        .change(|shop| drop(shop.faults.insert("/products.json?page=4".into(), Fault::Hang)));
    rig.killed_at_hang("r1", None).await;
    rig.shop.change(|shop| shop.faults.clear());
    rig.shop.take_asked();
    let crawl = rig.crawl("r1", None).await.unwrap();
    assert_eq!(rig.shop.take_asked().first().unwrap(), "/products.json?page=4 200");
    assert_eq!(rig.landed_ids(&crawl).await.concat(), (1..=9).collect::<Vec<_>>());
    rig.crawl("r1", None).await.unwrap();
    assert_eq!(
        rig.shop.take_asked(),
        Vec::<String>::new(),
        "what is done is not asked for again"
    );
}

#[tokio::test]
async fn a_kill_at_any_write_leaves_a_landing_that_the_next_call_completes() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect, FaultKind::TornPut] {
        for nth in 1.. {
            let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
            let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
            let rig = Rig::on(Shop::of(1..=5), storage).await;
            faulty.arm(FaultPlan {
                nth,
                kind,
                dead_after: true,
            });
            let killed = rig.crawl("r1", None).await.is_err();
            faulty.disarm();
            let crawl = rig.crawl("r1", None).await.unwrap();
            assert_eq!(
                rig.landed_ids(&crawl).await,
                [vec![1, 2], vec![3, 4], vec![5]],
                "{kind:?} {nth}"
            );
            if !killed {
                assert_eq!(nth, 6, "three pages, the description, the verdict");
                break;
            }
        }
    }
}

#[tokio::test]
async fn pages_too_old_to_go_on_from_are_read_again() {
    let rig = Rig::with(Shop::of(1..=5)).await;
    rig.shop.change(|shop| {
        drop(
            shop.faults
                .insert("/products.json?page=3".into(), Fault::Answer(500, String::new())),
        )
    });
    rig.crawl("r1", None).await.unwrap_err();
    rig.shop.change(|shop| shop.faults.clear());
    rig.shop.take_asked();
    rig.clock.advance_ms(3600 * 1000);
    rig.crawl("r1", None).await.unwrap();
    assert_eq!(rig.shop.take_asked().first().unwrap(), "/products.json?page=1 200");
}

#[tokio::test(start_paused = true)]
async fn bytes_and_time_of_one_store_are_bounded() {
    let mut rig = Rig::with(Shop::of(1..=9)).await;
    rig.config = CrawlConfig {
        store_bytes_max: 500,
        ..rig.config
    };
    assert_eq!(rig.crawl("r1", None).await.unwrap_err().label(), "too_many_bytes");
    rig.config = CrawlConfig {
        store_bytes_max: 1 << 20,
        store_time_s_max: 10,
        ..rig.config
    };
    rig.shop
        .change(|shop| drop(shop.faults.insert("/products.json?page=3".into(), Fault::Hang)));
    assert_eq!(rig.crawl("r2", None).await.unwrap_err().label(), "too_slow");
}

#[tokio::test]
async fn a_refusal_keeps_its_cause() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    rig.shop.change(|shop| {
        drop(
            shop.faults
                .insert("/meta.json".into(), Fault::Answer(402, String::new())),
        )
    });
    let error = rig.crawl("r1", None).await.unwrap_err();
    assert!(
        matches!(
            error,
            CrawlError::Page {
                source: StoreError::Suspended { status: 402 },
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn pruning_keeps_the_last_runs_and_what_a_state_still_needs() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    for run in ["r1", "r2", "r3", "r4"] {
        rig.crawl(run, None).await.unwrap();
    }
    let needed = [(rig.brand.store.clone(), "r1".parse().unwrap())].into();
    let runs = landed_before(&rig.storage, 2).await.unwrap();
    let pruned = prune_landing(&rig.storage, &runs, &needed).await.unwrap();
    assert_eq!(pruned.objects, 4);
    let kept: std::collections::BTreeSet<_> = rig
        .objects()
        .await
        .iter()
        .map(|path| path.split('/').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(kept.into_iter().collect::<Vec<_>>(), ["r1", "r3", "r4"]);
}
