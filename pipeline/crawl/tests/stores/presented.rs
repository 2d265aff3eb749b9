//! Tests the currency of amounts if no country's prices are requested and catalogue pages state no currency.

use data_codes::StatedCodes;
use pipeline_crawl::{StoreCrawl, Verdict};

use crate::support::{Rig, Shop};

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

/// Creates a rig without a country, whose store's front page showed this currency.
async fn rig(shop: Shop, shown: &str) -> Rig {
    Rig {
        country: None,
        shown: shown.parse().ok(),
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

#[tokio::test]
async fn pages_that_do_not_say_are_read_in_what_the_front_page_showed_without_a_request() {
    let mut rig = rig(Shop::of(1..=7), "USD").await;
    let first = rig.crawl("r1", None).await.unwrap();
    assert_eq!(presented(&first), (Some("INR"), Some("USD")));
    assert!(first.landed().all(|(_, mark)| mark.currency == first.facts.presented));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, presented(&second)),
        (Verdict::Unchanged, presented(&first))
    );
    rig.shop.change(|shop| shop.products[6]["title"] = "Another".into());
    rig.shown = "EUR".parse().ok();
    // Unchanged pages would still show amounts in the earlier currency, so everything is read again.
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!(
        (third.verdict, presented(&third)),
        (Verdict::Landed, (Some("INR"), Some("EUR")))
    );
    assert!(third.landed().all(|(_, mark)| mark.currency == third.facts.presented));
    assert!(rig.shop.take_asked().iter().all(|asked| !asked.starts_with("/ ")));
}

#[tokio::test]
async fn the_same_numbers_are_other_prices_where_the_front_page_showed_another_currency() {
    let shop = Shop {
        etags: false,
        ..Shop::of(1..=5)
    };
    let mut rig = rig(shop, "INR").await;
    let first = rig.crawl("r1", None).await.unwrap();
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.verdict, Verdict::Unchanged);
    rig.shown = "USD".parse().ok();
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    assert_eq!(
        (third.verdict, presented(&third)),
        (Verdict::Landed, (Some("INR"), Some("USD")))
    );
}

#[tokio::test]
async fn a_store_that_changes_its_own_currency_is_asked_anew_what_its_front_page_shows() {
    let shop = Shop {
        front: shown_in("INR"),
        ..Shop::of(1..=5)
    };
    let rig = rig(shop, "INR").await;
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.take_asked();
    rig.shop.change(|shop| {
        shop.meta.as_mut().unwrap()["currency"] = "USD".into();
        shop.front = shown_in("USD");
    });
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(
        (second.verdict, presented(&second)),
        (Verdict::Landed, (Some("USD"), Some("USD")))
    );
    let asked = rig.shop.take_asked();
    assert_eq!(
        asked.iter().filter(|asked| asked.starts_with("/ ")).count(),
        1,
        "{asked:?}"
    );
}

#[tokio::test]
async fn the_front_page_counts_neither_where_the_pages_speak_nor_where_a_country_was_named() {
    let shop = Shop {
        money: Some("INR"),
        ..Shop::of(1..=5)
    };
    let spoken = rig(shop, "USD").await.crawl("r1", None).await.unwrap();
    assert_eq!(presented(&spoken), (Some("INR"), Some("INR")));
    let named = Rig {
        country: Some("IN"),
        ..rig(Shop::of(1..=5), "USD").await
    };
    let named = named.crawl("r1", None).await.unwrap();
    assert_eq!(presented(&named), (Some("INR"), None));
}

#[tokio::test]
async fn a_front_page_states_its_currency_in_the_platforms_own_script_and_keeps_the_last_one_otherwise() {
    let shown = async |rig: &Rig, known: StatedCodes| {
        let crawl = rig
            .crawler()
            .read_codes(&"r1".parse().unwrap(), &rig.brand, known)
            .await;
        crawl.stated.shown.map(|code| code.to_string())
    };
    let known = StatedCodes {
        shown: "EUR".parse().ok(),
        ..StatedCodes::default()
    };
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
        let rig = rig(shop, "").await;
        assert_eq!(shown(&rig, StatedCodes::default()).await, None, "{script}");
        assert_eq!(shown(&rig, known.clone()).await.as_deref(), Some("EUR"), "{script}");
    }
    let shop = Shop {
        front: shown_in("USD"),
        ..Shop::of(1..=5)
    };
    let abroad = rig(shop, "").await;
    assert_eq!(shown(&abroad, known.clone()).await.as_deref(), Some("USD"));
    // A front page for a named country shows that country's currency.
    let named = Rig {
        country: Some("IN"),
        ..abroad
    };
    assert_eq!(shown(&named, StatedCodes::default()).await, None);
}
