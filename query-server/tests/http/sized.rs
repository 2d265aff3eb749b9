//! Tests of queries that name a size. Stores state sizes as options in their own words.

use data_index::BrandFacts;
use data_model::{OptionValue, Product, ProductOption, Variant};
use query_server::schema::{SearchAnswer, UnderstoodFilter, UnderstoodPhrase};

use crate::catalogue::{brand, product};
use crate::support::{Catalogue, Market};

fn sized(facts: &BrandFacts, id: u64, title: &str, sizes: &[&str]) -> Product {
    let mut product = product(facts, id, title);
    let plain = product.variants.remove(0);
    product.options = vec![ProductOption {
        name: "Size".to_owned(),
        values: sizes.iter().map(|size| (*size).to_owned()).collect(),
    }];
    product.variants = (0..)
        .zip(sizes)
        .map(|(nth, size)| Variant {
            id: data_model::VariantId(id * 100 + nth),
            title: (*size).to_owned(),
            options: vec![OptionValue {
                name: "Size".to_owned(),
                value: (*size).to_owned(),
            }],
            ..plain.clone()
        })
        .collect();
    product
}

fn market() -> Catalogue {
    let stock = brand("Stock Room", "INR");
    let products = vec![
        sized(&stock, 1, "Leaper Runner", &["UK 8", "UK 9"]),
        sized(&stock, 2, "Leaper Court", &["UK 6", "UK 7"]),
        sized(&stock, 3, "Mask, 9 Pack, Size Free", &["One"]),
        sized(&stock, 4, "Otter Sandal", &["37", "38"]),
        product(&stock, 5, "Poster of Size 9 Letters"),
    ];
    vec![(stock, products)]
}

async fn asked(market: &Market, query: &str) -> (Vec<String>, Vec<UnderstoodPhrase<'static>>) {
    let query = query.replace(' ', "+");
    let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={query}")).await.read();
    let titles = answer.data.into_iter().map(|card| card.title.into_owned()).collect();
    (titles, answer.provenance.understood)
}

fn size(text: &str, sizes: &[&str]) -> UnderstoodPhrase<'static> {
    let filter = UnderstoodFilter {
        sizes: sizes.iter().map(|size| (*size).to_owned().into()).collect(),
        ..UnderstoodFilter::default()
    };
    UnderstoodPhrase {
        text: text.to_owned().into(),
        meaning: "size".into(),
        filter: (!sizes.is_empty()).then_some(filter),
        order: None,
    }
}

#[tokio::test]
async fn a_size_finds_what_states_it_as_an_option_in_whichever_words() {
    let market = Market::of(&market()).await;
    for query in ["leaper size 9", "size 9 leaper", "leaper 9 number"] {
        let (titles, told) = asked(&market, query).await;
        assert_eq!(titles, ["Leaper Runner"], "{query}");
        let said = query.replace("leaper", "");
        assert_eq!(told, [size(said.trim(), &["9"])], "{query}");
    }
}

#[tokio::test]
async fn a_size_that_nothing_states_is_let_go_and_the_thing_is_found() {
    let market = Market::of(&market()).await;
    let (titles, told) = asked(&market, "otter size 9").await;
    assert_eq!(titles, ["Otter Sandal"]);
    assert_eq!(told, [size("size 9", &[])]);
}

#[tokio::test]
async fn words_of_a_size_that_a_title_has_are_words() {
    let market = Market::of(&market()).await;
    let (titles, told) = asked(&market, "poster size 9").await;
    assert_eq!((titles[0].as_str(), told), ("Poster of Size 9 Letters", Vec::new()));
    let typed = market.get("/v1/search?q=otter+size+9&understand=false").await;
    let typed: SearchAnswer<'static> = typed.read();
    assert_eq!(typed.provenance.understood, []);
}
