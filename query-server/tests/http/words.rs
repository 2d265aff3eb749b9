//! Tests of searches by words: spellings, synonyms, numbers with units, any script.

use data_index::BrandFacts;
use data_model::Product;
use query_server::Synonyms;
use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product};
use crate::support::{Catalogue, Market};

fn of(facts: &BrandFacts, titles: &[&str]) -> Vec<Product> {
    (1..).zip(titles).map(|(id, title)| product(facts, id, title)).collect()
}

fn shop(titles: &[&str]) -> Catalogue {
    let facts = brand("Any Shop", "INR");
    let products = of(&facts, titles);
    vec![(facts, products)]
}

async fn search(market: &Market, query: &str) -> SearchAnswer<'static> {
    market.get(&format!("/v1/search?q={}", encoded(query))).await.read()
}

fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn titles<'a>(answer: &'a SearchAnswer<'_>) -> Vec<&'a str> {
    answer.data.iter().map(|card| card.title.as_ref()).collect()
}

#[tokio::test]
async fn words_for_the_same_thing_find_each_other_and_are_told() {
    let market = Market::of(&shop(&[
        "Oak Couch",
        "Velvet Sofa",
        "Leather Shoes",
        "Cotton Kurta",
        "Men's Tee",
        "Cell Phone Stand",
    ]))
    .await;
    let answer = search(&market, "sofa").await;
    assert_eq!(titles(&answer), ["Velvet Sofa", "Oak Couch"]);
    let told: Vec<_> = answer
        .provenance
        .synonyms
        .iter()
        .map(|one| (one.of.as_ref(), one.to.as_ref()))
        .collect();
    assert_eq!(told, [("sofa", "couch")]);
    assert_eq!(answer.provenance.relaxed, "none");
    for (query, first) in [
        ("joota", "Leather Shoes"),
        ("kurti", "Cotton Kurta"),
        ("t shirt", "Men's Tee"),
        ("oak settee", "Oak Couch"),
        ("mobile stand", "Cell Phone Stand"),
        // The queries have a misspelt word and an incomplete word.
        ("velvet sofaa", "Velvet Sofa"),
    ] {
        assert_eq!(titles(&search(&market, query).await)[0], first, "{query}");
    }
    let mended = search(&market, "soffa").await;
    assert_eq!(titles(&mended), ["Velvet Sofa", "Oak Couch"]);
    assert_eq!(mended.provenance.corrections[0].to, "sofa");
    // The synonym works in one direction: a search for shoes does not also search for "joota".
    assert!(search(&market, "shoes").await.provenance.synonyms.is_empty());
    let typed: SearchAnswer<'static> = market.get("/v1/search?q=sofa&mode=lexical").await.read();
    assert_eq!(titles(&typed), ["Velvet Sofa"]);
    assert!(typed.provenance.synonyms.is_empty());
}

#[tokio::test]
async fn either_of_two_words_about_an_or_is_enough() {
    let market = Market::of(&shop(&["Green Handbag", "Green Pouch", "Blue Handbag", "Green Belt"])).await;
    let answer = search(&market, "green handbag or pouch").await;
    let mut found = titles(&answer);
    found.truncate(2);
    found.sort_unstable();
    assert_eq!(found, ["Green Handbag", "Green Pouch"]);
}

#[tokio::test]
async fn an_operators_synonyms_are_added_to_those_that_ship() {
    let synonyms = Synonyms::with_operators("# ours\n=\tdabba\tcoffee tin\n").unwrap();
    let market = Market::with_synonyms(&shop(&["Brass Coffee Tin", "Oak Couch"]), synonyms).await;
    assert_eq!(titles(&search(&market, "dabba").await), ["Brass Coffee Tin"]);
    assert_eq!(titles(&search(&market, "sofa").await), ["Oak Couch"]);
}

