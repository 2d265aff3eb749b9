//! Tests the currency of amounts if no country's prices are requested and catalogue pages state no currency.

use pipeline_crawl::{StoreCrawl, Verdict};

use crate::support::{Fault, Rig, Shop};

fn front(script: &str) -> Option<String> {
    Some(format!(
        "<!doctype html><html><head><script>{script}</script></head></html>"
    ))
}

pub(crate) fn shown_in(currency: &str) -> Option<String> {
    let value = format!("{{\"active\":\"{currency}\",\"rate\":\"0.0119\"}}");
    front(&format!(
        "Shopify.shop = \"tea.myshopify.com\";\nShopify.currency = {value};\nShopify.country = \"US\";"
    ))
}

async fn rig(shop: Shop) -> Rig {
    Rig {
        country: None,
        ..Rig::with(shop).await
    }
}

fn presented(crawl: &StoreCrawl) -> (Option<&str>, Option<&str>) {
    let facts = &crawl.facts;
    (
        facts.currency.map(|code| code.as_str()),
        facts.presented.map(|code| code.as_str()),
    )
}

/// Returns the number of front page requests since the last call.
fn fronts(rig: &Rig) -> usize {
    rig.shop
        .take_asked()
        .iter()
        .filter(|asked| asked.starts_with("/ "))
        .count()
}

#[tokio::test]
async fn pages_that_do_not_say_are_read_in_what_the_front_page_shows_which_is_asked_for_once() {
    let shop = Shop {
        front: shown_in("USD"),
        ..Shop::of(1..=7)
    };
    let rig = rig(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!((presented(&first), fronts(&rig)), ((Some("INR"), Some("USD")), 1));
    assert!(first.landed().all(|(_, mark)| mark.currency == first.facts.presented));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, presented(&second), fronts(&rig)),
        (Verdict::Unchanged, presented(&first), 0)
    );
    rig.shop.change(|shop| {
        shop.front = shown_in("EUR");
        shop.products[6]["title"] = "Another".into();
    });
    // Unchanged pages would still show the earlier currency, so that everything is read again.
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!(
        (third.verdict, presented(&third)),
        (Verdict::Landed, (Some("INR"), Some("EUR")))
    );
    assert!(third.landed().all(|(_, mark)| mark.currency == third.facts.presented));
}

#[tokio::test]
async fn the_same_numbers_are_other_prices_where_the_front_page_shows_another_currency() {
    let shop = Shop {
        etags: false,
        front: shown_in("INR"),
        ..Shop::of(1..=5)
    };
    let rig = rig(shop).await;
    let first = rig.crawl("r1", None).await.unwrap();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.verdict, Verdict::Unchanged);
    rig.shop.change(|shop| shop.front = shown_in("USD"));
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!(
        (third.verdict, presented(&third)),
        (Verdict::Landed, (Some("INR"), Some("USD")))
    );
}

#[tokio::test]
async fn the_front_page_is_not_asked_for_where_the_pages_speak_or_a_country_was_named() {
    let shop = Shop {
        front: shown_in("USD"),
        money: Some("INR"),
        ..Shop::of(1..=5)
    };
    let spoken = rig(shop).await;
    let crawl = spoken.crawl("r1", None).await.unwrap();
    assert_eq!((presented(&crawl), fronts(&spoken)), ((Some("INR"), Some("INR")), 0));
    let shop = Shop {
        front: shown_in("USD"),
        ..Shop::of(1..=5)
    };
    let named = Rig::with(shop).await;
    let crawl = named.crawl("r1", None).await.unwrap();
    assert_eq!((presented(&crawl), fronts(&named)), ((Some("INR"), None), 0));
}

#[tokio::test]
async fn a_front_page_that_says_nothing_or_is_for_nobody_leaves_the_stores_own_currency() {
    for script in [
        "",
        "Shopify.currency = 7;",
        "Shopify.currency.active == '';",
        "Shopify.currency = {\"active\":\"Rs\"};",
    ] {
        let shop = Shop {
            front: front(script),
            ..Shop::of(1..=5)
        };
        let crawl = rig(shop).await.crawl("r1", None).await.unwrap();
        assert_eq!(presented(&crawl), (Some("INR"), None), "{script}");
    }
    let absent = rig(Shop::of(1..=5)).await;
    assert_eq!(presented(&absent.crawl("r1", None).await.unwrap()), (Some("INR"), None));
    assert_eq!(fronts(&absent), 1);
    let shop = Shop {
        front: shown_in("USD"),
        robots: (200, "User-agent: *\nDisallow: /$\n".to_owned()),
        ..Shop::of(1..=5)
    };
    let closed = rig(shop).await;
    assert_eq!(presented(&closed.crawl("r1", None).await.unwrap()), (Some("INR"), None));
    assert_eq!(fronts(&closed), 0);
}

#[tokio::test]
async fn a_store_whose_front_page_is_down_is_read_another_time() {
    let rig = rig(Shop::of(1..=5)).await;
    let down = Fault::Answer(503, String::new());
    rig.shop.change(|shop| drop(shop.faults.insert("/".to_owned(), down)));
    let error = rig.crawl("r1", None).await.unwrap_err();
    assert_eq!(error.to_string(), "its front page cannot be read");
    rig.shop.change(|shop| shop.faults.clear());
    assert_eq!(rig.crawl("r1", None).await.unwrap().products(), 5);
}
