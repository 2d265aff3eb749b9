use std::collections::BTreeMap;

use data_model::{PriceEvent, PricePoint, PriceSource, VariantId};
use query_server::schema::PriceHistoryAnswer;

use crate::catalogue::small;
use crate::support::{Market, Observed};

fn point(day: u32, variant: u64, event: PriceEvent, price_minor: Option<i64>) -> PricePoint {
    PricePoint {
        observed_at: format!("2026-11-{day:02}T06:30:00Z").parse().unwrap(),
        variant: VariantId(variant),
        event,
        currency: "INR".parse().unwrap(),
        price_minor,
        compare_at_minor: price_minor.filter(|price| *price == 49_900).map(|_| 59_900),
        available: price_minor.map(|price| price != 159_900),
        source: if day == 20 {
            PriceSource::Live
        } else {
            PriceSource::Crawl
        },
    }
}

/// Returns a variant as a crawl in November first saw it.
pub(crate) fn first_seen(day: u32, variant: u64) -> PricePoint {
    point(day, variant, PriceEvent::FirstSeen, Some(20_000))
}

/// Creates a market with price histories. Vienna Roast (1) became cheaper and lost a size. Cold Brew (2) has not
/// changed since it was first seen. The other products have no history.
pub(crate) async fn market() -> Market {
    let vienna = vec![
        point(20, 11, PriceEvent::Changed, Some(49_900)),
        point(18, 13, PriceEvent::Gone, None),
        point(1, 11, PriceEvent::FirstSeen, Some(54_900)),
        point(1, 12, PriceEvent::FirstSeen, Some(159_900)),
        point(1, 13, PriceEvent::FirstSeen, Some(20_000)),
    ];
    let brew = vec![point(2, 20, PriceEvent::FirstSeen, Some(60_000))];
    let observed = Observed {
        prices: BTreeMap::from([(1, vienna), (2, brew)]),
        ..Observed::default()
    };
    Market::observed(&small(), &observed).await
}

async fn path_of(market: &Market, query: &str) -> String {
    let found = market.get(&format!("/v1/search?q={query}&limit=1")).await.json();
    format!(
        "/v1/products/{}/price-history",
        found["data"][0]["id"].as_str().unwrap()
    )
}

#[tokio::test]
async fn price_history_tells_what_was_observed_newest_first() {
    let market = market().await;
    let path = path_of(&market, "vienna").await;
    let told = market.get(&format!("{path}?limit=3")).await;
    let entries = told.json()["data"].as_array().unwrap().clone();
    let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(entries.join("\n"), @r#"
{"available":true,"compare_at_minor":59900,"currency":"INR","event":"changed","observed_at":"2026-11-20T06:30:00Z","price_minor":49900,"source":"live","variant_id":"11"}
{"available":null,"compare_at_minor":null,"currency":"INR","event":"gone","observed_at":"2026-11-18T06:30:00Z","price_minor":null,"source":"crawl","variant_id":"13"}
{"available":true,"compare_at_minor":null,"currency":"INR","event":"first_seen","observed_at":"2026-11-01T06:30:00Z","price_minor":54900,"source":"crawl","variant_id":"11"}
"#);
    let _: PriceHistoryAnswer<'static> = told.read();
    let brew: PriceHistoryAnswer<'static> = market.get(&path_of(&market, "cold+brew").await).await.read();
    let told: Vec<_> = brew
        .data
        .iter()
        .map(|one| {
            (
                one.variant_id.as_ref(),
                one.event.as_ref(),
                one.price_minor,
                one.source.as_deref(),
            )
        })
        .collect();
    assert_eq!(told, [("20", "first_seen", Some(60_000), Some("crawl"))]);
    assert_eq!(brew.provenance.page.next_cursor, None);
    let unknown: PriceHistoryAnswer<'static> = market.get(&path_of(&market, "linen").await).await.read();
    assert!(unknown.data.is_empty());
}

#[tokio::test]
async fn a_cursor_walks_the_history_of_its_own_product_only() {
    let market = market().await;
    let path = path_of(&market, "vienna").await;
    let whole: PriceHistoryAnswer<'static> = market.get(&path).await.read();
    assert_eq!(whole.data.len(), 5);
    let (mut seen, mut query) = (Vec::new(), "limit=2".to_owned());
    loop {
        let page: PriceHistoryAnswer<'static> = market.get(&format!("{path}?{query}")).await.read();
        assert!(page.data.len() <= 2);
        seen.extend(page.data);
        let Some(cursor) = page.provenance.page.next_cursor else {
            break;
        };
        let other = path_of(&market, "cold+brew").await;
        assert_eq!(market.get(&format!("{other}?cursor={cursor}")).await.status, 422);
        query = format!("limit=2&cursor={cursor}");
    }
    assert_eq!(seen, whole.data);
}

#[tokio::test]
async fn what_cannot_be_answered_is_told() {
    let market = market().await;
    let path = path_of(&market, "vienna").await;
    let answered = market.get(&format!("{path}?limit=0&cursor=x")).await;
    assert_eq!(
        (answered.status.as_u16(), &answered.json()["detail"][0]["type"]),
        (422, &"greater_than_equal".into())
    );
    assert_eq!(market.get(&format!("{path}?limit=1001")).await.status, 422);
    assert_eq!(market.get("/v1/products/x/price-history").await.status, 422);
    let unknown = market
        .get("/v1/products/00000000-0000-0000-0000-000000000000/price-history")
        .await;
    assert_eq!(
        (unknown.status.as_u16(), &unknown.json()["code"]),
        (404, &"product_not_found".into())
    );
}