#[tokio::test]
async fn words_written_together_or_apart_find_each_other() {
    let market = Market::of(&shop(&[
        "Warm Light Bulb",
        "Cool Lightbulb",
        "Lightbulb Socket",
        "Bulb for Light Box",
        "Blue T-Shirt",
    ]))
    .await;
    for mode in ["hybrid", "lexical"] {
        for query in ["lightbulb", "light bulb"] {
            let path = format!("/v1/search?mode={mode}&q={}", encoded(query));
            let answer: SearchAnswer<'static> = market.get(&path).await.read();
            let found = titles(&answer);
            for title in ["Warm Light Bulb", "Cool Lightbulb", "Lightbulb Socket"] {
                assert!(found.contains(&title), "{mode} {query}: {found:?}");
            }
        }
        for query in ["tshirt", "t shirt", "t-shirt"] {
            let path = format!("/v1/search?mode={mode}&limit=1&q={}", encoded(query));
            assert_eq!(
                titles(&market.get(&path).await.read()),
                ["Blue T-Shirt"],
                "{mode} {query}"
            );
        }
    }
    // The words "light" and "bulb" match only if they are adjacent.
    let answer: SearchAnswer<'static> = market.get("/v1/search?q=lightbulb&mode=lexical").await.read();
    assert!(!titles(&answer).contains(&"Bulb for Light Box"));
}

#[tokio::test]
async fn sizes_are_found_however_they_are_written() {
    let market = Market::of(&shop(&[
        "Oak Board 12 in. x 24 in.",
        "Pine Board 3/4 in. thick",
        "Steel Pipe 1-1/2 in.",
        "Rope 6' long",
        "Oil 500ml",
    ]))
    .await;
    for (query, first) in [
        ("12x24 board", "Oak Board 12 in. x 24 in."),
        ("board 12 inch", "Oak Board 12 in. x 24 in."),
        ("board 0.75 inch", "Pine Board 3/4 in. thick"),
        ("3/4 board", "Pine Board 3/4 in. thick"),
        ("1.5\" pipe", "Steel Pipe 1-1/2 in."),
        ("1 1/2 inch pipe", "Steel Pipe 1-1/2 in."),
        ("6 ft rope", "Rope 6' long"),
        ("500 ml oil", "Oil 500ml"),
    ] {
        let path = format!("/v1/search?mode=lexical&limit=1&q={}", encoded(query));
        let answer: SearchAnswer<'static> = market.get(&path).await.read();
        assert_eq!(titles(&answer), [first], "{query}");
        assert_eq!(answer.provenance.relaxed, "none", "{query}");
    }
}

#[tokio::test]
async fn what_the_title_names_stands_before_what_it_mentions() {
    let market = Market::of(&shop(&[
        "Lamp Oil Bottle Set",
        "Brass Table Lamp",
        "Bottle for Lamp Oil",
        "Shade for Table Lamp",
    ]))
    .await;
    assert_eq!(titles(&search(&market, "lamp").await)[0], "Brass Table Lamp");
}

#[tokio::test]
async fn any_script_is_found_and_any_text_is_answered() {
    let market = Market::of(&shop(&[
        "कॉटन कुर्ता",
        "பருத்தி புடவை",
        "חולצת כותנה",
        "صابون طبيعي",
        "क्\u{200d}षमा साबुन",
        "Plain Soap",
        "The Who",
    ]))
    .await;
    for (query, first) in [
        ("कुर्ता", "कॉटन कुर्ता"),
        ("புடவை", "பருத்தி புடவை"),
        ("כותנה", "חולצת כותנה"),
        ("صابون", "صابون طبيعي"),
        ("क्षमा", "क्\u{200d}षमा साबुन"),
        ("plain\u{0} soap\u{7}\u{1b}[0m", "Plain Soap"),
        ("🧼 soap 🧼", "Plain Soap"),
        ("the who", "The Who"),
        ("the", "The Who"),
    ] {
        for mode in ["hybrid", "lexical"] {
            let path = format!("/v1/search?mode={mode}&q={}", encoded(query));
            assert_eq!(
                titles(&market.get(&path).await.read()).first(),
                Some(&first),
                "{mode} {query}"
            );
        }
    }
    for query in ["🧼🧼", "—…!?", "\u{200d}\u{200d}", "\u{202e}\u{feff}", "\u{1}\u{2}"] {
        assert!(search(&market, query).await.data.is_empty(), "{query:?}");
    }
    let long: String = "soap the कुर्ता ".chars().cycle().take(512).collect();
    assert!(!search(&market, &long).await.data.is_empty());
}

