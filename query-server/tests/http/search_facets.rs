use std::collections::BTreeMap;

use query_server::schema::{SearchAnswer, SearchProvenance};

use crate::catalogue::{brand, product, small};
use crate::support::Market;
use crate::wide::wide;

async fn search(market: &Market, query: &str) -> SearchAnswer<'static> {
    market
        .get(&format!("/v1/search?facet_counts=true&{query}"))
        .await
        .read()
}

fn counts(provenance: &SearchProvenance<'static>, facet: &str) -> BTreeMap<String, u32> {
    let facets = provenance.facets.as_ref().unwrap();
    let facet = facets.iter().find(|one| one.name == facet);
    let values = facet.into_iter().flat_map(|facet| &facet.values);
    values.map(|value| (value.value.to_string(), value.count)).collect()
}

#[tokio::test]
async fn facets_are_counted_on_request_over_all_that_the_words_match() {
    let market = Market::of(&small()).await;
    let plain: SearchAnswer<'static> = market.get("/v1/search?q=shirt").await.read();
    assert_eq!((plain.provenance.facets, plain.provenance.price), (None, None));
    for mode in ["lexical", "hybrid"] {
        // Only one card is shown, but all matches are counted.
        let answer = search(&market, &format!("q=shirt&limit=1&mode={mode}")).await;
        assert_eq!(answer.data.len(), 1);
        let colors = counts(&answer.provenance, "color");
        assert_eq!((colors["navy"], colors["white"]), (1, 1), "{mode}");
        let price = answer.provenance.price.unwrap();
        assert_eq!(price.max_minor, Some(Some(249_900)), "{mode}");
        assert!(price.min_minor.unwrap() <= Some(149_900), "{mode}");
    }
}

#[tokio::test]
async fn what_is_shown_is_counted_however_it_was_found() {
    let market = Market::of(&small()).await;
    // Only one product has every word. The others are shown because they have one word.
    let answer = search(&market, "q=vienna+coffee").await;
    assert!(answer.data.len() > 1);
    let vendors: u32 = counts(&answer.provenance, "category").values().sum();
    let filed = answer
        .data
        .iter()
        .filter(|card| card.brand_slug == "blue-tokai")
        .count();
    assert_eq!(vendors as usize, filed);
}

#[tokio::test]
async fn a_short_page_is_the_beginning_of_a_usual_one_and_counts_the_same() {
    let market = Market::of(&small()).await;
    for query in [
        "vienna+coffee",
        "coffee+roast",
        "navy+linen+shirt",
        "cofee",
        "warm+drink",
    ] {
        for mode in ["hybrid", "lexical", "semantic"] {
            let whole = search(&market, &format!("q={query}&mode={mode}")).await;
            for limit in [1, 2, 5] {
                let short = search(&market, &format!("q={query}&mode={mode}&limit={limit}")).await;
                let beginning: Vec<_> = whole.data.iter().take(limit).map(|card| &card.id).collect();
                let shown: Vec<_> = short.data.iter().map(|card| &card.id).collect();
                assert_eq!(shown, beginning, "{query} {mode} {limit}");
                assert_eq!(
                    short.provenance.facets, whole.provenance.facets,
                    "{query} {mode} {limit}"
                );
                assert_eq!(short.provenance.price, whole.provenance.price, "{query} {mode} {limit}");
            }
        }
    }
}

#[tokio::test]
async fn without_a_query_everything_is_counted_under_the_filters() {
    let market = Market::of(&wide()).await;
    let all = search(&market, "").await;
    let everything: u32 = counts(&all.provenance, "tag")["everything"];
    // 1,130 products match, but a search counts only up to 1,000.
    assert_eq!(everything, 1_000);
    let of_brand = search(&market, "brand=corner&facets=%7B%22size%22%3A%22m%22%7D&limit=40").await;
    assert_eq!(
        counts(&of_brand.provenance, "tag")["everything"] as usize,
        of_brand.data.len()
    );
    assert!(
        counts(&of_brand.provenance, "size").len() > 1,
        "its own filter does not narrow it"
    );
    let unknown = search(&market, "brand=no-such").await;
    assert!(unknown.data.is_empty() && unknown.provenance.facets.unwrap().is_empty());
}

