//! Probes store addresses and checks the findings.

use crate::presented::shown_in;
use crate::support::{Fault, Rig, Shop};
use data_codes::StatedCodes;
use pipeline_crawl::{Catalogue, NewBrand, probe};

async fn verdict(shop: Shop) -> (String, Option<bool>, bool) {
    let rig = Rig::with(shop).await;
    let probe = probe(&rig.storefront(), &rig.brand.base_url).await.unwrap();
    (probe.verdict(None), probe.is_platform(), probe.is_crawlable(None))
}

fn refusing(faults: &[(&str, u16, &str)]) -> Shop {
    let faults = faults
        .iter()
        .map(|(path, status, body)| ((*path).to_owned(), Fault::Answer(*status, (*body).to_owned())));
    Shop {
        faults: faults.collect(),
        ..Shop::of(1..=3)
    }
}

#[tokio::test]
async fn an_open_store_says_what_it_is() {
    let found = verdict(Shop::of(1..=3)).await;
    assert_eq!(
        found,
        (
            "a store with an open catalogue, 3 products, prices in INR".into(),
            Some(true),
            true
        )
    );
    let found = verdict(Shop::of([])).await;
    assert_eq!(found, ("a store whose catalogue is empty".into(), Some(true), true));
    let found = verdict(Shop {
        meta: None,
        ..Shop::of(1..=3)
    })
    .await;
    assert_eq!(
        found,
        (
            "a store with an open catalogue, currency unknown".into(),
            Some(true),
            false
        )
    );
}

#[tokio::test]
async fn the_currency_that_is_told_is_the_one_in_which_a_crawl_reads_the_catalogue() {
    let shop = |front: Option<&str>, money| Shop {
        front: front.and_then(shown_in),
        money,
        ..Shop::of(1..=3)
    };
    for (shop, country, currency) in [
        (shop(Some("USD"), None), None, "USD"),
        (shop(Some("USD"), Some("EUR")), None, "EUR"),
        (shop(Some("USD"), None), Some("IN"), "INR"),
        (shop(None, None), None, "INR"),
        (
            Shop {
                meta: None,
                ..shop(Some("USD"), None)
            },
            None,
            "USD",
        ),
    ] {
        let rig = Rig {
            country,
            ..Rig::with(shop).await
        };
        let found = probe(&rig.storefront(), &rig.brand.base_url).await.unwrap();
        let run = "r0".parse().unwrap();
        let codes = rig.crawler().read_codes(&run, &rig.brand, StatedCodes::default()).await;
        let shown = codes.stated.shown;
        let facts = Rig { shown, ..rig }.crawl("r1", None).await.unwrap().facts;
        assert_eq!(found.prices_in(None), facts.prices_in());
        assert!(
            found.verdict(None).ends_with(&format!("prices in {currency}")),
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn a_currency_is_not_guessed_while_the_front_page_is_down() {
    let down = refusing(&[("/", 503, "")]);
    let rig = Rig {
        country: None,
        ..Rig::with(down).await
    };
    let found = probe(&rig.storefront(), &rig.brand.base_url).await.unwrap();
    assert!(!found.is_crawlable(None), "{found:?}");
    assert_eq!(
        found.verdict(None),
        "the store could not be reached: the store answers with status 503"
    );
}

#[tokio::test]
async fn a_closed_store_is_told_from_one_of_another_platform_and_from_one_that_is_down() {
    let closed = verdict(refusing(&[("/products.json?page=1", 401, "")])).await;
    assert_eq!(
        closed,
        (
            "the catalogue cannot be read: the store does not publish its catalogue (status 401)".into(),
            Some(true),
            false
        )
    );
    let another = verdict(refusing(&[
        ("/meta.json", 404, "no"),
        ("/products.json?page=1", 200, "<html>"),
    ]))
    .await;
    assert_eq!(
        another,
        ("no Shopify store answers at this address".into(), Some(false), false)
    );
    let down = verdict(refusing(&[("/meta.json", 500, "")])).await;
    assert_eq!(
        down,
        (
            "the store could not be reached: the store answers with status 500".into(),
            None,
            false
        )
    );
    let forbidden = verdict(refusing(&[("/robots.txt", 200, "User-agent: *\nDisallow: /\n")])).await;
    assert_eq!(forbidden.1, None);
    assert!(forbidden.0.contains("robots.txt"), "{}", forbidden.0);
}

#[tokio::test]
async fn what_a_probe_found_completes_what_the_operator_gave() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    let found = probe(&rig.storefront(), &rig.brand.base_url).await.unwrap();
    assert!(matches!(found.catalogue, Catalogue::Open));
    let brand = NewBrand::at(rig.brand.base_url.clone()).with_facts(found.facts.as_ref());
    assert_eq!(brand.store, Some("tea.myshopify.com".parse().unwrap()));
    assert_eq!(
        (brand.name.as_deref(), brand.country.as_deref()),
        (Some("Tea & Co"), Some("IN"))
    );
    let pinned = NewBrand::at(rig.brand.base_url.clone())
        .named("Chai")
        .with_facts(found.facts.as_ref());
    assert_eq!((pinned.name.as_deref(), pinned.name_pinned), (Some("Chai"), true));
}

#[tokio::test]
async fn an_address_that_leads_to_another_store_is_not_one_to_register() {
    let moved = |paths: &[&str]| {
        paths
            .iter()
            .map(|path| ((*path).to_owned(), "mate.localhost".to_owned()))
            .collect()
    };
    let silent = Shop {
        meta: None,
        moved: moved(&["/products.json"]),
        ..Shop::of(1..=3)
    };
    let found = verdict(silent).await;
    assert_eq!(
        found,
        (
            "it leads to http://mate.localhost/; add that address instead".into(),
            Some(true),
            false
        )
    );
    // A self-description at the other address shows that both belong to one store.
    let described = Shop {
        moved: moved(&["/products.json", "/meta.json"]),
        ..Shop::of(1..=3)
    };
    assert!(verdict(described).await.2);
}
