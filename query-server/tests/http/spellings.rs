//! Tests of word spellings: mistyped, separate or joined words, codes, sizes, and numbers as words.

use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product};
use crate::support::{Catalogue, Market};

fn shop(titles: &[&str]) -> Catalogue {
    let facts = brand("Any Shop", "INR");
    let products = (1..).zip(titles).map(|(id, title)| product(&facts, id, title));
    let products = products.collect();
    vec![(facts, products)]
}

async fn search(market: &Market, query: &str) -> SearchAnswer<'static> {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    market.get(&format!("/v1/search?q={encoded}")).await.read()
}

/// Checks that each query finds its title first.
async fn first_found(titles: &[&str], expected: &[(&str, &str)]) {
    let market = Market::of(&shop(titles)).await;
    for (query, first) in expected {
        let found = search(&market, query).await;
        let found: Vec<_> = found.data.iter().map(|card| card.title.as_ref()).collect();
        assert_eq!(found.first(), Some(first), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn a_usual_word_is_found_by_what_is_less_like_it() {
    let titles = [
        "Foam Mattress",
        "Spring Mattress",
        "Kids Mattress",
        "Wool Rug",
        "Wool Scarf",
        "Wool Socks",
        "Ceramic Vase",
        "Glass Vase",
        "Paper Vase",
        "Copper Bottle",
    ];
    first_found(
        &titles,
        &[
            // These queries have mistakes in the first letter, one mistake in four letters, and two in seven.
            ("nattress foam", "Foam Mattress"),
            ("attress foam", "Foam Mattress"),
            ("wolo rug", "Wool Rug"),
            ("glass vsae", "Glass Vase"),
            ("foam matrres", "Foam Mattress"),
        ],
    )
    .await;
    // Words that occur in few titles are not used as corrections.
    let market = Market::of(&shop(&titles)).await;
    for query in ["dopper", "copqxr"] {
        let found = search(&market, query).await;
        assert!(found.provenance.corrections.is_empty(), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn a_first_letter_is_another_where_that_word_is_much_more_usual() {
    let antiques = (1..=30).map(|number| format!("Antique Brass Hook {number}"));
    let titles: Vec<String> = antiques
        .chain(["Unique Mirror".to_owned(), "Castle Lamp".to_owned()])
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let market = Market::of(&shop(&titles)).await;
    let found = search(&market, "untique hook").await;
    assert_eq!(found.provenance.corrections[0].to, "antique");
    let found = search(&market, "castel lamp").await;
    assert_eq!(found.data[0].title, "Castle Lamp");
}

#[tokio::test]
async fn a_code_is_found_however_its_letters_and_digits_stand() {
    first_found(
        &[
            "Battery CR2032",
            "Mixer KHM-512TG",
            "Mixer KSM150PSER Red",
            "Ink 63XL Tri-Colour",
            "Lamp with 3 Light Arms",
            "Water Filter 6 Pack",
            "Plain Cup",
            "Rug Tape",
        ],
        &[
            ("cr 2032", "Battery CR2032"),
            ("cr-2032", "Battery CR2032"),
            ("khm 512tg", "Mixer KHM-512TG"),
            ("khm512tg", "Mixer KHM-512TG"),
            ("ksm150ps", "Mixer KSM150PSER Red"),
            ("ksm-150pser", "Mixer KSM150PSER Red"),
            ("ink 63 xl", "Ink 63XL Tri-Colour"),
            ("3light lamp", "Lamp with 3 Light Arms"),
            ("three light lamp", "Lamp with 3 Light Arms"),
            ("filter 6pk", "Water Filter 6 Pack"),
            ("six pack filter", "Water Filter 6 Pack"),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_one_title_alone_writes_together_is_found_apart() {
    first_found(
        &[
            "Oak Nightstand",
            "Television Stand",
            "Night Lamp",
            "Airfryer 4 l",
            "Air Cooler",
        ],
        &[
            ("night stand", "Oak Nightstand"),
            ("air fryer", "Airfryer 4 l"),
            ("nightlamp", "Night Lamp"),
        ],
    )
    .await;
    // A known word is not split.
    let market = Market::of(&shop(&[
        "Storage Box",
        "Stor Lamp",
        "Stor Chair",
        "Age Well Tea",
        "Age Cream",
    ]))
    .await;
    let found = search(&market, "storage").await;
    assert!(found.provenance.synonyms.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_size_is_found_in_every_spelling() {
    let titles = [
        "Runner 2 ft. 6 in. x 9 ft.",
        "Jute Rug 6 ft. x 9 ft.",
        "Wool Rug 6x9",
        "Silk Rug 6 \u{d7} 9",
        "Rug 6 ft. x 4 ft. x 9 kg",
    ];
    let market = Market::of(&shop(&titles)).await;
    for query in [
        "6x9 rug",
        "6 x 9 rug",
        "6 by 9 rug",
        "6'x9' rug",
        "6ftx9ft rug",
        "6\u{d7}9 rug",
        "rug 6 \u{d7} 9",
    ] {
        let found = search(&market, query).await;
        let mut first: Vec<_> = found.data.iter().take(3).map(|card| card.title.as_ref()).collect();
        first.sort_unstable();
        assert_eq!(
            first,
            ["Jute Rug 6 ft. x 9 ft.", "Silk Rug 6 \u{d7} 9", "Wool Rug 6x9"],
            "{query}"
        );
    }
}

#[tokio::test]
async fn units_of_two_words_are_one_however_they_are_written() {
    first_found(
        &[
            "Shampoo 8 fl. oz.",
            "Shampoo 16 oz",
            "Heater for 200 sq. ft.",
            "Heater for 500 Square Feet",
            "Fridge 5 cu. ft.",
            "Vitamins 24 Count",
            "Vitamins 48 ct",
            "Pipe 0.5 in.",
            "Pipe 3/4 in.",
        ],
        &[
            ("shampoo 8oz", "Shampoo 8 fl. oz."),
            ("8 fluid ounce shampoo", "Shampoo 8 fl. oz."),
            ("shampoo 16 fl oz", "Shampoo 16 oz"),
            ("heater 200 square feet", "Heater for 200 sq. ft."),
            ("heater 500 sqft", "Heater for 500 Square Feet"),
            ("5 cubic foot fridge", "Fridge 5 cu. ft."),
            ("vitamins 24ct", "Vitamins 24 Count"),
            ("48 count vitamins", "Vitamins 48 ct"),
            ("half inch pipe", "Pipe 0.5 in."),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_number_in_letters_is_told_and_is_not_looked_for_as_digits_where_words_are_taken_as_typed() {
    let market = Market::of(&shop(&["Lamp 3 Light", "Three Kings Lamp"])).await;
    let found = search(&market, "three light").await;
    let told: Vec<_> = found
        .provenance
        .synonyms
        .iter()
        .map(|one| (one.of.as_ref(), one.to.as_ref()))
        .collect();
    assert_eq!(told, [("three", "3")]);
    let typed: SearchAnswer<'static> = market.get("/v1/search?q=three+light&mode=lexical").await.read();
    assert!(typed.provenance.synonyms.is_empty(), "{typed:?}");
    assert_ne!(typed.provenance.relaxed, "none", "{typed:?}");
}

#[tokio::test]
async fn british_and_american_spellings_find_each_other_but_not_as_typed() {
    let titles = [
        "Fiber Cement Board",
        "Center Bracket",
        "Colouring Pencils",
        "Mold Remover",
        "Travelling Bag",
    ];
    first_found(
        &titles,
        &[
            ("fibre cement", "Fiber Cement Board"),
            ("centre bracket", "Center Bracket"),
            ("coloring pencils", "Colouring Pencils"),
            ("mould remover", "Mold Remover"),
            ("traveling bag", "Travelling Bag"),
        ],
    )
    .await;
    let market = Market::of(&shop(&titles)).await;
    let found = search(&market, "fibre cement").await;
    let told: Vec<_> = found
        .provenance
        .synonyms
        .iter()
        .map(|one| (&*one.of, &*one.to))
        .collect();
    assert_eq!(told, [("fibre", "fiber")]);
    let typed: SearchAnswer<'static> = market.get("/v1/search?mode=lexical&q=centre").await.read();
    assert_eq!((typed.data.len(), typed.provenance.synonyms.len()), (0, 0));
}
