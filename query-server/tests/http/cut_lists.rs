//! Tests of products whose stores list only the first of many variants.

use data_model::{OptionValue, Product, ProductOption, Variant};
use serde_json::json;

use crate::support::Market;

/// Returns a poster in 20 sizes and 20 colours, of which the store lists only the first `listed` variants. Only the
/// last of these may be available.
fn poster(facts: &data_index::BrandFacts, id: u64, listed: usize, available: bool) -> Product {
    let values = |name: &str| (1..=20).map(|at| format!("{name} {at}")).collect::<Vec<_>>();
    let (sizes, colors) = (values("Size"), values("Color"));
    let pairs = sizes
        .iter()
        .flat_map(|size| colors.iter().map(move |color| (size, color)));
    let value = |name: &str, value: &String| OptionValue {
        name: name.to_owned(),
        value: value.clone(),
    };
    let variants = pairs.take(listed).zip(1..).map(|((size, color), at)| Variant {
        options: vec![value("Size", size), value("Color", color)],
        available: false,
        ..kit::variant(id * 1000 + at, 1_000 + i64::try_from(at).unwrap())
    });
    let mut variants: Vec<Variant> = variants.collect();
    variants.last_mut().unwrap().available = available;
    let option = |name: &str, values: Vec<String>| ProductOption {
        name: name.to_owned(),
        values,
    };
    Product {
        options: vec![option("Size", sizes), option("Color", colors)],
        variants,
        ..kit::product(&facts.brand, id, &format!("Poster {id}"))
    }
}

#[tokio::test]
async fn a_product_whose_list_is_cut_says_so_and_what_is_known_of_it() {
    let facts = kit::facts(kit::brand("Paper House"));
    let cases = [
        (400, true),
        (400, false),
        (250, true),
        (250, false),
        (100, false),
        (7, false),
    ];
    let posters = cases.iter().zip(1..);
    let posters = posters.map(|((listed, available), id)| poster(&facts, id, *listed, *available));
    let posters: Vec<Product> = posters.collect();
    let market = Market::of(&vec![(facts.clone(), posters.clone())]).await;
    let path = format!("/v1/browse?brand={}&limit=50", facts.brand.slug);
    let page = market.get(&path).await.json();
    for (poster, (listed, available)) in posters.iter().zip(cases) {
        let id = poster.key.id().to_string();
        let cards = page["data"]["items"].as_array().unwrap();
        let card = cards.iter().find(|card| card["id"] == id.as_str()).unwrap();
        let detail = market.get(&format!("/v1/products/{id}?include=variants")).await.json();
        for told in [card, &detail["data"]] {
            let told = [&told["variants_complete"], &told["price_min_minor"], &told["in_stock"]];
            let expected = [&json!(listed == 400), &json!(1_001), &json!(available)];
            assert_eq!(told, expected, "{listed} {available}");
        }
        assert_eq!(detail["data"]["variants"].as_array().unwrap().len(), listed);
        let page = market.get(&format!("/products/{id}")).await.body;
        let page = String::from_utf8_lossy(&page);
        let shown =
            ["<p class=\"state\">In stock", "<p class=\"state\">Out of stock"].map(|stock| page.contains(stock));
        assert_eq!(shown, [available, !available && listed == 400], "{listed} {available}");
    }
}
