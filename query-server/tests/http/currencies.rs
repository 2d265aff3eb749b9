use data_index::BrandFacts;
use data_model::{CategoryId, Product};
use query_server::schema::{BrowseAnswer, SearchAnswer};

use crate::support::{Catalogue, Market};

const SHIRTS: u32 = 212;
const SHOES: u32 = 187;

fn sold(facts: &BrandFacts, id: u64, title: &str, price_minor: i64, category: u32) -> Product {
    Product {
        category: Some(CategoryId(category)),
        variants: vec![kit::variant(id * 10, price_minor)],
        ..kit::product(&facts.brand, id, title)
    }
}

fn facts(name: &str, currency: &str) -> BrandFacts {
    let mut facts = kit::facts(kit::brand(name));
    facts.brand.currency = currency.parse().unwrap();
    facts
}

/// Returns one brand for each of three currencies. All sell shirts, but only the brand with euros sells shoes.
fn catalogue() -> Catalogue {
    let (inr, eur, usd) = (facts("Corner", "INR"), facts("Atelier", "EUR"), facts("Depot", "USD"));
    let shirts = |facts: &BrandFacts, prices: [i64; 3]| -> Vec<Product> {
        let priced = (1..).zip(prices);
        priced
            .map(|(id, price)| {
                sold(
                    facts,
                    id,
                    &format!("Plain Shirt {} {id}", facts.brand.name),
                    price,
                    SHIRTS,
                )
            })
            .collect()
    };
    let mut of_atelier = shirts(&eur, [4_000, 9_000, 1_000]);
    of_atelier.push(sold(&eur, 4, "Leather Shoe", 12_000, SHOES));
    of_atelier.push(sold(&eur, 5, "Canvas Shoe", 7_000, SHOES));
    vec![
        (inr.clone(), shirts(&inr, [50_000, 0, 20_000])),
        (eur, of_atelier),
        (usd.clone(), shirts(&usd, [3_000, 1_500, 2_500])),
    ]
}

async fn browse(market: &Market, query: &str) -> BrowseAnswer<'static> {
    market.get(&format!("/v1/browse?{query}")).await.read()
}

async fn search(market: &Market, query: &str) -> SearchAnswer<'static> {
    market.get(&format!("/v1/search?{query}")).await.read()
}

fn prices<'a>(answer: &'a BrowseAnswer<'_>) -> Vec<(&'a str, i64)> {
    let items = answer.data.items.iter();
    items
        .map(|card| (card.currency.as_ref(), card.price_min_minor))
        .collect()
}

#[tokio::test]
async fn a_scope_with_one_currency_is_ordered_and_filtered_in_it() {
    let market = Market::of(&catalogue()).await;
    for scope in [
        "brand=atelier&category=shirts-tops",
        "brand=atelier&facets=%7B%22category%22:%22shirts-tops%22%7D",
    ] {
        let answer = browse(&market, &format!("{scope}&sort=price_asc")).await;
        assert_eq!(prices(&answer), [("EUR", 1_000), ("EUR", 4_000), ("EUR", 9_000)]);
        assert_eq!(
            (
                answer.provenance.price.currency.as_ref(),
                answer.provenance.price.left_out
            ),
            ("EUR", false)
        );
    }
    let answer = browse(&market, "category=shoes&price_max=8000").await;
    assert_eq!(prices(&answer), [("EUR", 7_000)]);
    assert_eq!(
        (answer.data.price.currency.as_ref(), answer.data.price.min_minor),
        ("EUR", Some(7_000))
    );
    let found = search(&market, "q=shirt&brand=depot&price_max=2000").await;
    let basis = found.provenance.price.unwrap();
    assert_eq!(
        (found.data.len(), basis.currency.as_ref(), basis.left_out),
        (1, "USD", false)
    );
    for scope in [
        "facets=%7B%22category%22:%22shoes%22%7D",
        "facets=%7B%22brand%22:%22atelier%22%7D",
    ] {
        let found = search(&market, &format!("q=shoe&sort=price_desc&{scope}")).await;
        assert_eq!(found.provenance.price.unwrap().currency, "EUR", "{scope}");
    }
}

#[tokio::test]
async fn brands_of_a_facet_that_sell_in_one_currency_are_filtered_in_it() {
    let mut brands = catalogue();
    let studio = facts("Studio", "EUR");
    brands.push((
        studio.clone(),
        vec![sold(&studio, 1, "Plain Shirt Studio", 6_000, SHIRTS)],
    ));
    let market = Market::of(&brands).await;
    let facet = |brands: &str| format!("facets=%7B%22brand%22:[{brands}]%7D");
    let (one, two) = (facet("%22atelier%22"), facet("%22atelier%22,%22studio%22"));
    let answer = browse(
        &market,
        &format!("category=shirts-tops&sort=price_asc&price_max=5000&{one}"),
    )
    .await;
    assert_eq!(prices(&answer), [("EUR", 1_000), ("EUR", 4_000)]);
    let answer = browse(
        &market,
        &format!("category=shirts-tops&sort=price_asc&price_max=6000&{two}"),
    )
    .await;
    assert_eq!(prices(&answer), [("EUR", 1_000), ("EUR", 4_000), ("EUR", 6_000)]);
    assert_eq!(
        (answer.data.price.currency.as_ref(), answer.provenance.price.left_out),
        ("EUR", false)
    );
    let found = search(&market, &format!("q=shirt&price_max=6000&{two}")).await;
    assert_eq!(found.data.len(), 3);
    // Brands with two currencies have no common one, so the market's currency is used. The answer reports the products
    // that were left out.
    let mixed = facet("%22atelier%22,%22depot%22");
    let answer = browse(&market, &format!("category=shirts-tops&price_max=6000&{mixed}")).await;
    assert_eq!(
        (
            answer.provenance.price.currency.as_ref(),
            answer.provenance.price.left_out
        ),
        ("INR", true)
    );
}

