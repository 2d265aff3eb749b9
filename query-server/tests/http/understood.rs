use data_index::BrandFacts;
use data_model::{CategoryId, Product};
use query_server::schema::{SearchAnswer, SuggestAnswer, UnderstoodFilter, UnderstoodPhrase};

use crate::catalogue::{brand, product};
use crate::support::{Catalogue, Market};

const KURTAS: CategoryId = CategoryId(5388);
const SOFT_TOYS: CategoryId = CategoryId(1259);
const BOTTLES: CategoryId = CategoryId(3809);

fn priced(facts: &BrandFacts, id: u64, title: &str, price_minor: i64) -> Product {
    let mut product = product(facts, id, title);
    product.variants.iter_mut().for_each(|variant| {
        variant.price_minor = price_minor;
        variant.compare_at_minor = None;
    });
    product
}

fn filed(facts: &BrandFacts, id: u64, title: &str, category: CategoryId) -> Product {
    Product {
        category: Some(category),
        ..priced(facts, id, title, 50_000)
    }
}

fn bazaar() -> Catalogue {
    let loom = brand("Not Black Loom", "INR");
    let dollars = brand("Far Away", "USD");
    let products = vec![
        priced(&loom, 1, "Black Kurta", 90_000),
        priced(&loom, 2, "White Kurta", 120_000),
        priced(&loom, 3, "Red Kurta with Black Trim", 180_000),
        priced(&loom, 4, "Yellow Kurta", 250_000),
        priced(&loom, 5, "No-Sugar Muesli", 30_000),
        priced(&loom, 6, "Fruit Muesli", 30_000),
        priced(&loom, 7, "Mango Pickle with Sugar", 20_000),
        priced(&loom, 8, "Lime Pickle", 20_000),
        filed(&loom, 9, "Plush Bear", SOFT_TOYS),
        filed(&loom, 10, "Insulated Steel Bottle", BOTTLES),
        priced(&loom, 11, "Vitamin C Serum", 60_000),
        priced(&loom, 12, "C Vitamin and Serum Tonic", 60_000),
        priced(&loom, 13, "Masala Chai", 40_000),
        priced(&loom, 14, "Book Under 1000", 90_000),
        priced(&loom, 15, "Nike Air Max 97 Sneaker", 900_000),
        priced(&loom, 16, "Nike Air Fan", 5_000),
        priced(&loom, 17, "Wallet of Leather", 70_000),
        priced(&loom, 18, "Wallet of Cork", 70_000),
    ];
    let far = vec![
        priced(&dollars, 21, "Silk Kurta", 1_500),
        priced(&dollars, 22, "Wool Kurta", 9_000),
    ];
    vec![(loom, products), (dollars, far)]
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn asked(market: &Market, query: &str, also: &str) -> SearchAnswer<'static> {
    market
        .get(&format!("/v1/search?q={}{also}", encoded(query)))
        .await
        .read()
}

async fn found(market: &Market, query: &str) -> Vec<String> {
    let answer = asked(market, query, "").await;
    let mut titles: Vec<String> = answer.data.into_iter().map(|card| card.title.into_owned()).collect();
    titles.sort();
    titles
}

#[tokio::test]
async fn a_price_in_the_text_filters_in_the_currency_that_it_names() {
    let market = Market::of(&bazaar()).await;
    assert_eq!(found(&market, "kurta under 1000").await, ["Black Kurta"]);
    assert_eq!(found(&market, "2k se upar kurta").await, ["Yellow Kurta"]);
    assert_eq!(
        found(&market, "kurta between 1000 and 2000").await,
        ["Red Kurta with Black Trim", "White Kurta"]
    );
    assert_eq!(found(&market, "kurta below 20 dollars").await, ["Silk Kurta"]);
    let told = asked(&market, "kurta below 20 dollars", "").await.provenance.understood;
    let filter = UnderstoodFilter {
        price_max: Some(2_000),
        currency: Some("USD".into()),
        ..UnderstoodFilter::default()
    };
    let expected = UnderstoodPhrase {
        text: "below 20 dollars".into(),
        meaning: "price".into(),
        filter: Some(filter),
        order: None,
    };
    assert_eq!(told, [expected]);
}

