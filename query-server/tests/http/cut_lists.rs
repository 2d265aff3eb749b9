//! Products whose stores list the first of many variants alone.

use data_model::{OptionValue, Product, ProductOption, Variant};
use serde_json::{Value, json};

use crate::support::Market;

/// A poster in 20 sizes and 20 colours, of which its store lists the first so many; the last one alone can be bought.
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
async fn a_product_whose_list_is_cut_claims_neither_a_lowest_price_nor_to_be_sold_out() {
    let facts = kit::facts(kit::brand("Paper House"));
    let whole_is_known = |listed: usize| listed == 400;
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
    let market = Market::of(&vec![(facts.clone(), posters.collect())]).await;
    let page = market.get("/v1/browse?limit=50").await.json();
    let cards = page["data"]["items"].as_array().unwrap();
    assert_eq!(cards.len(), cases.len());
    for card in cards {
        let path = format!("/v1/products/{}", card["id"].as_str().unwrap());
        let detail = market.get(&path).await.json();
        let id: usize = card["title"]
            .as_str()
            .unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let (listed, available) = cases[id - 1];
        let known = whole_is_known(listed);
        let lowest = if known { json!(1_001) } else { Value::Null };
        let in_stock = if known || available {
            json!(available)
        } else {
            Value::Null
        };
        for told in [card, &detail["data"]] {
            let told = [&told["variants_complete"], &told["price_min_minor"], &told["in_stock"]];
            assert_eq!(told, [&json!(known), &lowest, &in_stock], "{listed} {available}");
        }
        assert_eq!(detail["data"]["variants"].as_array().unwrap().len(), listed);
    }
}
