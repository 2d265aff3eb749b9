use data_model::{CategoryId, Product};
use query_server::{QueryConfig, QueryServer};
use serde_json::Value;

use crate::support::{Catalogue, Market, send};

/// Id of the taxonomy category `Mature > Erotic`.
const EROTIC: u32 = 773;

fn catalogue() -> Catalogue {
    let facts = kit::facts(kit::brand("Depot"));
    let product = |id: u64, title: &str, category: u32| Product {
        category: Some(CategoryId(category)),
        ..kit::product(&facts.brand, id, title)
    };
    let products = vec![
        product(1, "Satin Blindfold", EROTIC),
        product(2, "Satin Shirt", 212),
        product(3, "Cotton Shirt", 212),
    ];
    vec![(facts, products)]
}

fn texts(list: &Value, member: &str) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[member].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn adult_categories_are_shown_to_those_who_ask_for_them() {
    let market = Market::of(&catalogue()).await;
    let get = async |path: &str| market.get(path).await.json();
    assert_eq!(
        texts(&get("/v1/categories").await["data"], "slug"),
        ["apparel-accessories"]
    );
    assert_eq!(
        get("/v1/suggest?q=erotic").await["data"]["categories"],
        serde_json::json!([])
    );
    assert_eq!(
        get("/v1/suggest?q=mature").await["data"]["categories"],
        serde_json::json!([])
    );
    let satin = get("/v1/suggest?q=satin").await;
    assert_eq!(texts(&satin["data"]["products"], "title"), ["Satin Shirt"]);
    assert!(!satin["data"]["queries"].to_string().contains("blindfold"), "{satin}");
    assert_eq!(
        get("/v1/suggest?q=blindfold").await["data"]["products"],
        serde_json::json!([])
    );
    // A query with a child's age finds no adult products.
    let titles = async |query: &str| texts(&get(&format!("/v1/search?q={query}")).await["data"], "title");
    assert!(titles("satin").await.contains(&"Satin Blindfold".to_owned()));
    assert_eq!(titles("satin+for+5+year+old").await, ["Satin Shirt"]);
    let all = get("/v1/search?facet_counts=true").await;
    assert_eq!(all["data"].as_array().unwrap().len(), 2);
    let category = &all["provenance"]["facets"][0];
    assert_eq!(
        (&category["name"], texts(&category["values"], "value")),
        (&"category".into(), vec!["apparel-accessories".to_owned()])
    );
    assert_eq!(all["provenance"]["facets"][1]["values"][0]["count"], 2);
    let shirt = all["data"][0]["id"].as_str().unwrap();
    let like = get(&format!("/v1/recommend?product_id={shirt}&intent=same_brand")).await;
    assert_eq!(texts(&like["data"], "title").len(), 1);
    // Queries with the product's words, brand or category find it.
    let by_words = get("/v1/search?q=satin+blindfold").await;
    assert_eq!(texts(&by_words["data"], "title")[0], "Satin Blindfold");
    assert_eq!(
        get("/v1/browse?category=erotic").await["data"]["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        get("/v1/browse?brand=depot").await["data"]["items"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let of_category = get("/v1/search?facets=%7B%22category%22:%22mature%22%7D").await;
    assert_eq!(texts(&of_category["data"], "title"), ["Satin Blindfold"]);
}

#[tokio::test]
async fn an_operator_may_show_them() {
    let market = Market::of(&catalogue()).await;
    let mut config = QueryConfig::new("INR".parse().unwrap());
    config.adult = true;
    let cache = market.dir.path().join("adult");
    let server = QueryServer::new(market.store(), cache, kit::SetClock::noon(), config);
    server.refresh().await.unwrap();
    let router = server.router(None);
    let get = async |path: &str| {
        let request = http::Request::get(path).body(axum::body::Body::empty()).unwrap();
        send(router.clone(), request).await.json()
    };
    assert_eq!(
        texts(&get("/v1/categories").await["data"], "slug"),
        ["apparel-accessories", "mature"]
    );
    assert_eq!(
        texts(&get("/v1/suggest?q=erotic").await["data"]["categories"], "slug"),
        ["erotic"]
    );
    assert_eq!(get("/v1/search").await["data"].as_array().unwrap().len(), 3);
}

/// Id of the taxonomy category of stuffed toys.
const SOFT_TOYS: u32 = 1259;

#[tokio::test]
async fn what_a_brand_of_adult_things_sells_besides_is_nobodys_gift() {
    let mut catalogue = catalogue();
    let facts = kit::facts(kit::brand("Boudoir"));
    let product = |id: u64, title: &str, category: u32| Product {
        category: Some(CategoryId(category)),
        ..kit::product(&facts.brand, id, title)
    };
    let products = vec![
        product(11, "Silk Cuffs", EROTIC),
        product(12, "Velvet Mask", EROTIC),
        product(13, "Bear of Hearts", SOFT_TOYS),
    ];
    catalogue.push((facts, products));
    let depot = catalogue[0].0.clone();
    catalogue[0].1.push(Product {
        category: Some(CategoryId(SOFT_TOYS)),
        ..kit::product(&depot.brand, 4, "Plush Bear")
    });
    let market = Market::of(&catalogue).await;
    let titles = async |query: &str| {
        let answer = market.get(&format!("/v1/search?q={query}")).await.json();
        texts(&answer["data"], "title")
    };
    assert_eq!(titles("gift+for+5+year+old").await, ["Plush Bear"]);
    // A query with the brand's name finds its products.
    assert_eq!(titles("bear+of+hearts").await[0], "Bear of Hearts");
    // A shop that also sells other products does not count as an adult brand.
    assert_eq!(titles("satin+for+5+year+old").await, ["Satin Shirt"]);
}