#[tokio::test]
async fn a_price_of_the_request_goes_before_one_of_the_text() {
    let market = Market::of(&bazaar()).await;
    let answer = asked(&market, "kurta under 1000", "&price_min=200000").await;
    let titles: Vec<&str> = answer.data.iter().map(|card| card.title.as_ref()).collect();
    assert_eq!(titles, ["Yellow Kurta"]);
    assert_eq!(answer.provenance.understood[0].filter, None);
    let other = asked(&market, "kurta under 1000 rupees", "&currency=USD").await;
    assert_eq!(other.provenance.understood[0].filter, None);
}

#[tokio::test]
async fn what_is_not_wanted_is_left_out_and_not_counted() {
    let market = Market::of(&bazaar()).await;
    let kurtas = ["Silk Kurta", "White Kurta", "Wool Kurta", "Yellow Kurta"];
    assert_eq!(found(&market, "kurta not black").await, kurtas);
    assert_eq!(found(&market, "kurta -black").await, kurtas);
    assert_eq!(found(&market, "kurta kala nahi").await, kurtas);
    let counted = asked(&market, "kurta not black", "&facet_counts=true&currency=INR")
        .await
        .provenance;
    let prices: u32 = counted
        .price
        .unwrap()
        .histogram
        .unwrap()
        .iter()
        .map(|bin| bin.count)
        .sum();
    assert_eq!(prices, 2);
    assert_eq!(counted.understood[0].filter.as_ref().unwrap().excluded, ["black"]);
}

#[tokio::test]
async fn a_brand_that_is_not_wanted_is_left_out_whole() {
    let mut market = bazaar();
    let linen = Product {
        vendor: Some("Acme Mills".to_owned()),
        ..priced(&market[1].0, 23, "Linen Kurta", 4_000)
    };
    market[1].1.push(linen);
    // A product of another brand is also excluded if its title names the unwanted brand.
    let copy = priced(&market[0].0, 24, "Kurta by Far Away", 95_000);
    market[0].1.push(copy);
    let market = Market::of(&market).await;
    let of_loom = [
        "Black Kurta",
        "Red Kurta with Black Trim",
        "White Kurta",
        "Yellow Kurta",
    ];
    for query in [
        "kurta not from far away",
        "kurta except Far Away",
        "kurta from any brand but far away",
        "far away ke alawa kurta",
        "kurta -faraway",
    ] {
        assert_eq!(found(&market, query).await, of_loom, "{query}");
        let told = asked(&market, query, "").await.provenance.understood;
        let told = told.iter().find(|told| told.meaning == "excluded").unwrap();
        assert_eq!(told.filter.as_ref().unwrap().excluded, ["Far Away"], "{query}");
    }
    // If the query also wants the brand's name as a word, other brands' products with that name are found.
    let compatible = found(&market, "kurta by far away, not from far away").await;
    assert!(compatible.contains(&"Kurta by Far Away".to_owned()), "{compatible:?}");
    assert!(!compatible.contains(&"Silk Kurta".to_owned()), "{compatible:?}");
    let no_far = ["Silk Kurta", "Wool Kurta"];
    assert_eq!(
        found(&market, "kurta except not black loom and acme mills").await,
        no_far
    );
    let others = found(&market, "kurta except acme mills").await;
    assert!(others.contains(&"Silk Kurta".to_owned()), "{others:?}");
    assert!(!others.contains(&"Linen Kurta".to_owned()), "{others:?}");
}

#[tokio::test]
async fn what_a_thing_must_lack_is_required_where_titles_say_so_and_left_out_elsewhere() {
    let market = Market::of(&bazaar()).await;
    assert_eq!(found(&market, "muesli without sugar").await, ["No-Sugar Muesli"]);
    assert_eq!(found(&market, "bina cheeni muesli").await, ["No-Sugar Muesli"]);
    assert_eq!(found(&market, "sugar free muesli").await, ["No-Sugar Muesli"]);
    assert_eq!(found(&market, "pickle without sugar").await, ["Lime Pickle"]);
    let required = asked(&market, "muesli without sugar", "").await.provenance.understood;
    assert_eq!(required[0].meaning, "required");
    let excluded = asked(&market, "pickle without sugar", "").await.provenance.understood;
    assert_eq!(excluded[0].meaning, "excluded");
}

