//! Crawls stores whose address leads to another store.

use pipeline_crawl::CrawlError;

use crate::support::{Rig, Shop};

fn known_by(rig: &mut Rig, store: &str) {
    rig.brand.store = store.parse().unwrap();
}

fn describe(shop: &mut Shop, shop_id: u64, host: Option<&str>) {
    let meta = shop.meta.as_mut().unwrap();
    (meta["id"], meta["myshopify_domain"]) = (shop_id.into(), host.into());
}

fn another(error: &CrawlError) -> (&'static str, String) {
    (error.label(), error.to_string())
}

#[tokio::test]
async fn a_domain_that_became_another_stores_is_not_crawled() {
    let mut rig = Rig::with(Shop::of(1..=3)).await;
    known_by(&mut rig, "tea.myshopify.com");
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| describe(shop, 2, Some("coffee.myshopify.com")));
    for known in [Some(&first), None] {
        let (label, reason) = another(&rig.crawl("r2", known).await.unwrap_err());
        assert_eq!(label, "another_store");
        assert!(
            reason.contains("tea.myshopify.com") && reason.contains("coffee.myshopify.com"),
            "{reason}"
        );
    }
    assert!(rig.objects().await.iter().all(|path| !path.contains("/r2/")));
}

#[tokio::test]
async fn a_store_known_by_its_domain_may_state_a_permanent_host_and_keeps_it_from_then_on() {
    let rig = Rig::with(Shop::of(1..=3)).await;
    let state = |shop_id: u64, host: Option<&str>| rig.shop.change(|shop| describe(shop, shop_id, host));
    state(1, None);
    let first = rig.crawl("r1", None).await.unwrap();
    state(1, Some("tea.myshopify.com"));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.store.as_str(), "tea.localhost");
    state(2, Some("coffee.myshopify.com"));
    assert_eq!(
        rig.crawl("r3", Some(&second)).await.unwrap_err().label(),
        "another_store"
    );
    state(1, None);
    rig.crawl("r4", Some(&second)).await.unwrap();
}

#[tokio::test]
async fn a_store_whose_permanent_host_was_renamed_is_known_by_its_id() {
    let mut rig = Rig::with(Shop::of(1..=3)).await;
    known_by(&mut rig, "tea.myshopify.com");
    let state = |shop_id: u64, host: &str| rig.shop.change(|shop| describe(shop, shop_id, Some(host)));
    state(7, "tea.myshopify.com");
    let first = rig.crawl("r1", None).await.unwrap();
    state(8, "chai.myshopify.com");
    let other = rig.crawl("r2", Some(&first)).await.unwrap_err();
    assert_eq!(other.label(), "another_store");
    state(7, "chai.myshopify.com");
    let renamed = rig.crawl("r3", Some(&first)).await.unwrap();
    assert_eq!(renamed.store.as_str(), "tea.myshopify.com");
}

#[tokio::test]
async fn what_a_store_said_of_itself_stands_until_it_says_something_else() {
    let mut rig = Rig::with(Shop::of(1..=3)).await;
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["description"] = "Tea since 1900.".into());
    let said = rig.shop.0.lock().unwrap().meta.clone();
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop.change(|shop| shop.meta = None);
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.verdict, pipeline_crawl::Verdict::Unchanged);
    rig.anew = true;
    let third = rig.crawl("r3", Some(&second)).await.unwrap();
    for crawl in [&second, &third] {
        assert!(crawl.facts.same_brand(&first.facts), "{:?}", crawl.facts);
        assert_eq!(crawl.facts.published_products, None, "a count is of its time");
    }
    // A crawl rejects another store at the address, both when it reads all pages and when it compares them with the
    // last crawl.
    for (anew, run) in [(true, "r4"), (false, "r5")] {
        rig.anew = anew;
        rig.shop.change(|shop| {
            shop.meta = said.clone();
            describe(shop, 2, Some("coffee.myshopify.com"));
        });
        let refused = rig.crawl(run, Some(&third)).await.unwrap_err();
        assert_eq!(refused.label(), "another_store");
    }
    // A store can remove its description, but can only change its name.
    rig.shop.change(|shop| {
        shop.meta = said;
        let meta = shop.meta.as_mut().unwrap();
        meta["myshopify_domain"] = serde_json::Value::Null;
        meta["description"] = serde_json::Value::Null;
        meta["name"] = serde_json::Value::Null;
    });
    let facts = rig.crawl("r6", Some(&third)).await.unwrap().facts;
    assert_eq!((facts.name.as_deref(), facts.description), (Some("Tea & Co"), None));
    assert_eq!(facts.permanent_host, first.facts.permanent_host);
}

#[tokio::test]
async fn a_redirect_is_followed_to_the_store_itself_and_not_to_another() {
    let both = ["/meta.json", "/products.json"];
    let cases: [(&[&str], &str, bool, bool); 6] = [
        // The whole store moved and states its identity.
        (&both, "newtea.localhost", true, true),
        // The store states no identity at the new address.
        (&both, "newtea.localhost", false, false),
        // Only the catalogue redirects to another host.
        (&["/products.json"], "coffee.localhost", true, false),
        (&["/products.json"], "coffee.localhost", false, false),
        (&["/products.json"], "www.tea.localhost", true, true),
        (&["/meta.json"], "www.tea.localhost", true, true),
    ];
    for (number, (paths, host, says, expected)) in cases.into_iter().enumerate() {
        let mut rig = Rig::with(Shop::of(1..=3)).await;
        known_by(&mut rig, "tea.myshopify.com");
        rig.shop.change(|shop| {
            shop.moved = paths.iter().map(|path| ((*path).to_owned(), host.to_owned())).collect();
            if !says {
                shop.meta
                    .as_mut()
                    .unwrap()
                    .as_object_mut()
                    .unwrap()
                    .remove("myshopify_domain");
            }
        });
        match rig.crawl("r1", None).await {
            Ok(crawl) => assert!(expected && crawl.products() == 3, "{number}"),
            Err(error) => {
                let (label, reason) = another(&error);
                assert!(
                    !expected && label == "another_store" && reason.contains(host),
                    "{number}: {reason}"
                );
            }
        }
    }
}
