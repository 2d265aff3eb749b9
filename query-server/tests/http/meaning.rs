use data_model::ProductId;
use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product, small};
use crate::concepts::Concepts;
use crate::support::Market;
use crate::wide::wide;

async fn market() -> Market {
    Market::embedding(
        &small(),
        Some(Concepts::named("concepts")),
        Some(Concepts::named("concepts")),
    )
    .await
}

async fn answer(market: &Market, query: &str) -> SearchAnswer<'static> {
    market.get(&format!("/v1/search?{query}")).await.read()
}

fn titles<'a>(answer: &'a SearchAnswer<'_>) -> Vec<&'a str> {
    answer.data.iter().map(|card| card.title.as_ref()).collect()
}

#[tokio::test]
async fn a_product_is_found_by_what_the_query_means() {
    let market = market().await;
    assert!(market.titles("q=espresso&mode=lexical").await.is_empty());
    let found = answer(&market, "q=espresso").await;
    assert_eq!(found.provenance.engine, "hybrid");
    assert_eq!(found.provenance.degraded, None);
    let found = titles(&found);
    assert!(
        found.contains(&"Vienna Roast Coffee") && found.contains(&"Attikan Estate Coffee"),
        "{found:?}"
    );
    // No other product is similar enough.
    assert!(
        !found.contains(&"Linen Shirt") && !found.contains(&"Paper Filter 100 pcs"),
        "{found:?}"
    );
    let semantic = answer(&market, "q=garment&mode=semantic").await;
    assert_eq!(
        (semantic.provenance.engine.as_ref(), semantic.data.len()),
        ("semantic", 2)
    );
}

#[tokio::test]
async fn what_the_query_names_stands_first_whatever_is_nearer() {
    let market = market().await;
    // The words of the query name these products. All others are closer to `espresso` in meaning.
    for query in ["q=VR-250", "q=vienna+roast+coffee"] {
        assert_eq!(
            titles(&answer(&market, query).await)[0],
            "Vienna Roast Coffee",
            "{query}"
        );
    }
    let brand = answer(&market, "q=kissaten").await;
    assert!(brand.data[..2].iter().all(|card| card.brand == "Kissaten"));
}

#[tokio::test]
async fn what_means_nothing_finds_nothing() {
    let market = market().await;
    for query in [
        "q=zzqx+vlorp",
        "q=%21%3F%3F",
        "q=40404040",
        "q=%F0%9F%A7%B5%F0%9F%A7%B5",
        "q=zzqx&mode=semantic",
        "q=%00%01&mode=semantic",
    ] {
        let found = answer(&market, query).await;
        assert!(found.data.is_empty(), "{query}: {:?}", titles(&found));
    }
    let unknown = answer(&market, "q=linen").await;
    assert_eq!(unknown.provenance.degraded.as_deref(), Some("no_known_word"));
    assert_eq!(unknown.provenance.engine, "lexical");
}

#[tokio::test]
async fn filters_hold_for_what_meaning_finds() {
    let market = market().await;
    let kept = answer(&market, "q=espresso&in_stock=true").await;
    assert!(!kept.data.is_empty() && kept.data.iter().all(|card| card.in_stock));
    assert!(!titles(&kept).contains(&"Attikan Estate Coffee"));
    let brand = answer(&market, "q=espresso&brand=kissaten").await;
    assert!(brand.data.iter().all(|card| card.brand == "Kissaten"));
    let dear = answer(&market, "q=espresso&price_min=90000&mode=semantic").await;
    assert_eq!(titles(&dear), ["Coffee Gift Crate"]);
}

#[tokio::test]
async fn sorted_otherwise_meaning_answers_only_where_words_find_nothing() {
    let market = market().await;
    let by_words = answer(&market, "q=coffee&sort=price_asc").await;
    let lexical = answer(&market, "q=coffee&sort=price_asc&mode=lexical").await;
    assert_eq!(titles(&by_words), titles(&lexical));
    let by_meaning = answer(&market, "q=espresso&sort=price_desc").await;
    assert_eq!(titles(&by_meaning)[0], "Coffee Gift Crate");
    assert!(
        by_meaning
            .data
            .is_sorted_by(|one, other| one.price_min_minor >= other.price_min_minor)
    );
}