#[tokio::test]
async fn a_number_that_a_title_has_beside_the_same_word_is_a_name() {
    let market = Market::of(&bazaar()).await;
    let named = asked(&market, "nike air max 97", "").await;
    assert_eq!(named.data[0].title, "Nike Air Max 97 Sneaker");
    assert_eq!(named.provenance.understood, []);
    // No title has this number next to the word, so the number is a price.
    let priced = asked(&market, "nike air max 60", "").await;
    assert_eq!(priced.data[0].title, "Nike Air Fan");
    assert_eq!(priced.provenance.understood[0].meaning, "price");
}

#[tokio::test]
async fn what_ends_with_free_leaves_things_out_that_are_of_it_where_no_title_says_so() {
    let market = Market::of(&bazaar()).await;
    for query in ["leather free wallet", "wallet leather free"] {
        assert_eq!(found(&market, query).await, ["Wallet of Cork"], "{query}");
        let told = asked(&market, query, "").await.provenance.understood;
        assert_eq!(told[0].meaning, "excluded", "{query}");
    }
}

#[tokio::test]
async fn counts_by_category_beside_a_gift_are_what_a_filter_finds() {
    let market = Market::of(&bazaar()).await;
    let answer = asked(&market, "birthday gift for 5 year old", "&facet_counts=true").await;
    let facets = answer.provenance.facets.unwrap();
    let categories = facets.iter().find(|facet| facet.name == "category").unwrap();
    assert!(!categories.values.is_empty());
    for value in &categories.values {
        let of_it = format!("&facets={}", encoded(&format!("{{\"category\":\"{}\"}}", value.value)));
        let filtered = asked(&market, "birthday gift for 5 year old", &of_it).await;
        assert_eq!(filtered.data.len() as u64, u64::from(value.count), "{}", value.value);
    }
}

#[tokio::test]
async fn words_between_quotation_marks_stand_beside_each_other() {
    let market = Market::of(&bazaar()).await;
    assert_eq!(found(&market, "\"vitamin c\" serum").await, ["Vitamin C Serum"]);
    assert_eq!(found(&market, "vitamin c serum").await.len(), 2);
}

#[tokio::test]
async fn gifts_and_needs_are_answered_by_what_is_given_and_used() {
    let market = Market::of(&bazaar()).await;
    // Suggested categories come first but exclude no other products.
    for (query, first) in [
        ("birthday gift for 5 year old", "Plush Bear"),
        ("how do i keep my tea hot", "Insulated Steel Bottle"),
    ] {
        assert_eq!(asked(&market, query, "").await.data[0].title, first, "{query}");
    }
    let told = asked(&market, "gift for kids under 600", "").await;
    assert_eq!(told.data[0].title, "Plush Bear");
    let meanings: Vec<&str> = told
        .provenance
        .understood
        .iter()
        .map(|part| part.meaning.as_ref())
        .collect();
    assert_eq!(meanings, ["gift", "price"]);
}

#[tokio::test]
async fn a_query_that_names_something_means_that_alone() {
    let market = Market::of(&bazaar()).await;
    for (query, first) in [
        ("book under 1000", "Book Under 1000"),
        ("Red Kurta with Black Trim", "Red Kurta with Black Trim"),
    ] {
        let answer = asked(&market, query, "").await;
        assert_eq!(answer.data[0].title, first);
        assert_eq!(answer.provenance.understood, []);
    }
    let of_brand = asked(&market, "Not Black Loom", "").await;
    assert_eq!((of_brand.data.len(), of_brand.provenance.understood.len()), (18, 0));
}

