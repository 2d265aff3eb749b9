//! Tests of queries that name a recipient, and of products that must not be returned for that recipient.

use data_index::BrandFacts;
use data_model::Product;
use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product};
use crate::support::Market;

fn described(facts: &BrandFacts, id: u64, title: &str, description: &str) -> Product {
    Product {
        description: description.to_owned(),
        ..product(facts, id, title)
    }
}

async fn market() -> Market {
    let facts = brand("All Sorts", "EUR");
    let products = [
        ("Men's Wallet", ""),
        ("Women's Wallet", ""),
        ("Slim Wallet", ""),
        ("Card Wallet", "Cut from one piece of leather."),
        ("Kids Face Mask", ""),
        ("Face Mask", ""),
        ("Coffee Beans", ""),
        ("I Love Nikon T-Shirt", ""),
        ("Gift Card", ""),
        ("Grandma Mug", ""),
        ("Rich Shampoo", "Foams with sulfates."),
        ("Everyday Shampoo", ""),
        ("Curl Shampoo", "Made without silicones or sulfates."),
        ("Déodorant sans aluminium", ""),
        ("Aluminium Deodorant", ""),
    ];
    let products = (1..).zip(products);
    let products = products.map(|(id, (title, description))| described(&facts, id, title, description));
    let products = products.collect();
    Market::of(&vec![(facts, products)]).await
}

async fn titles(market: &Market, query: &str) -> Vec<String> {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={encoded}")).await.read();
    answer.data.into_iter().map(|card| card.title.into_owned()).collect()
}

#[tokio::test]
async fn what_says_that_it_is_for_others_is_left_out_and_what_says_nothing_is_not() {
    let market = market().await;
    for (query, others) in [
        ("wallet for my husband", "Women's Wallet"),
        ("wallet for him", "Women's Wallet"),
        ("wallet for my wife", "Men's Wallet"),
        ("Geldbörse für meine Frau", "Men's Wallet"),
        ("biwi ke liye wallet", "Men's Wallet"),
    ] {
        let found = titles(&market, query).await;
        assert!(!found.iter().any(|title| title == others), "{query}: {found:?}");
        assert!(
            found.iter().take(3).any(|title| title == "Slim Wallet"),
            "{query}: {found:?}"
        );
    }
}

#[tokio::test]
async fn what_is_for_children_says_so_where_anything_does() {
    let market = market().await;
    for query in ["face mask for my son", "face mask for a 5 year old"] {
        assert_eq!(titles(&market, query).await, ["Kids Face Mask"], "{query}");
    }
}

#[tokio::test]
async fn the_thing_that_somebody_loves_leads() {
    let market = market().await;
    for query in [
        "gift for my dad who loves coffee",
        "gift for somebody who is crazy about coffee",
        "papa ke liye coffee gift",
        "Geschenk für meinen Vater, der Kaffee liebt",
    ] {
        let found = titles(&market, query).await;
        assert_eq!(
            found.first().map(String::as_str),
            Some("Coffee Beans"),
            "{query}: {found:?}"
        );
    }
}

#[tokio::test]
async fn what_may_be_what_is_refused_stands_last() {
    let market = market().await;
    for query in [
        "wallet without leather",
        "wallet no leather",
        "Geldbörse ohne Leder",
        "bina leather ka wallet",
    ] {
        let found = titles(&market, query).await;
        assert_eq!(
            found.last().map(String::as_str),
            Some("Card Wallet"),
            "{query}: {found:?}"
        );
        assert!(found.len() >= 4, "{query}: {found:?}");
    }
}

#[tokio::test]
async fn what_says_that_it_lacks_what_is_refused_stands_first_in_whichever_language() {
    let market = market().await;
    let shampoos = titles(&market, "shampoo no sulfates").await;
    assert_eq!(shampoos[..3], ["Curl Shampoo", "Everyday Shampoo", "Rich Shampoo"]);
    let deodorants = titles(&market, "deodorant without aluminium").await;
    assert_eq!(deodorants[0], "Déodorant sans aluminium");
    assert!(
        !deodorants.iter().any(|title| title == "Aluminium Deodorant"),
        "{deodorants:?}"
    );
}

#[tokio::test]
async fn words_of_the_recipient_are_searched_where_the_others_find_nothing() {
    let market = market().await;
    assert_eq!(titles(&market, "gift for xqzzt grandma").await[0], "Grandma Mug");
}
