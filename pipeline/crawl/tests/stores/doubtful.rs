//! Crawls stores whose statements contradict each other.

use pipeline_crawl::{CrawlError, LastListed, Verdict};

use crate::support::{Fault, Rig, Shop, product};

const EMPTY: &str = r#"{"products":[]}"#;

fn answers(rig: &Rig, path: &str, status: u16, body: &str) {
    let fault = Fault::Answer(status, body.to_owned());
    rig.shop.change(|shop| drop(shop.faults.insert(path.to_owned(), fault)));
}

fn presented(crawl: &pipeline_crawl::StoreCrawl) -> (Option<&str>, Option<&str>) {
    let facts = &crawl.facts;
    (
        facts.currency.map(|code| code.as_str()),
        facts.presented.map(|code| code.as_str()),
    )
}

#[tokio::test]
async fn what_pages_say_that_their_amounts_are_in_is_kept_and_outlives_pages_that_are_as_they_were() {
    let mut shop = Shop::of(1..=7);
    shop.meta.as_mut().unwrap()["currency"] = "USD".into();
    shop.money = Some("INR");
    let rig = Rig::with(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!(presented(&first), (Some("USD"), Some("INR")));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, presented(&second)),
        (Verdict::Unchanged, presented(&first))
    );
    rig.shop.change(|shop| {
        shop.money = None;
        shop.products[6]["title"] = "Another".into();
    });
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!((third.verdict, presented(&third)), (Verdict::Landed, presented(&first)));
}

#[tokio::test]
async fn the_same_numbers_in_another_currency_are_a_change() {
    let rig = Rig::with(Shop {
        etags: false,
        ..Shop::of(1..=5)
    })
    .await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| shop.money = Some("USD"));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, presented(&second)),
        (Verdict::Landed, (Some("INR"), Some("USD")))
    );
}

#[tokio::test]
async fn pages_in_different_currencies_are_no_catalogue() {
    let mut shop = Shop::of(1..=7);
    shop.money = Some("INR");
    shop.money_of.insert(3, "USD");
    let rig = Rig::with(shop).await;
    let error = rig.crawl("r1", None).await.unwrap_err();
    assert_eq!(error.label(), "currency_mixed");
    assert_eq!(error.to_string(), "the store's pages show prices in INR and in USD");
}

#[tokio::test]
async fn pages_that_are_as_they_were_are_read_again_when_others_show_another_currency() {
    let mut shop = Shop::of(1..=7);
    shop.money = Some("INR");
    let rig = Rig::with(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| {
        shop.money = Some("USD");
        shop.products[4]["title"] = "Another".into();
    });
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(presented(&second), (Some("INR"), Some("USD")));
    assert!(second.landed().all(|(_, mark)| mark.currency == second.facts.presented));
}

#[tokio::test]
async fn a_hole_in_the_listing_is_no_end_of_what_the_store_has() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    answers(&rig, "/products.json?page=3", 200, EMPTY);
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!((first.products(), first.truncated), (10, true));
    rig.shop.change(|shop| shop.faults.clear());
    let whole = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!((whole.products(), whole.truncated), (12, false));
    answers(&rig, "/products.json?page=3", 200, EMPTY);
    let third = rig.crawl("r3", Some(&whole)).await.unwrap();
    assert_eq!((third.products(), third.truncated), (10, true));
    assert_eq!(third.last, Some(LastListed { products: 12, gone: 2 }));
}

#[tokio::test]
async fn an_end_that_comes_a_page_before_both_counts_is_not_believed_to_be_one() {
    for (stated, truncated) in [(12, true), (8, true), (7, false), (6, false)] {
        let rig = Rig::with(Shop::of(1..=12)).await;
        let first = rig.crawl("r1", None).await.unwrap();
        rig.shop.change(|shop| {
            shop.products.truncate(6);
            shop.meta.as_mut().unwrap()["published_products_count"] = stated.into();
        });
        let second = rig.crawl("r2", Some(&first)).await.unwrap();
        assert_eq!((second.products(), second.truncated), (6, truncated), "{stated}");
    }
}