#[tokio::test]
async fn nothing_is_read_where_the_caller_or_the_mode_says_so() {
    let market = Market::of(&bazaar()).await;
    for also in ["&understand=false", "&mode=lexical", "&mode=semantic"] {
        let answer = asked(&market, "kurta not black", also).await;
        assert_eq!(answer.provenance.understood, [], "{also}");
        assert!(answer.data.iter().any(|card| card.title == "Black Kurta"), "{also}");
    }
    let faulty = market.get("/v1/search?understand=perhaps").await;
    assert_eq!(faulty.status, 422);
}

#[tokio::test]
async fn where_words_find_nothing_meaning_answers_and_says_so() {
    let market = Market::of(&bazaar()).await;
    for query in ["hat", "cosy", "garment"] {
        let semantic = asked(&market, query, "&mode=semantic").await;
        let hybrid = asked(&market, query, "").await;
        assert_eq!(hybrid.data.is_empty(), semantic.data.is_empty(), "{query}");
        if !hybrid.data.is_empty() && hybrid.provenance.synonyms.is_empty() {
            assert_eq!(hybrid.provenance.relaxed, "meaning", "{query}");
        }
    }
    assert!(asked(&market, "xqzzt", "").await.data.is_empty());
}

#[tokio::test]
async fn meaning_alone_counts_no_facets() {
    let market = Market::of(&bazaar()).await;
    let counted = asked(&market, "kurta", "&mode=semantic&facet_counts=true")
        .await
        .provenance;
    assert!(counted.facets.is_none() && counted.price.is_none());
    let counted = asked(&market, "kurta", "&facet_counts=true").await.provenance;
    assert!(counted.facets.is_some() && counted.price.is_some());
}

#[tokio::test]
async fn one_letter_is_the_beginning_of_a_word_and_another_script_suggests() {
    let market = Market::of(&bazaar()).await;
    let answer = asked(&market, "b", "").await;
    assert!(!answer.data.is_empty());
    assert_eq!(answer.provenance.relaxed, "prefix");
    let suggested: SuggestAnswer<'static> = market.get(&format!("/v1/suggest?q={}", encoded("चाय"))).await.read();
    assert_eq!(suggested.data.products[0].title, "Masala Chai");
}

#[tokio::test]
async fn no_ordinary_word_is_taken_for_a_misspelling() {
    let loom = brand("Loom", "INR");
    let titles = [
        "Ink Pens",
        "Woven Rug",
        "Silk Sari",
        "Rice Pudding",
        "Straight Line Ruler",
    ];
    let products = (1..).zip(titles).map(|(id, title)| product(&loom, id, title)).collect();
    let market = Market::of(&vec![(loom, products)]).await;
    for query in ["mens", "womens", "sardi", "padding", "liye"] {
        let corrections = asked(&market, query, "").await.provenance.corrections;
        assert_eq!(corrections, [], "{query}");
    }
    assert_eq!(asked(&market, "puding", "").await.provenance.corrections.len(), 1);
}

#[tokio::test]
async fn a_phrase_that_leads_to_others_uses_up_its_words() {
    let loom = brand("Loom", "INR");
    let titles = ["Gota Patti Lehenga", "Assam Tea", "Green Tea"];
    let products = (1..).zip(titles).map(|(id, title)| product(&loom, id, title)).collect();
    let market = Market::of(&vec![(loom, products)]).await;
    let answer = asked(&market, "chai patti", "").await;
    let first: Vec<&str> = answer.data.iter().take(2).map(|card| card.title.as_ref()).collect();
    assert!(first.iter().all(|title| title.ends_with("Tea")), "{first:?}");
    let told: Vec<&str> = answer
        .provenance
        .synonyms
        .iter()
        .map(|synonym| synonym.of.as_ref())
        .collect();
    assert!(told.iter().all(|of| *of == "chai patti"), "{told:?}");
}

#[tokio::test]
async fn kurtas_of_a_category_are_found_for_a_festival() {
    let loom = brand("Loom", "INR");
    let products = vec![
        filed(&loom, 1, "Silk Kurta Set", KURTAS),
        filed(&loom, 2, "Steel Bottle", BOTTLES),
    ];
    let market = Market::of(&vec![(loom, products)]).await;
    assert_eq!(
        found(&market, "what should i wear for diwali").await,
        ["Silk Kurta Set"]
    );
}

