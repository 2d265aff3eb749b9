use data_codes::StatedCodes;
use data_model::RunId;
use pipeline_crawl::{CodesCrawl, CodesStop};
use serde_json::json;
use storefront::StoreError;

use crate::support::{Fault, Rig, Shop};

const BAR: &str = "<html><body><div class=bar>Use code <b>TEA10</b> for 10% off</div></body></html>";

fn telling(front: Option<&str>, shipping: Option<&str>) -> Shop {
    let policy =
        shipping.map(|body| json!({"title": "Shipping", "body": body, "url": "", "handle": "shipping-policy"}));
    let answer = json!({"data": {"shop": {"name": "Tea", "shippingPolicy": policy, "refundPolicy": null,
        "privacyPolicy": {"body": "<p>Use code SECRET10 for 10% off</p>"}}}});
    Shop {
        front: front.map(str::to_owned),
        policies: Some(answer.to_string()),
        ..Shop::of(1..=2)
    }
}

async fn read(rig: &Rig, run: &str, known: StatedCodes) -> CodesCrawl {
    let run: RunId = run.parse().unwrap();
    rig.crawler().read_codes(&run, &rig.brand, known).await
}

fn codes(crawl: &CodesCrawl) -> Vec<String> {
    crawl.stated.all().into_iter().map(|stated| stated.code).collect()
}

#[tokio::test]
async fn the_front_page_and_the_policies_are_landed_and_their_codes_told() {
    let shipping = "<p>Ships free above Rs 499 with code SHIPFREE</p>";
    let rig = Rig::with(telling(Some(BAR), Some(shipping))).await;
    let first = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    assert!(first.stopped_by.is_none());
    assert_eq!(codes(&first), ["TEA10", "SHIPFREE"]);
    assert_eq!(rig.shop.take_asked(), ["/ 200", "/api/2026-04/graphql.json 200"]);
    assert_eq!(
        rig.objects().await,
        [
            "landing/20261121T000000Z-1/tea.localhost/front-page.html.zst",
            "landing/20261121T000000Z-1/tea.localhost/policies.json.zst"
        ]
    );
    assert!(first.bytes > BAR.len() as u64);
}

#[tokio::test]
async fn what_is_not_due_is_not_asked_for_and_what_is_as_it_was_costs_one_conditional_request() {
    let rig = Rig::with(telling(Some(BAR), None)).await;
    let first = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    let again = read(&rig, "20261121T000000Z-2", first.stated.clone()).await;
    assert_eq!((again.requests, &again.stated), (0, &first.stated));
    rig.shop.take_asked();
    rig.clock.advance_ms(7 * 3600 * 1000);
    let later = read(&rig, "20261121T000000Z-3", again.stated).await;
    assert_eq!(rig.shop.take_asked(), ["/ 304"]);
    assert_eq!(
        (later.requests, later.bytes, codes(&later)),
        (1, 0, vec!["TEA10".to_owned()])
    );
    rig.shop.change(|shop| shop.front = Some(BAR.replace("TEA10", "TEA20")));
    rig.clock.advance_ms(8 * 24 * 3600 * 1000);
    let week = read(&rig, "20261121T000000Z-4", later.stated).await;
    assert_eq!((week.requests, codes(&week)), (2, vec!["TEA20".to_owned()]));
}

#[tokio::test]
async fn robots_that_disallow_the_front_page_are_kept_to() {
    let shop = Shop {
        robots: (200, "User-agent: *\nDisallow: /$\nDisallow: /api/\n".to_owned()),
        ..telling(Some(BAR), Some("<p>Use code SHIPFREE: free shipping</p>"))
    };
    let rig = Rig {
        country: None,
        ..Rig::with(shop).await
    };
    let crawl = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    assert!(crawl.stopped_by.is_none());
    assert_eq!((codes(&crawl), rig.shop.take_asked()), (vec![], vec![]));
    // The front page and policies are requested only when they are due.
    let again = read(&rig, "20261121T000000Z-2", crawl.stated).await;
    assert_eq!(again.requests, 0);
}

#[tokio::test]
async fn a_store_that_has_had_enough_keeps_what_is_known_and_is_asked_by_the_next_run() {
    let rig = Rig::with(telling(Some(BAR), None)).await;
    rig.shop
        .change(|shop| drop(shop.faults.insert("/".into(), Fault::Answer(429, String::new()))));
    let crawl = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    assert!(
        matches!(crawl.stopped_by, Some(CodesStop::Store(StoreError::Throttled { .. }))),
        "{:?}",
        crawl.stopped_by
    );
    assert_eq!(crawl.stated, StatedCodes::default());
    rig.shop.change(|shop| shop.faults.clear());
    let next = read(&rig, "20261121T000000Z-2", crawl.stated).await;
    assert_eq!(codes(&next), ["TEA10"]);
}

#[tokio::test]
async fn the_front_page_of_another_shop_states_nothing() {
    let rig = Rig::with(telling(Some(BAR), None)).await;
    rig.shop
        .change(|shop| drop(shop.moved.insert("/".into(), "mate.localhost".into())));
    let crawl = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    assert_eq!(codes(&crawl), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_asked_for_where_it_is_switched_off() {
    let mut rig = Rig::with(telling(Some(BAR), None)).await;
    (rig.config.front_page_after_s, rig.config.policies_after_s) = (0, 0);
    let crawl = read(&rig, "20261121T000000Z-1", StatedCodes::default()).await;
    assert_eq!((crawl.requests, rig.shop.take_asked()), (0, vec![]));
}
