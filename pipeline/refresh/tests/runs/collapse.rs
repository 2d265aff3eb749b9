use pipeline_crawl::{NewBrand, Registry};
use pipeline_refresh::{HeldError, HoldReason, Outcome, confirm, held_back, read_run};

use crate::support::{Rig, Shop, outcomes, product, slug};

fn shrink(rig: &Rig, ids: std::ops::RangeInclusive<u64>) {
    rig.street
        .change("tea", |shop| shop.list(ids.map(|id| product(id, "499.00"))));
}

#[tokio::test]
async fn a_collapsed_catalogue_is_held_back_until_a_second_crawl_finds_the_same() {
    let rig = Rig::with([("mate", Shop::of(1..=3)), ("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    shrink(&rig, 1..=8);
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate unchanged", "tea held_back"]);
    assert_eq!(
        report.stores[1].outcome,
        Outcome::HeldBack {
            products_before: 30,
            products_found: 8,
            doubt: Some(HoldReason::Shrank),
            affected: None,
            currencies: None,
        }
    );
    assert_eq!(
        (report.commits, rig.ids("tea").await.len(), report.stores[1].products),
        (0, 30, 30)
    );
    let held = held_back(&rig.storage).await.unwrap();
    assert_eq!((held.len(), held[0].products_found, held[0].confirmed), (1, 8, false));

    assert_eq!(outcomes(&rig.run().await), ["mate unchanged", "tea changed"]);
    assert_eq!(rig.ids("tea").await.len(), 8);
    assert!(held_back(&rig.storage).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_emptied_catalogue_is_never_believed_at_once_and_one_that_keeps_falling_is_held_back_anew() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    shrink(&rig, 1..=12);
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    rig.street.change("tea", |shop| shop.list([]));
    for _ in 0..3 {
        assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
        assert_eq!(rig.ids("tea").await.len(), 30, "however often it is seen empty");
    }
    confirm(&rig.storage, &slug("tea")).await.unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());
}

#[tokio::test]
async fn a_new_brand_whose_store_counts_products_and_lists_none_is_held_back_until_it_lists_some() {
    let rig = Rig::with([("tea", Shop::of([]))]).await;
    rig.street.change("tea", |shop| shop.states.1 = Some(900));
    for _ in 0..3 {
        let report = rig.run().await;
        let emptied = Outcome::HeldBack {
            products_before: 0,
            products_found: 0,
            doubt: Some(HoldReason::Emptied),
            affected: None,
            currencies: None,
        };
        assert_eq!(report.stores[0].outcome, emptied);
    }
    rig.street.change("tea", |shop| shop.list([product(1, "499.00")]));
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}

#[tokio::test]
async fn a_store_that_lists_nothing_twice_and_says_that_it_has_nothing_is_believed() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list([]);
        shop.states.1 = Some(0);
    });
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, Vec::<u64>::new());
}

#[tokio::test]
async fn records_that_cannot_be_understood_do_not_empty_a_brand_by_coming_twice() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list((1..=30).map(|id| product(id, if id <= 8 { "499.00" } else { "on request" })));
    });
    for _ in 0..3 {
        assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    }
    assert_eq!(rig.ids("tea").await.len(), 30);
    assert_eq!(held_back(&rig.storage).await.unwrap()[0].quarantined, 22);
    confirm(&rig.storage, &slug("tea")).await.unwrap();
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await.len(), 30, "the store lists them still");
    rig.street.change("tea", |shop| {
        shop.list((1..=30).map(|id| product(id, if id <= 8 { "450.00" } else { "on request" })));
    });
    assert_eq!(
        outcomes(&rig.run().await),
        ["tea changed"],
        "what was confirmed is no news"
    );
    let prices: Vec<_> = rig.products("tea").await.iter().map(price).collect();
    assert_eq!(
        (prices[..8].to_vec(), prices[8..].to_vec()),
        (vec![45_000; 8], vec![49_900; 22])
    );
}

fn price(product: &data_model::Product) -> i64 {
    product.variants[0].price_minor
}

#[tokio::test]
async fn a_product_that_is_listed_but_cannot_be_read_is_kept_as_it_was_last_known() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list((2..=30).map(|id| product(id, if id == 7 { "1,299.00" } else { "450.00" })));
    });
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["tea changed"]);
    assert_eq!((report.stores[0].products, report.stores[0].quarantined), (29, Some(1)));
    let products = rig.products("tea").await;
    let kept: Vec<_> = products
        .iter()
        .map(|product| (product.key.platform_id, price(product)))
        .collect();
    let expected: Vec<_> = (2..=30).map(|id| (id, if id == 7 { 49_900 } else { 45_000 })).collect();
    assert_eq!(kept, expected, "the first is gone, the seventh is not");
    // When the product is readable again, it gets the store's current price.
    rig.street
        .change("tea", |shop| shop.list((2..=30).map(|id| product(id, "450.00"))));
    rig.run().await;
    assert!(rig.products("tea").await.iter().all(|product| price(product) == 45_000));
}

