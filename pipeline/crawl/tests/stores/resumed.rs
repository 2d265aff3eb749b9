//! Resumes interrupted crawls from their landed pages.

use std::collections::BTreeSet;

use data_model::Clock as _;

use crate::support::{Fault, Rig, Shop};

/// The store has nine products on three pages, and an empty last page. The first two pages were landed before the crawl
/// was killed.
async fn killed_at_the_third_page(shop: Shop) -> Rig {
    let rig = Rig::with(shop).await;
    rig.shop
        .change(|shop| drop(shop.faults.insert("/products.json?page=3".into(), Fault::Hang)));
    rig.killed_at_hang("r1", None).await;
    rig.shop.change(|shop| shop.faults.clear());
    rig.shop.take_asked();
    rig
}

#[tokio::test]
async fn pages_that_a_kill_left_keep_their_moment_and_their_currency() {
    let shop = Shop {
        money: Some("INR"),
        ..Shop::of(1..=9)
    };
    let rig = killed_at_the_third_page(shop).await;
    let landed_by = rig.clock.now();
    rig.clock.advance_ms(600_000);
    let crawl = rig.crawl("r1", None).await.unwrap();
    assert_eq!(crawl.reused_pages, 2);
    assert!(
        crawl.started_at <= landed_by,
        "the catalogue is as old as its oldest page"
    );
    assert!(crawl.ended_at > landed_by);
    let currencies: BTreeSet<_> = crawl.landed().map(|(_, page)| page.currency.unwrap()).collect();
    assert_eq!(currencies, BTreeSet::from(["INR".parse().unwrap()]));
}

#[tokio::test]
async fn a_store_that_shows_another_currency_after_a_kill_is_read_anew() {
    let shop = Shop {
        money: Some("INR"),
        ..Shop::of(1..=9)
    };
    let rig = killed_at_the_third_page(shop).await;
    rig.shop.change(|shop| shop.money = Some("USD"));
    let crawl = rig.crawl("r1", None).await.unwrap();
    let currencies: BTreeSet<_> = crawl.landed().map(|(_, page)| page.currency.unwrap()).collect();
    assert_eq!(currencies, BTreeSet::from(["USD".parse().unwrap()]));
    assert_eq!(crawl.facts.presented, Some("USD".parse().unwrap()));
    assert_eq!(rig.landed_ids(&crawl).await.concat(), (1..=9).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_a_kill_left_is_read_again_where_it_is_old_or_of_a_clock_that_was_ahead() {
    for shift_ms in [20 * 60_000, -20 * 60_000] {
        let rig = killed_at_the_third_page(Shop::of(1..=9)).await;
        rig.clock.advance_ms(shift_ms);
        let crawl = rig.crawl("r1", None).await.unwrap();
        assert_eq!(crawl.reused_pages, 0);
        rig.shop.take_asked();
        // A complete crawl is treated in the same way.
        rig.clock.advance_ms(shift_ms);
        rig.crawl("r1", None).await.unwrap();
        assert!(!rig.shop.take_asked().is_empty());
    }
}
