use query_server::schema::BrowseAnswer;

use crate::catalogue::small;
use crate::support::Market;
use crate::wide::wide;

#[tokio::test]
async fn a_brands_products_are_what_browsing_the_brand_answers() {
    let market = Market::of(&wide()).await;
    for query in [
        "",
        "category=coffee&sort=price_asc",
        "facets=%7B%22color%22%3A%22navy%22%7D&limit=3",
    ] {
        let own: BrowseAnswer<'static> = market.get(&format!("/v1/brands/corner/products?{query}")).await.read();
        let browsed: BrowseAnswer<'static> = market.get(&format!("/v1/browse?brand=corner&{query}")).await.read();
        assert_eq!(own, browsed, "{query}");
        assert!(own.data.items.iter().all(|card| card.brand_slug == "corner"));
    }
    // The brand in the path is used, and a `brand` parameter is ignored.
    let own: BrowseAnswer<'static> = market
        .get("/v1/brands/corner/products?brand=depot&limit=60")
        .await
        .read();
    assert_eq!((own.data.items.len(), own.data.next_cursor), (15, None));
}

#[tokio::test]
async fn a_cursor_goes_on_in_the_same_brand_only() {
    let market = Market::of(&wide()).await;
    let first: BrowseAnswer<'static> = market.get("/v1/brands/corner/products?limit=10").await.read();
    let cursor = first.data.next_cursor.unwrap();
    let rest: BrowseAnswer<'static> = market
        .get(&format!("/v1/brands/corner/products?cursor={cursor}"))
        .await
        .read();
    assert_eq!((rest.data.items.len(), rest.data.next_cursor), (5, None));
    assert!(rest.data.items.iter().all(|card| !first.data.items.contains(card)));
    for other in ["depot/products?", "corner/products?currency=USD&"] {
        let answered = market.get(&format!("/v1/brands/{other}cursor={cursor}")).await;
        assert_eq!(answered.status, 422, "{other}");
    }
}

#[tokio::test]
async fn an_unknown_brand_or_category_is_not_found() {
    let market = Market::of(&small()).await;
    for (path, code) in [
        ("no-such/products", "brand_not_found"),
        ("NO%20SLUG/products", "brand_not_found"),
        ("blue-tokai/products?category=no-such", "category_not_found"),
    ] {
        let answered = market.get(&format!("/v1/brands/{path}")).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (404, &code.into()),
            "{path}"
        );
    }
    let answered = market.get("/v1/brands/%FF/products?limit=99").await;
    assert_eq!(answered.status, 422);
    assert_eq!(answered.json()["detail"].as_array().unwrap().len(), 2);
}