#[tokio::test]
async fn a_word_that_only_shares_a_stem_may_be_a_misspelling() {
    let market = Market::of(&shop(&["Silver Earrings", "Over-Ear Headphones", "Bear Painting"])).await;
    let found = search(&market, "earings").await;
    assert_eq!(titles(&found)[0], "Silver Earrings");
    let mended = &found.provenance.corrections[0];
    assert_eq!((mended.from.as_ref(), mended.to.as_ref()), ("earings", "earrings"));
    // Another grammatical ending of a known word is not a misspelling.
    let found = search(&market, "paintings").await;
    assert_eq!(titles(&found), ["Bear Painting"]);
    assert!(found.provenance.corrections.is_empty());
}

#[tokio::test]
async fn a_misspelling_is_mended_whichever_number_titles_hold_the_word_in() {
    let market = Market::of(&shop(&[
        "Wireless Headphones",
        "Canvas Sneaker",
        "Silver Earrings",
        "Over-Ear Cushion",
        "Power Bank",
        "Garden Rake",
    ]))
    .await;
    for (query, first) in [
        ("hedphone", "Wireless Headphones"),
        ("headphnes", "Wireless Headphones"),
        ("sneekers", "Canvas Sneaker"),
        ("silver earing", "Silver Earrings"),
    ] {
        let found = search(&market, query).await;
        assert_eq!(titles(&found).first(), Some(&first), "{query}: {found:?}");
        assert_eq!(found.provenance.corrections.len(), 1, "{query}");
    }
    // A common word is not a misspelling, even if no product contains it.
    let found = search(&market, "powder").await;
    assert!(found.provenance.corrections.is_empty(), "{found:?}");
}

#[tokio::test]
async fn words_that_lead_to_others_are_neither_mended_nor_completed() {
    let market = Market::of(&shop(&[
        "Cold-Pressed Mustard Oil",
        "Television Stand",
        "Leather Shoes",
        "White Cotton Shirt",
        "Silk Saree",
    ]))
    .await;
    for (query, first) in [
        ("sarson tel", "Cold-Pressed Mustard Oil"),
        ("sarso tel", "Cold-Pressed Mustard Oil"),
        ("joote", "Leather Shoes"),
        ("safed shirt", "White Cotton Shirt"),
        ("साड़ी", "Silk Saree"),
        ("जूते", "Leather Shoes"),
        ("புடவை", "Silk Saree"),
    ] {
        let found = search(&market, query).await;
        assert_eq!(titles(&found).first(), Some(&first), "{query}: {found:?}");
    }
    // Letters of an unsupported script match nothing.
    assert!(search(&market, "ऌॡॠ ऋॠ").await.data.is_empty());
}

#[tokio::test]
async fn drawn_fractions_are_those_that_are_written() {
    let market = Market::of(&shop(&[
        "1/2 in. Copper Pipe",
        "1-1/2 in. PVC Elbow",
        "2 in. Steel Flange",
    ]))
    .await;
    for (query, first) in [
        ("½ inch pipe", "1/2 in. Copper Pipe"),
        ("1/2in pipe", "1/2 in. Copper Pipe"),
        ("1½ in pvc", "1-1/2 in. PVC Elbow"),
    ] {
        let found = search(&market, query).await;
        assert_eq!(titles(&found).first(), Some(&first), "{query}: {found:?}");
        assert_eq!(found.provenance.relaxed, "none", "{query}");
    }
}

#[tokio::test]
async fn a_page_of_few_of_each_brand_is_filled_with_what_lacks_words() {
    let (one, other) = (brand("One Shop", "INR"), brand("Other Shop", "INR"));
    let fryers: Vec<String> = (0..30).map(|number| format!("Air Fryer {number}")).collect();
    let fryers: Vec<&str> = fryers.iter().map(String::as_str).collect();
    let of_other: Vec<Product> = (100..)
        .zip(["Deep Fryer", "Fryer Basket"])
        .map(|(id, title)| product(&other, id, title))
        .collect();
    let market = Market::of(&vec![(one.clone(), of(&one, &fryers)), (other.clone(), of_other)]).await;
    let found: SearchAnswer<'static> = market
        .get("/v1/search?q=air+fryer&per_brand_max=1&limit=10")
        .await
        .read();
    let brands: Vec<&str> = found.data.iter().map(|card| card.brand_slug.as_ref()).collect();
    assert_eq!(brands, ["one-shop", "other-shop"], "{found:?}");
}