#[tokio::test]
async fn a_store_that_pages_no_further_is_cut_by_its_own_count_at_the_first_crawl_and_at_every_later_one() {
    let rig = Rig::with(Shop::of(1..=12)).await;
    let products = [1, 2].map(product);
    let first_page = serde_json::json!({ "products": products });
    answers(&rig, "/products.json?page=2", 200, &first_page.to_string());
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!((first.products(), first.truncated), (2, true));
    rig.shop.change(|shop| shop.products[0]["title"] = "Another".into());
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!((second.products(), second.truncated), (2, true));
    rig.shop.change(|shop| shop.faults.clear());
    let whole = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!((whole.products(), whole.truncated), (12, false));
}

#[tokio::test]
async fn a_store_that_ignores_the_number_of_the_page_is_read_by_its_collections() {
    let mut shop = Shop {
        circular: true,
        ..Shop::of(1..=6)
    };
    shop.collections.insert("black".into(), [3, 4, 6].map(product).to_vec());
    shop.collections.insert("green".into(), [5].map(product).to_vec());
    let rig = Rig::with(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!(
        (first.products(), first.truncated),
        (5, true),
        "product 6 is on no first page"
    );
    let asked = rig.shop.take_asked();
    let lists = asked.iter().filter(|asked| asked.starts_with("/collections.json"));
    assert_eq!(lists.count(), 2, "{asked:?}");
    assert_eq!(rig.crawl("r2", Some(&first)).await.unwrap().verdict, Verdict::Unchanged);
    rig.shop
        .change(|shop| shop.collections.get_mut("green").unwrap().push(product(6)));
    let whole = rig.crawl("r3", Some(&first)).await.unwrap();
    assert_eq!((whole.products(), whole.truncated), (6, false));
}

#[tokio::test]
async fn a_collection_that_could_not_be_read_is_read_as_soon_as_it_can_be() {
    let mut shop = Shop {
        pages_max: 2,
        ..Shop::of(1..=7)
    };
    shop.collections.insert("black".into(), [5, 6].map(product).to_vec());
    shop.collections.insert("green".into(), [7].map(product).to_vec());
    let rig = Rig::with(shop).await;
    answers(&rig, "/collections/black/products.json?page=1", 200, "<html>");
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!((first.products(), first.truncated), (5, true));
    rig.shop.change(|shop| shop.faults.clear());
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!((second.verdict, second.products()), (Verdict::Landed, 7));
    assert_eq!(
        rig.crawl("r3", Some(&second)).await.unwrap().verdict,
        Verdict::Unchanged
    );
}

#[tokio::test]
async fn how_long_a_store_wants_to_be_left_alone_outlives_the_run_that_it_said_so_to() {
    let rig = Rig::with(Shop {
        retry_after: Some("3600"),
        ..Shop::of(1..=5)
    })
    .await;
    answers(&rig, "/products.json?page=2", 429, "");
    let error = rig.crawl("r1", None).await.unwrap_err();
    assert_eq!(
        (error.label(), error.to_string().as_str()),
        ("throttled", "page 2 of its products cannot be read")
    );
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the store asks us to slow down for 3600 s");
    rig.shop.change(|shop| shop.faults.clear());
    rig.shop.take_asked();
    let error = rig.crawl("r2", None).await.unwrap_err();
    assert!(matches!(error, CrawlError::AskedToWait { .. }) && error.label() == "throttled");
    assert_eq!(rig.shop.0.lock().unwrap().asked, [""; 0]);
    rig.clock.advance_ms(3_700_000);
    assert_eq!(rig.crawl("r3", None).await.unwrap().products(), 5);
    assert!(rig.objects().await.iter().all(|path| !path.ends_with("-hold.json")));
}