#[tokio::test]
async fn no_brand_has_more_products_than_asked_for() {
    let market = market().await;
    for query in [
        "q=coffee",
        "q=espresso",
        "q=",
        "q=coffee&mode=lexical",
        "q=coffee&sort=price_asc",
    ] {
        let few = answer(&market, &format!("{query}&per_brand_max=1")).await;
        let mut brands: Vec<_> = few.data.iter().map(|card| &card.brand_slug).collect();
        let all = brands.len();
        brands.sort_unstable();
        brands.dedup();
        assert_eq!(brands.len(), all, "{query}");
        assert!(all > 0, "{query}");
    }
    let refused = market.get("/v1/search?q=a&per_brand_max=0&explain=perhaps").await;
    assert_eq!(refused.status, 422);
    let fields: Vec<_> = refused.json()["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["loc"][1].clone())
        .collect();
    assert_eq!(fields, ["per_brand_max", "explain"]);
}

#[tokio::test]
async fn the_places_of_a_brand_that_has_its_share_go_to_others() {
    let market = Market::of(&wide()).await;
    // One brand has 1,100 of the 1,130 products. In order of price, products in other currencies come last.
    for (query, brands) in [
        ("q=", 4),
        ("q=&sort=newest", 4),
        ("q=&sort=price_desc", 4),
        ("q=thing&mode=lexical", 4),
        ("q=thing&sort=price_asc", 4),
    ] {
        let one_each = answer(&market, &format!("{query}&per_brand_max=1&limit=40")).await;
        assert_eq!(one_each.data.len(), brands, "{query}");
        let more = answer(&market, &format!("{query}&per_brand_max=3")).await;
        assert_eq!(more.data.len(), 3 * brands, "{query}");
    }
}

#[tokio::test]
async fn a_cap_on_brands_that_cuts_nothing_changes_nothing_and_none_finds_more() {
    let facts = ["Coffee House", "Mug House"].map(|name| brand(name, "INR"));
    let catalogue = facts.map(|facts| {
        let mugs = (1..=15).map(|id| product(&facts, id, &format!("Coffee Mug {id}")));
        let others = (101..=110).map(|id| product(&facts, id, &format!("Espresso {id}")));
        let mut products: Vec<_> = mugs.chain(others).collect();
        for product in &mut products {
            let dear = product.key.platform_id == 7 || product.key.platform_id > 100;
            product.variants[0].price_minor = if dear { 90_000 } else { 10_000 };
        }
        (facts, products)
    });
    let market = Market::embedding(
        &catalogue.into(),
        Some(Concepts::named("concepts")),
        Some(Concepts::named("concepts")),
    )
    .await;
    for query in [
        "q=coffee+mug",
        "q=espresso",
        "q=coffee+mug+garment",
        "q=espresso&mode=semantic",
    ] {
        let all = answer(&market, query).await;
        let capped = answer(&market, &format!("{query}&per_brand_max=20")).await;
        assert_eq!(titles(&all), titles(&capped), "{query}");
    }
    // Thirty products have both words, and two of them are expensive enough, so products with a similar meaning are not
    // added.
    let dear = answer(&market, "q=coffee+mug&price_min=50000").await;
    assert_eq!(titles(&dear), ["Coffee Mug 7"; 2]);
    let capped = answer(&market, "q=coffee+mug&price_min=50000&per_brand_max=10").await;
    assert_eq!(titles(&capped), ["Coffee Mug 7"; 2]);
}

#[tokio::test]
async fn what_is_too_far_from_the_query_is_not_found_by_leaving_out_what_is_near() {
    let (cups, mixed) = (brand("Cup House", "INR"), brand("Mixed House", "INR"));
    let far = "Coffee Shirt Apron Kettle Filter";
    let mut distant = product(&mixed, 2, far);
    distant.variants[0].price_minor = 90_000;
    let catalogue = |with_word: bool| {
        let cup = product(&cups, 1, if with_word { "Espresso Beans" } else { "Caffeine Beans" });
        vec![(cups.clone(), vec![cup]), (mixed.clone(), vec![distant.clone()])]
    };
    let concepts = || Some(Concepts::named("concepts"));
    let market = Market::embedding(&catalogue(true), concepts(), concepts()).await;
    assert_eq!(market.titles("q=espresso").await, ["Espresso Beans"]);
    assert!(market.titles("q=espresso&price_min=50000").await.is_empty());
    // Within a brand, the closest product is found even if other brands' products have the word.
    assert_eq!(market.titles("q=espresso&brand=mixed-house").await, [far]);
    let market = Market::embedding(&catalogue(false), concepts(), concepts()).await;
    assert_eq!(market.titles("q=espresso&brand=mixed-house").await, [far]);
}

#[tokio::test]
async fn the_parts_of_a_score_are_told() {
    let market = market().await;
    let told = answer(&market, "q=coffee+brew&explain=true").await;
    let parts = told.provenance.explain.unwrap();
    assert_eq!(parts.len(), told.data.len());
    for (card, part) in told.data.iter().zip(&parts) {
        assert_eq!(card.id, part.id);
        let words = part.words.as_ref().map_or(0.0, |words| words.fit * words.share);
        let meaning = part
            .meaning
            .as_ref()
            .map_or(0.0, |meaning| meaning.nearness * meaning.share);
        assert!((part.score - words - meaning - part.category).abs() < 1e-5, "{part:?}");
    }
    assert!(parts.is_sorted_by(|one, other| one.score >= other.score));
    assert!(answer(&market, "q=coffee").await.provenance.explain.is_none());
}

#[tokio::test]
async fn a_category_that_is_called_what_the_query_asks_for_counts_a_little() {
    let facts = brand("Any Shop", "INR");
    let mut shirt = product(&facts, 1, "Linen Shirt");
    // Category 212 is "Shirts & Tops".
    shirt.category = Some(data_model::CategoryId(212));
    let stand = product(&facts, 2, "Shirt Stand");
    let market = Market::embedding(
        &vec![(facts, vec![shirt, stand])],
        Some(Concepts::named("concepts")),
        Some(Concepts::named("concepts")),
    )
    .await;
    for (query, category) in [
        ("shirt", 0.02),
        ("linen+shirt", 0.02),
        ("shirt+for+a+stand", 0.02),
        ("shirt+stand", 0.0),
    ] {
        let found = answer(&market, &format!("q={query}&explain=true")).await;
        let parts = found.provenance.explain.unwrap();
        let of_shirt = found
            .data
            .iter()
            .zip(&parts)
            .find(|(card, _)| card.title == "Linen Shirt");
        assert_eq!(of_shirt.map(|(_, part)| part.category), Some(category), "{query}");
        let of_stand = found
            .data
            .iter()
            .zip(&parts)
            .find(|(card, _)| card.title == "Shirt Stand");
        assert!(of_stand.is_none_or(|(_, part)| part.category == 0.0), "{query}");
    }
    // A query for a shirt stand names a stand, not a shirt.
    let found = answer(&market, "q=stand+for+shirt&explain=true").await;
    assert_eq!(found.data[0].title, "Shirt Stand");
    let parts = found.provenance.explain.unwrap();
    assert!(parts.iter().skip(1).all(|part| part.category < 0.0));
}

#[tokio::test]
async fn vectors_of_another_embedder_are_never_compared() {
    let (one, other) = (Concepts::named("one"), Concepts::named("other"));
    for (built, serving, reason) in [
        (Some(Concepts::named("one")), Some(other), "other_embedder"),
        (Some(Concepts::named("one")), None, "other_embedder"),
        (None, Some(one), "no_vectors"),
    ] {
        let market = Market::embedding(&small(), built, serving).await;
        let hybrid = answer(&market, "q=coffee").await;
        assert_eq!(hybrid.provenance.degraded.as_deref(), Some(reason));
        assert_eq!(hybrid.provenance.engine, "lexical");
        let lexical = answer(&market, "q=coffee&mode=lexical").await;
        assert_eq!(titles(&hybrid), titles(&lexical));
        assert_eq!(lexical.provenance.degraded, None);
        assert!(market.titles("q=espresso").await.is_empty());
        let semantic = answer(&market, "q=coffee&mode=semantic").await;
        assert_eq!(
            (semantic.provenance.engine.as_ref(), semantic.data.is_empty()),
            ("lexical", false)
        );
    }
}

#[tokio::test]
async fn an_embedder_that_fails_leaves_the_words() {
    let market = market().await;
    let found = answer(&market, "q=unreachable+coffee").await;
    assert_eq!(found.provenance.degraded.as_deref(), Some("embedder_failed"));
    assert!(titles(&found).contains(&"Vienna Roast Coffee"));
}

#[tokio::test]
async fn products_that_fit_alike_stand_in_the_same_order_every_time() {
    let facts = brand("Twins", "INR");
    let twins = (1..=30).map(|id| product(&facts, id, "Espresso Boiler")).collect();
    let catalogue = vec![(facts, twins)];
    let concepts = || Some(Concepts::named("concepts"));
    let ids = async |market: &Market, query: &str| -> Vec<ProductId> {
        let found = answer(market, query).await;
        found.data.into_iter().map(|card| card.id).collect()
    };
    let market = Market::embedding(&catalogue, concepts(), concepts()).await;
    for query in ["q=kettle&limit=7", "q=kettle&mode=semantic&limit=7", "q=boiler&limit=7"] {
        let first = ids(&market, query).await;
        assert_eq!(first.len(), 7, "{query}");
        assert!(first.is_sorted(), "{query}");
        assert_eq!(ids(&market, query).await, first, "{query}");
    }
}

#[tokio::test]
async fn a_longer_answer_begins_with_every_shorter_one() {
    let facts = brand("Roastery", "INR");
    let named = [
        (12, "Coffee Mug"),
        (160, "Espresso"),
        (200, "Mug of Clay"),
        (90, "Coffee Beans"),
    ];
    let mut products = Vec::new();
    for (count, name) in named {
        let first = products.len() as u64 + 1;
        products.extend((first..first + count).map(|id| product(&facts, id, &format!("{name} {id}"))));
    }
    let concepts = || Some(Concepts::named("concepts"));
    let market = Market::embedding(&vec![(facts, products)], concepts(), concepts()).await;
    let ids = async |query: &str| -> Vec<ProductId> {
        let found = answer(&market, query).await;
        found.data.into_iter().map(|card| card.id).collect()
    };
    for query in [
        "q=coffee+mug",
        "q=mug+espresso",
        "q=espresso+of+clay",
        "q=coffee",
        "q=coffee+mug&per_brand_max=30",
        "q=coffee+mug&mode=lexical",
        "q=espresso&mode=semantic",
    ] {
        let longest = ids(&format!("{query}&limit=40")).await;
        for limit in [1, 7, 20, 21, 25, 33, 39] {
            let shorter = ids(&format!("{query}&limit={limit}")).await;
            let shown = limit.min(longest.len());
            assert_eq!(shorter, longest[..shown], "{query}&limit={limit}");
        }
    }
    // Products that are shown are counted, even on a long page.
    let counted = answer(&market, "q=coffee+mug&limit=40&facet_counts=true").await;
    let facets = counted.provenance.facets.unwrap_or_default();
    let brands = facets.iter().find(|facet| facet.name == "brand").unwrap();
    let shown = u32::try_from(counted.data.len()).unwrap();
    assert!(shown > 20 && brands.values[0].count >= shown, "{shown} {brands:?}");
}
