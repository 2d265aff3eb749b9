use query_server::schema::{BrowseAnswer, ProductAnswer, RecommendAnswer, SearchAnswer, SuggestAnswer};

use crate::catalogue::{brand, product};
use crate::support::Market;

#[tokio::test]
async fn lists_show_goods_alone_and_whatever_is_asked_for_by_its_id_is_answered() {
    let loom = brand("Loom", "INR");
    let titles = [
        ("Linen Shirt", "goods"),
        ("Linen Shirt Gift Card", "gift_card"),
        ("Linen Shirt Delivery Fee", "fee"),
        ("Linen Shirt Fabric Sample", "sample"),
        ("Please read: Linen Shirt", "notice"),
        ("Linen Shirt (do not buy)", "test"),
        ("Linen Shirt Repair Service", "service"),
        ("Linen Shirt Slim", "goods"),
    ];
    let products: Vec<_> = (1..)
        .zip(titles)
        .map(|(id, (title, _))| product(&loom, id, title))
        .collect();
    let ids: Vec<_> = products.iter().map(|product| product.key.id()).collect();
    let market = Market::of(&vec![(loom, products)]).await;

    let mut lists: Vec<Vec<String>> = Vec::new();
    for path in [
        "/v1/search?q=linen+shirt",
        "/v1/search?q=linen+shirt&mode=lexical",
        "/v1/search?q=linen+shirt&mode=semantic",
        "/v1/search?q=linen+shirt&in_stock=true",
        "/v1/search",
    ] {
        let answer: SearchAnswer<'static> = market.get(path).await.read();
        lists.push(answer.data.into_iter().map(|card| card.title.into_owned()).collect());
    }
    for path in [
        "/v1/browse?brand=loom",
        "/v1/brands/loom/products",
        "/v1/browse?brand=loom&in_stock=true",
    ] {
        let answer: BrowseAnswer<'static> = market.get(path).await.read();
        lists.push(
            answer
                .data
                .items
                .into_iter()
                .map(|card| card.title.into_owned())
                .collect(),
        );
    }
    let answer: SuggestAnswer<'static> = market.get("/v1/suggest?q=linen").await.read();
    lists.push(
        answer
            .data
            .products
            .into_iter()
            .map(|card| card.title.into_owned())
            .collect(),
    );
    for mut list in lists {
        list.sort_unstable();
        assert_eq!(list, ["Linen Shirt", "Linen Shirt Slim"]);
    }
    for intent in ["related", "same_brand", "cheaper"] {
        let path = format!("/v1/recommend?product_id={}&intent={intent}", ids[0]);
        let answer: RecommendAnswer<'static> = market.get(&path).await.read();
        assert!(
            answer.data.iter().all(|card| card.title == "Linen Shirt Slim"),
            "{:?}",
            answer.data
        );
    }
    for (id, (title, kind)) in ids.iter().zip(titles) {
        let answer: ProductAnswer<'static> = market.get(&format!("/v1/products/{id}")).await.read();
        assert_eq!((answer.data.title.as_ref(), answer.data.kind.as_ref()), (title, kind));
    }
}
