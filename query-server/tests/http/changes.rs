use std::collections::BTreeSet;

use query_server::schema::ChangesAnswer;
use serde_json::json;

use crate::price_history::{first_seen, market};
use crate::support::{Market, Observed};
use crate::wide::wide;

/// Returns the event, the title and the change times of each product.
fn told(answer: &ChangesAnswer<'static>) -> Vec<String> {
    let one = |product: &query_server::schema::ChangedProduct<'static>| {
        let days: Vec<String> = product
            .changes
            .iter()
            .map(|one| one.observed_at.to_string()[8..10].to_owned())
            .collect();
        format!("{} {} {}", product.event, product.product.title, days.join(" "))
    };
    answer.data.iter().map(one).collect()
}

#[tokio::test]
async fn changes_tell_what_came_and_what_changed_since_a_moment() {
    let market = market().await;
    for (since, expected) in [
        ("2026-11-20T06:30:01Z", vec![]),
        ("2026-11-20T06:30:00Z", vec!["changed Vienna Roast Coffee 20"]),
        (
            "2026-11-02T00:00:00Z",
            vec!["changed Vienna Roast Coffee 20 18", "came Cold Brew Bags 02"],
        ),
        (
            "2026-11-01T00:00:00Z",
            vec!["came Vienna Roast Coffee 20 18 01 01 01", "came Cold Brew Bags 02"],
        ),
    ] {
        let answer: ChangesAnswer<'static> = market.get(&format!("/v1/changes?since={since}")).await.read();
        let mut told = told(&answer);
        told.sort_by_key(|line| !line.contains("Vienna"));
        assert_eq!(told, expected, "{since}");
    }
}

#[tokio::test]
async fn pages_of_changes_are_the_whole_list_and_their_cursors_are_of_it_alone() {
    let market = market().await;
    let path = "/v1/changes?since=2026-11-01T00:00:00Z";
    let whole: ChangesAnswer<'static> = market.get(path).await.read();
    let one: ChangesAnswer<'static> = market.get(&format!("{path}&limit=1")).await.read();
    let cursor = one.provenance.page.next_cursor.clone().unwrap();
    let two: ChangesAnswer<'static> = market.get(&format!("{path}&cursor={cursor}")).await.read();
    assert_eq!([one.data, two.data].concat(), whole.data);
    assert_eq!(two.provenance.page.next_cursor, None);
    for other in [
        "since=2026-11-01T00:00:01Z",
        "since=2026-11-01T00:00:00Z&brand=blue-tokai",
    ] {
        let refused = market.get(&format!("/v1/changes?{other}&cursor={cursor}")).await;
        assert_eq!(refused.status, 422, "{other}");
    }
}

#[tokio::test]
async fn a_list_of_changes_ends_after_a_thousand_products_and_says_so() {
    let prices = (1..1_101).chain(2_000..2_015);
    let observed = Observed {
        prices: prices.map(|id| (id, vec![first_seen(1, id * 10)])).collect(),
        ..Observed::default()
    };
    let market = Market::observed(&wide(), &observed).await;
    for (query, expected) in [("", 1_000), ("&brand=bazaar", 1_000), ("&brand=corner", 15)] {
        let (mut ids, mut cursor) = (Vec::new(), String::new());
        let last = loop {
            let path = format!("/v1/changes?since=2026-01-01T00:00:00Z&limit=300{query}{cursor}");
            let page: ChangesAnswer<'static> = market.get(&path).await.read();
            ids.extend(page.data.iter().map(|one| one.product.id));
            match &page.provenance.page.next_cursor {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break page,
            }
        };
        assert_eq!(
            (ids.len(), last.capped),
            (expected, (expected == 1_000).then_some(true)),
            "{query}"
        );
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), expected, "{query}");
    }
}

#[tokio::test]
async fn changes_of_a_brand_are_of_its_products_alone() {
    let market = market().await;
    let of = |brand: &str| format!("/v1/changes?since=2026-01-01T00:00:00Z&brand={brand}");
    let own: ChangesAnswer<'static> = market.get(&of("blue-tokai")).await.read();
    assert!(!own.data.is_empty() && own.data.iter().all(|one| one.product.brand_slug == "blue-tokai"));
    let others: ChangesAnswer<'static> = market.get(&of("loom-thread")).await.read();
    assert!(others.data.is_empty());
    assert_eq!(market.get(&of("nobody")).await.status, 404);
}

#[tokio::test]
async fn changes_need_a_moment() {
    let market = market().await;
    for (query, kind) in [
        ("", "missing"),
        ("?since=yesterday", "value_error"),
        ("?since=", "value_error"),
    ] {
        let refused = market.get(&format!("/v1/changes{query}")).await;
        assert_eq!(refused.status, 422, "{query}");
        let fault = &refused.json()["detail"][0];
        assert_eq!(
            (&fault["loc"], &fault["type"]),
            (&json!(["query", "since"]), &json!(kind)),
            "{query}"
        );
    }
}