#[tokio::test]
async fn many_products_that_cannot_be_read_any_more_are_held_back() {
    let rig = Rig::with([("tea", Shop::of(1..=60))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.list((1..=60).map(|id| product(id, if id <= 25 { "1,299.00" } else { "450.00" })));
    });
    for _ in 0..2 {
        assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    }
    let held = held_back(&rig.storage).await.unwrap();
    assert_eq!(
        (held[0].doubt, held[0].products_found, held[0].quarantined),
        (Some(HoldReason::Unreadable), 35, 25)
    );
    assert!(rig.products("tea").await.iter().all(|product| price(product) == 49_900));
}

#[tokio::test]
async fn a_hole_in_the_listing_is_held_back_until_it_is_found_again() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    rig.street.change("tea", |shop| {
        shop.states.1 = Some(30);
        shop.pages[4] = r#"{"products":[]}"#.into();
    });
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
    let held = held_back(&rig.storage).await.unwrap();
    assert_eq!(
        (held[0].doubt, held[0].products_found, held[0].stated),
        (Some(HoldReason::Cut), 27, Some(30))
    );
    assert_eq!(rig.ids("tea").await.len(), 30);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await.len(), 27);
}

#[tokio::test]
async fn a_catalogue_of_quite_other_products_is_held_back_until_it_is_found_again() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    shrink(&rig, 26..=55);
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["tea held_back"]);
    assert_eq!(
        report.stores[0].outcome.detail().unwrap(),
        "hardly any earlier product is still listed: 30 products, compared with 30 before"
    );
    assert_eq!(
        held_back(&rig.storage).await.unwrap()[0].doubt,
        Some(HoldReason::Replaced)
    );
    assert_eq!(rig.ids("tea").await, (1..=30).collect::<Vec<_>>());
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
    assert_eq!(rig.ids("tea").await, (26..=55).collect::<Vec<_>>());
}

#[tokio::test]
async fn prices_in_another_currency_are_held_back_until_they_are_found_again() {
    for by_cookie in [true, false] {
        let rig = Rig::with([("tea", Shop::of(1..=5))]).await;
        rig.run().await;
        rig.street.change("tea", |shop| {
            if by_cookie {
                shop.money = Some("USD");
            } else {
                shop.currency = Some("USD");
            }
            shop.list((1..=5).map(|id| product(id, "6.00")));
        });
        let report = rig.run().await;
        assert_eq!(outcomes(&report), ["tea held_back"]);
        let told = report.stores[0].outcome.detail();
        assert_eq!(told.unwrap(), "prices are in USD, but were in INR before");
        let kept = read_run(&rig.storage, &report.run).await.unwrap();
        assert_eq!(kept, Some(report), "what the summary keeps is what was told");
        assert_eq!(
            held_back(&rig.storage).await.unwrap()[0].doubt,
            Some(HoldReason::Currency)
        );
        let told = |products: Vec<data_model::Product>| (products[0].currency.as_str(), price(&products[0]));
        assert_eq!(told(rig.products("tea").await), ("INR", 49_900));
        assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
        assert_eq!(told(rig.products("tea").await), ("USD", 600));
    }
}

#[tokio::test]
async fn amounts_are_in_what_the_pages_say_and_nothing_is_taken_where_the_operator_says_otherwise() {
    let rig = Rig::with([]).await;
    let mut registry = Registry::load(&rig.storage).await.unwrap();
    let mut brands = Vec::new();
    for (name, registered) in [("mate", None), ("tea", Some("USD")), ("yerba", Some("INR"))] {
        rig.street.open(
            name,
            Shop {
                currency: Some("USD"),
                money: Some("INR"),
                ..Shop::of(1..=4)
            },
        );
        brands.push(NewBrand {
            name: Some(name.to_owned()),
            currency: registered.map(|code| code.parse().unwrap()),
            ..NewBrand::at(format!("http://{name}.localhost").parse().unwrap())
        });
    }
    registry.add(&rig.storage, &brands, rig.now()).await.unwrap();
    let report = rig.run().await;
    assert_eq!(outcomes(&report), ["mate changed", "tea failed", "yerba changed"]);
    assert!(
        matches!(&report.stores[1].outcome, Outcome::Failed { code, reason } if code == "currency_contradicted"
            && reason.contains("INR") && reason.contains("USD"))
    );
    for name in ["mate", "yerba"] {
        assert_eq!(rig.products(name).await[0].currency.as_str(), "INR");
    }
}

#[tokio::test]
async fn a_catalogue_that_comes_back_was_never_gone() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    let versions = rig.versions().await;
    shrink(&rig, 1..=3);
    rig.run().await;
    shrink(&rig, 1..=30);
    assert_eq!(outcomes(&rig.run().await), ["tea unchanged"]);
    assert!(held_back(&rig.storage).await.unwrap().is_empty());
    assert_eq!(rig.versions().await, versions);
    // The earlier collapse is no longer recorded and confirms nothing.
    shrink(&rig, 1..=3);
    assert_eq!(outcomes(&rig.run().await), ["tea held_back"]);
}

#[tokio::test]
async fn the_operator_confirms_what_was_found() {
    let rig = Rig::with([("tea", Shop::of(1..=30))]).await;
    rig.run().await;
    assert!(matches!(
        confirm(&rig.storage, &slug("tea")).await,
        Err(HeldError::Nothing(_))
    ));
    shrink(&rig, 1..=8);
    rig.run().await;
    assert!(confirm(&rig.storage, &slug("tea")).await.unwrap().confirmed);
    assert_eq!(outcomes(&rig.run().await), ["tea changed"]);
}