#[tokio::test]
async fn a_price_sort_drops_nothing() {
    let market = Market::of(&catalogue()).await;
    let ascending = [
        ("INR", 20_000),
        ("INR", 50_000),
        ("INR", 0),
        ("EUR", 1_000),
        ("EUR", 4_000),
        ("EUR", 9_000),
        ("USD", 1_500),
        ("USD", 2_500),
        ("USD", 3_000),
    ];
    let whole = browse(&market, "category=shirts-tops&sort=price_asc").await;
    assert_eq!(prices(&whole), ascending);
    assert_eq!(
        (
            whole.provenance.price.currency.as_ref(),
            whole.provenance.price.left_out
        ),
        ("INR", false)
    );
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = browse(&market, &format!("category=shirts-tops&sort=price_asc&limit=2{cursor}")).await;
        paged.extend(
            prices(&page)
                .into_iter()
                .map(|(currency, price)| (currency.to_owned(), price)),
        );
        let Some(next) = page.data.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(
        paged
            .iter()
            .map(|(currency, price)| (currency.as_str(), *price))
            .eq(ascending)
    );
    let descending = browse(&market, "category=shirts-tops&sort=price_desc&currency=USD").await;
    let first = [("USD", 3_000), ("USD", 2_500), ("USD", 1_500), ("EUR", 9_000)];
    assert_eq!(prices(&descending)[..4], first);
    assert_eq!(prices(&descending)[6..], [("INR", 50_000), ("INR", 20_000), ("INR", 0)]);
    for mode in ["hybrid", "lexical"] {
        let found = search(&market, &format!("q=plain+shirt&sort=price_asc&mode={mode}")).await;
        let found: Vec<_> = found
            .data
            .iter()
            .map(|card| (card.currency.as_ref(), card.price_min_minor))
            .collect();
        assert_eq!(found, ascending, "{mode}");
    }
    let all = search(&market, "sort=price_asc").await;
    assert_eq!(all.data.len(), 11);
    assert_eq!(all.provenance.price.unwrap().currency, "INR");
}

#[tokio::test]
async fn a_price_filter_says_that_it_left_out_other_currencies() {
    let market = Market::of(&catalogue()).await;
    let answer = browse(&market, "category=shirts-tops&price_max=30000").await;
    assert_eq!(prices(&answer), [("INR", 20_000)]);
    assert!(answer.provenance.price.left_out);
    // A product that another filter also excludes does not count as excluded by its currency.
    let answer = browse(&market, "category=shirts-tops&price_max=30000&on_sale=true").await;
    assert!(!answer.provenance.price.left_out);
    let facets = "facets=%7B%22brand%22:%22corner%22%7D";
    let answer = browse(
        &market,
        &format!("category=shirts-tops&price_max=30000&currency=INR&{facets}"),
    )
    .await;
    assert_eq!((answer.data.items.len(), answer.provenance.price.left_out), (1, false));
    for (query, left_out) in [
        ("q=plain+shirt&price_max=30000", true),
        ("q=plain+shirt&price_max=30000&mode=lexical", true),
        ("q=shirts&mode=semantic&price_max=30000", true),
        ("q=plain+shirt+under+300", true),
        ("q=plain+shirt+corner&price_max=30000&mode=lexical&brand=corner", false),
        ("q=plain+shirt&sort=price_asc", false),
        ("price_max=30000", true),
    ] {
        let found = search(&market, query).await;
        let basis = found.provenance.price.unwrap();
        assert_eq!((basis.currency.as_ref(), basis.left_out), ("INR", left_out), "{query}");
        if left_out {
            assert!(found.data.iter().all(|card| card.currency == "INR"), "{query}");
        }
    }
    assert_eq!(search(&market, "q=shirt").await.provenance.price, None);
    // A market with one currency behaves the same way.
    let (facts, products) = catalogue().swap_remove(0);
    let market = Market::of(&vec![(facts, products)]).await;
    let found = search(&market, "q=shirt&price_max=30000&currency=KWD").await;
    assert_eq!((found.data.len(), found.provenance.price.unwrap().left_out), (0, true));
}

