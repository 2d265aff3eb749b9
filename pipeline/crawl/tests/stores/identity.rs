//! Stores whose address leads to another store.

use pipeline_crawl::CrawlError;

use crate::support::{Rig, Shop};

fn known_by(rig: &mut Rig, store: &str) {
    rig.brand.store = store.parse().unwrap();
}

fn another(error: &CrawlError) -> (&'static str, String) {
    (error.label(), error.to_string())
}

#[tokio::test]
async fn a_domain_that_became_another_stores_is_not_crawled() {
    let mut rig = Rig::with(Shop::of(1..=3)).await;
    known_by(&mut rig, "tea.myshopify.com");
    let first = rig.crawl("r1", None).await.unwrap();
    rig.shop
        .change(|shop| shop.meta.as_mut().unwrap()["myshopify_domain"] = "coffee.myshopify.com".into());
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
    let state = |host: Option<&str>| {
        let host = host.map(str::to_owned);
        rig.shop
            .change(|shop| shop.meta.as_mut().unwrap()["myshopify_domain"] = host.into());
    };
    state(None);
    let first = rig.crawl("r1", None).await.unwrap();
    state(Some("tea.myshopify.com"));
    let second = rig.crawl("r2", Some(&first)).await.unwrap();
    assert_eq!(second.store.as_str(), "tea.localhost");
    state(Some("coffee.myshopify.com"));
    assert_eq!(
        rig.crawl("r3", Some(&second)).await.unwrap_err().label(),
        "another_store"
    );
    state(None);
    rig.crawl("r4", Some(&second)).await.unwrap();
}

#[tokio::test]
async fn a_redirect_is_followed_to_the_store_itself_and_not_to_another() {
    let both = ["/meta.json", "/products.json"];
    let cases: [(&[&str], &str, bool, bool); 6] = [
        // The store moved as a whole, and says who it is.
        (&both, "newtea.localhost", true, true),
        // It says nothing of itself where it is now.
        (&both, "newtea.localhost", false, false),
        // Its catalogue alone leads away.
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