/// Asks for each value of a search's facets and returns the number of values. Each value must find as many products as
/// it counts.
async fn each_value(market: &Market, query: &str) -> usize {
    let whole = search(market, &format!("{query}&limit=40")).await;
    let mut asked = 0;
    for facet in whole.provenance.facets.unwrap().iter() {
        // An answer has at most 40 cards.
        for value in facet.values.iter().filter(|value| value.count < 40).take(12) {
            let filter = serde_json::json!({ &*facet.name: value.value }).to_string();
            let filter = percent_encoding::utf8_percent_encode(&filter, percent_encoding::NON_ALPHANUMERIC);
            let narrowed = format!("{query}&limit=40&facets={filter}");
            let found = search(market, &narrowed).await.data.len();
            assert_eq!(found, value.count as usize, "{narrowed}");
            asked += 1;
        }
    }
    asked
}

#[tokio::test]
async fn a_value_finds_as_many_products_as_it_counts() {
    let market = Market::of(&wide()).await;
    let mut asked = 0;
    for scope in ["", "&in_stock=true", "&brand=bazaar", "&price_max=20000&currency=INR"] {
        for mode in ["hybrid", "lexical"] {
            asked += each_value(&market, &format!("q=bazaar+thing&mode={mode}{scope}")).await;
        }
    }
    assert!(asked > 80, "{asked}");
}

#[tokio::test]
async fn a_value_finds_as_many_products_as_it_counts_where_few_have_every_word() {
    let market = Market::of(&wide()).await;
    let mut asked = 0;
    for query in [
        "corner+thing",
        "corner+thing+7",
        "thing+12",
        "depot+red",
        "ekiben+thing",
        "red+corner+thing",
    ] {
        for mode in ["hybrid", "lexical"] {
            asked += each_value(&market, &format!("q={query}&mode={mode}")).await;
        }
    }
    assert!(asked > 20, "{asked}");
}

#[tokio::test]
async fn where_a_filter_leaves_nothing_that_fits_other_words_are_let_go() {
    let market = Market::of(&wide()).await;
    for mode in ["hybrid", "lexical"] {
        // A thousand products of the bazaar have both words, but none has a price in dollars.
        let answer = search(&market, &format!("q=bazaar+thing&mode={mode}&price_min=0&currency=USD")).await;
        assert_eq!(answer.data.len(), 10, "{mode}");
        assert_eq!(answer.provenance.relaxed, "all_but_one", "{mode}");
    }
}

#[tokio::test]
async fn what_only_fills_a_long_page_is_not_counted_where_a_filter_would_leave_it_out() {
    let facts = brand("Lamps", "INR");
    let blue = (1..=25).map(|id| product(&facts, id, &format!("Blue Lamp {id}")));
    let plain = (26..=60).map(|id| product(&facts, id, &format!("Lamp {id}")));
    let market = Market::of(&vec![(facts.clone(), blue.chain(plain).collect())]).await;
    for mode in ["hybrid", "lexical"] {
        let answer = search(&market, &format!("q=blue+lamp&limit=40&mode={mode}")).await;
        assert!(answer.data.len() >= 25, "{mode}");
        let counted = answer
            .provenance
            .price
            .unwrap()
            .histogram
            .unwrap()
            .into_iter()
            .map(|bin| bin.count);
        assert_eq!(counted.sum::<u32>(), 25, "{mode}");
    }
}

#[tokio::test]
async fn what_is_like_a_product_is_counted_as_it_is_shown() {
    let market = Market::of(&wide()).await;
    let like = &search(&market, "q=thing&limit=1").await.data[0].id;
    let answer = search(&market, &format!("q=thing&similar_to={like}")).await;
    let counted = counts(&answer.provenance, "tag")["everything"];
    assert_eq!(counted as usize, answer.data.len());
}