#[tokio::test]
async fn a_price_of_zero_is_none() {
    let market = Market::of(&catalogue()).await;
    let answer = browse(&market, "brand=corner&price_max=100000").await;
    assert_eq!(prices(&answer).len(), 2);
    assert_eq!(answer.data.price.min_minor, Some(20_000));
    assert_eq!(answer.data.price.histogram.iter().map(|bin| bin.count).sum::<u32>(), 2);
    let all = browse(&market, "brand=corner&sort=price_asc").await;
    assert_eq!(prices(&all).last(), Some(&("INR", 0)));
    assert_eq!(
        search(&market, "q=plain+shirt&brand=corner&price_min=0")
            .await
            .data
            .len(),
        2
    );
    let brand = market.get("/v1/brands/corner").await.json();
    assert_eq!(brand["data"]["price_min_minor"], 20_000);
    let dear = all
        .data
        .items
        .iter()
        .find(|card| card.price_min_minor == 20_000)
        .unwrap();
    let cheaper = market
        .get(&format!("/v1/recommend?product_id={}&intent=cheaper", dear.id))
        .await
        .json();
    assert_eq!(cheaper["data"], serde_json::json!([]));
}

#[tokio::test]
async fn what_has_no_price_is_not_marked_down() {
    let facts = facts("Corner", "INR");
    let free = |id, title: &str, list_minor| {
        let mut product = sold(&facts, id, title, 0, SHIRTS);
        product.variants[0].compare_at_minor = list_minor;
        product
    };
    let mut marked_down = sold(&facts, 3, "Plain Shirt", 50_000, SHIRTS);
    marked_down.variants[0].compare_at_minor = Some(100_000);
    let products = vec![
        free(1, "Gift Shirt", Some(100_000)),
        free(2, "Other Shirt", None),
        marked_down,
    ];
    let market = Market::of(&vec![(facts, products)]).await;
    let ids = |answer: &SearchAnswer<'_>| -> Vec<i64> { answer.data.iter().map(|card| card.price_min_minor).collect() };
    for query in ["q=shirt&on_sale=true", "q=shirt+on+sale", "on_sale=true"] {
        assert_eq!(ids(&search(&market, query).await), [50_000], "{query}");
    }
    for card in search(&market, "q=shirt").await.data {
        let has_price = card.price_min_minor > 0;
        assert_eq!(
            (card.discount_pct, card.compare_at_minor.is_some()),
            (has_price.then_some(50), has_price)
        );
    }
    for order in ["price_asc", "price_desc"] {
        let sorted = search(&market, &format!("q=shirt&sort={order}")).await;
        assert_eq!(ids(&sorted), [50_000, 0, 0], "{order}");
        assert_eq!(
            prices(&browse(&market, &format!("brand=corner&sort={order}")).await)[0].1,
            50_000
        );
    }
    let counted = market.get("/v1/stats").await.json();
    assert_eq!(counted["data"]["on_sale"], 1);
}

#[tokio::test]
async fn what_is_sold_out_stands_behind_what_is_not() {
    let facts = facts("Corner", "INR");
    let mut products: Vec<Product> = (1..=6)
        .map(|id| sold(&facts, id, &format!("Mug {id}"), 1_000, SHOES))
        .collect();
    for product in &mut products[..3] {
        product.variants[0].available = false;
        // Even the best rating does not move a sold-out product up.
        product.rating = Some(data_model::Rating {
            average: 5.0,
            count: 10_000,
        });
        product.description = "A mug. ".repeat(40);
    }
    let market = Market::of(&vec![(facts, products)]).await;
    let in_stock = |stock: Vec<bool>| assert_eq!(stock, [true, true, true, false, false, false]);
    let answer = browse(&market, "brand=corner").await;
    in_stock(answer.data.items.iter().map(|card| card.in_stock).collect());
    for query in ["", "brand=corner"] {
        let found = search(&market, query).await;
        in_stock(found.data.iter().map(|card| card.in_stock).collect());
    }
}

#[tokio::test]
async fn a_price_of_the_text_that_names_no_currency_is_in_that_of_what_is_found() {
    let market = Market::of(&catalogue()).await;
    for (query, currency, price_minor) in [
        ("shoe%20under%2080", "EUR", 7_000),
        ("shoe%20under%20eighty", "EUR", 7_000),
        ("depot%20shirt%20under%2020", "USD", 1_500),
        ("corner%20shirt%20under%20300", "INR", 20_000),
    ] {
        let found = search(&market, &format!("q={query}")).await;
        let cards: Vec<_> = found
            .data
            .iter()
            .map(|card| (card.currency.as_ref(), card.price_min_minor))
            .collect();
        assert_eq!(cards, [(currency, price_minor)], "{query}");
        let told = found.provenance.understood[0].filter.as_ref().unwrap();
        assert_eq!(told.currency.as_deref(), Some(currency), "{query}");
    }
    // A currency named in the query takes precedence.
    let named = search(&market, "q=shoe%20under%2080%20rupees").await;
    assert!(named.data.iter().all(|card| card.currency == "INR"));
}
