//! Tests of queries in one language that find titles in another.

use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product};
use crate::support::Market;

const TITLES: [&str; 12] = [
    "Wireless Headphones",
    "Red Shoes",
    "Leather Jacket",
    "Dark Chocolate",
    "Sugar Free Dark Chocolate",
    "Coffee Beans",
    "Sombrero negro de paja",
    "Camiseta blanca de algodón",
    "Zapatos de cuero para mujer",
    "Tornillo de acero inoxidable",
    "Bufanda de lana",
    "Cinturón azul",
];

async fn market() -> Market {
    let facts = brand("Mixed Goods", "EUR");
    let products = (1..).zip(TITLES).map(|(id, title)| product(&facts, id, title));
    let products = products.collect();
    Market::of(&vec![(facts, products)]).await
}

async fn search(market: &Market, query: &str) -> SearchAnswer<'static> {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    market.get(&format!("/v1/search?q={encoded}")).await.read()
}

#[tokio::test]
async fn a_word_finds_what_it_names_whatever_the_language_of_the_title() {
    let market = market().await;
    for (query, first) in [
        ("kabellose Kopfhörer", "Wireless Headphones"),
        ("casque sans fil", "Wireless Headphones"),
        ("cuffie", "Wireless Headphones"),
        ("koptelefoon", "Wireless Headphones"),
        ("auriculares inalámbricos", "Wireless Headphones"),
        ("rote Schuhe", "Red Shoes"),
        ("Lederjacke", "Leather Jacket"),
        ("giacca di pelle", "Leather Jacket"),
        ("dunkle Schokolade ohne Zucker", "Sugar Free Dark Chocolate"),
        ("koffiebonen", "Coffee Beans"),
        // Queries in English and other languages find things with Spanish titles.
        ("black hat", "Sombrero negro de paja"),
        ("white t-shirt", "Camiseta blanca de algodón"),
        ("women's leather shoes", "Zapatos de cuero para mujer"),
        ("Schraube", "Tornillo de acero inoxidable"),
        ("wool scarf", "Bufanda de lana"),
        ("ceinture bleue", "Cinturón azul"),
    ] {
        let found = search(&market, query).await;
        let titles: Vec<&str> = found.data.iter().map(|card| card.title.as_ref()).collect();
        assert_eq!(titles.first(), Some(&first), "{query}: {titles:?}");
        assert!(found.provenance.corrections.is_empty(), "{query}");
    }
}

#[tokio::test]
async fn typed_words_are_looked_for_beside_their_translation_and_in_descriptions_too() {
    let facts = brand("Cremas", "EUR");
    let titles = ["Moisturiser", "Gel suave", "Aceite", "Crema hidratante"];
    let products = (1..).zip(titles).map(|(id, title)| product(&facts, id, title));
    let mut products: Vec<_> = products.collect();
    products[1].description = "Una crema que es hidratante.".into();
    let market = Market::of(&vec![(facts, products)]).await;
    let found = search(&market, "crema hidratante roja").await;
    let titles: Vec<&str> = found.data.iter().map(|card| card.title.as_ref()).collect();
    let mut first = titles[..3].to_vec();
    first.sort_unstable();
    assert_eq!(first, ["Crema hidratante", "Gel suave", "Moisturiser"], "{titles:?}");
}

#[tokio::test]
async fn what_is_translated_is_told_and_what_is_read_is_told_as_it_was_typed() {
    let market = market().await;
    let found = search(&market, "Kopfhörer bis 800 €").await;
    let synonyms = found.provenance.synonyms.iter();
    assert!(
        synonyms
            .clone()
            .any(|synonym| synonym.of == "Kopfhörer" && synonym.to == "headphones")
    );
    let [price] = &found.provenance.understood[..] else {
        panic!("{:?}", found.provenance.understood);
    };
    assert_eq!((&*price.text, &*price.meaning), ("bis 800 €", "price"));
}