#[tokio::test]
async fn what_was_mended_is_told_whether_or_not_a_filter_leaves_anything() {
    let market = Market::of(&small()).await;
    let nothing = "q=cofee&facets=%7B%22color%22%3A%22no-such%22%7D";
    let counted = search(&market, nothing).await.provenance;
    let plain: SearchAnswer<'static> = market.get(&format!("/v1/search?{nothing}")).await.read();
    assert_eq!(counted.corrections.len(), 1);
    assert_eq!(plain.provenance.corrections, counted.corrections);
}

#[tokio::test]
async fn a_filter_narrows_every_facet_but_its_own() {
    let market = Market::of(&wide()).await;
    let all = search(&market, "q=thing&mode=lexical").await;
    let navy = search(
        &market,
        "q=thing&mode=lexical&facets=%7B%22color%22%3A%22navy%22%7D&in_stock=true",
    )
    .await;
    let (all, navy) = (all.provenance, navy.provenance);
    assert_eq!(counts(&all, "tag")["everything"], 1_000);
    let colors = counts(&navy, "color");
    assert_eq!(counts(&navy, "tag")["everything"], colors["navy"]);
    assert!(colors.len() == counts(&all, "color").len() && colors["rose"] < counts(&all, "color")["rose"]);
    let bins: u32 = navy.price.unwrap().histogram.unwrap().iter().map(|bin| bin.count).sum();
    assert!(bins <= colors["navy"] && bins > 0);
}

#[tokio::test]
async fn words_that_most_products_have_are_counted_as_the_brand_is_whose_name_they_are() {
    let market = Market::of(&wide()).await;
    // The brand has 1,100 of the 1,130 products. The server may count either the brand's products or all others.
    let mut named = search(&market, "q=bazaar&mode=lexical").await.provenance;
    // The list of a single brand has no brand facet, so the comparison leaves it out.
    let brands = named
        .facets
        .as_mut()
        .unwrap()
        .extract_if(.., |facet| facet.name == "brand");
    assert_eq!(brands.map(|facet| facet.values[0].count).collect::<Vec<_>>(), [1_000]);
    let of_brand = search(&market, "brand=bazaar").await.provenance;
    assert_eq!(counts(&named, "tag")["everything"], 1_000);
    assert_eq!((named.facets, named.price), (of_brand.facets, of_brand.price));
}

#[tokio::test]
async fn odd_queries_are_counted_too() {
    let market = Market::of(&small()).await;
    for odd in ["%21%21%21", "zyxwvut", "%E0%A4%97%E0%A5%8D", "%F0%9F%A7%B5"] {
        let answer = search(&market, &format!("q={odd}")).await;
        let counted = answer.provenance.facets.unwrap();
        assert_eq!(answer.data.is_empty(), counted.is_empty(), "{odd}");
    }
    let faulty = market.get("/v1/search?facet_counts=perhaps").await;
    assert_eq!(faulty.status, 422);
}

#[tokio::test]
async fn facets_of_many_letters_of_another_script_fit_into_an_address() {
    let market = Market::of(&small()).await;
    let facets = format!("{{\"color\":[\"{}\"]}}", "\u{915}".repeat(900));
    let sent: String = facets.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer = market.get(&format!("/v1/search?q=shirt&facets={sent}")).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_search_counts_to_a_thousand_and_says_so() {
    let facts = brand("Linen House", "INR");
    let shirts = (1..=1_001).map(|id| data_model::Product {
        category: Some(data_model::CategoryId(212)),
        ..product(&facts, id, &format!("Linen Shirt {id}"))
    });
    let market = Market::of(&vec![(facts.clone(), shirts.collect())]).await;
    let answer = search(&market, "q=linen+shirt").await;
    let facets = answer.provenance.facets.unwrap();
    let values = || facets.iter().flat_map(|facet| &facet.values);
    assert!(values().any(|value| value.value_capped == Some(true)), "{facets:?}");
    for value in values() {
        assert!(value.count < 1_000 || value.value_capped == Some(true), "{value:?}");
        assert!(value.count <= 1_000, "{value:?}");
    }
    for bin in answer.provenance.price.unwrap().histogram.unwrap() {
        assert!(
            bin.count == 0 || (bin.count, bin.value_capped) == (1_000, Some(true)),
            "{bin:?}"
        );
    }
}