#[tokio::test]
async fn where_nothing_of_the_kinds_is_sold_the_words_are_looked_for() {
    let loom = brand("Loom", "INR");
    let products = vec![
        product(&loom, 1, "Mother of Pearl Buttons"),
        product(&loom, 2, "Steel Nails"),
    ];
    let market = Market::of(&vec![(loom, products)]).await;
    let answer = asked(&market, "gift for mother", "").await;
    assert_eq!(answer.data[0].title, "Mother of Pearl Buttons");
    assert!(answer.provenance.understood.iter().all(|part| part.meaning != "gift"));
}

#[tokio::test]
async fn what_is_to_be_on_sale_or_in_stock_filters_and_says_so() {
    let mut market = bazaar();
    let loom = market[0].0.clone();
    let mut cheaper = priced(&loom, 25, "Linen Kurta", 80_000);
    let mut gone = priced(&loom, 26, "Cotton Kurta", 80_000);
    for product in [&mut cheaper, &mut gone] {
        let variants = product.variants.iter_mut();
        variants.for_each(|variant| variant.compare_at_minor = Some(100_000));
    }
    gone.variants.iter_mut().for_each(|variant| variant.available = false);
    market[0].1.extend([cheaper, gone]);
    let market = Market::of(&market).await;
    assert_eq!(found(&market, "kurta on sale").await, ["Cotton Kurta", "Linen Kurta"]);
    assert_eq!(found(&market, "discounted kurta in stock").await, ["Linen Kurta"]);
    let in_stock = found(&market, "cotton or linen kurta in stock").await;
    assert!(!in_stock.contains(&"Cotton Kurta".to_owned()), "{in_stock:?}");
    let answer = asked(&market, "kurta on sale", "").await;
    let filter = UnderstoodFilter {
        on_sale: Some(true),
        ..UnderstoodFilter::default()
    };
    let expected = UnderstoodPhrase {
        text: "on sale".into(),
        meaning: "on_sale".into(),
        filter: Some(filter),
        order: None,
    };
    assert_eq!(answer.provenance.understood, [expected]);
    let as_typed = asked(&market, "kurta on sale", "&understand=false").await;
    assert!(as_typed.data.len() > 2, "words alone leave nothing out");
}

#[tokio::test]
async fn what_is_wanted_most_of_puts_what_fits_in_order() {
    let loom = brand("Screens", "INR");
    let mut cable = priced(&loom, 4, "Cable", 1_000);
    cable.description = "For a television.".into();
    let products = vec![
        priced(&loom, 1, "Television 55 inch", 50_000),
        priced(&loom, 2, "Television 1.2 m", 90_000),
        priced(&loom, 3, "Television 32\"", 70_000),
        cable,
    ];
    let market = Market::of(&vec![(loom, products)]).await;
    for (query, order, first) in [
        (
            "cheapest television",
            "price_asc",
            ["Television 55 inch", "Television 32\"", "Television 1.2 m"],
        ),
        (
            "television sabse sasta",
            "price_asc",
            ["Television 55 inch", "Television 32\"", "Television 1.2 m"],
        ),
        (
            "most expensive television",
            "price_desc",
            ["Television 1.2 m", "Television 32\"", "Television 55 inch"],
        ),
        (
            "biggest television",
            "size_desc",
            ["Television 55 inch", "Television 1.2 m", "Television 32\""],
        ),
        (
            "television with the smallest screen",
            "size_asc",
            ["Television 32\"", "Television 1.2 m", "Television 55 inch"],
        ),
    ] {
        let answer = asked(&market, query, "").await;
        let titles: Vec<&str> = answer.data.iter().map(|card| card.title.as_ref()).collect();
        assert_eq!(titles[..3], first, "{query}");
        let understood = answer.provenance.understood;
        let told: Vec<_> = understood.iter().filter_map(|part| part.order.as_deref()).collect();
        assert_eq!(told, [order], "{query}");
    }
    // A negated or quoted superlative does not change the order.
    let refused = asked(&market, "television \"cheapest\"", "")
        .await
        .provenance
        .understood;
    assert!(refused.iter().all(|part| part.order.is_none()), "{refused:?}");
}
