use data_index::BrandFacts;
use data_model::{CategoryId, Product, ProductId};
use query_server::schema::{RecommendAnswer, SearchAnswer};

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market};

const SHIRTS: CategoryId = CategoryId(212);
const PANTS: CategoryId = CategoryId(204);
const COFFEE: CategoryId = CategoryId(1868);

fn filed(facts: &BrandFacts, id: u64, title: &str, category: CategoryId, price_minor: i64) -> Product {
    let mut product = product(facts, id, title);
    product.category = Some(category);
    product.variants[0].price_minor = price_minor;
    product
}

/// Returns three clothing brands in rupees, one in dollars, and coffee.
fn wardrobe() -> Catalogue {
    let (loom, weave, stitch, beans) = (
        brand("Loom", "INR"),
        brand("Weave", "INR"),
        brand("Stitch", "USD"),
        brand("Beans", "INR"),
    );
    let mut sold_out = filed(&weave, 14, "Blue Linen Shirt for Men", SHIRTS, 150_000);
    sold_out.variants[0].available = false;
    vec![
        (
            loom.clone(),
            vec![
                filed(&loom, 1, "Blue Linen Shirt", SHIRTS, 150_000),
                filed(&loom, 2, "White Linen Shirt", SHIRTS, 160_000),
                filed(&loom, 3, "Blue Linen Shirt", SHIRTS, 155_000),
                filed(&loom, 4, "Linen Trousers", PANTS, 180_000),
            ],
        ),
        (
            weave.clone(),
            vec![
                filed(&weave, 11, "Blue Cotton Shirt", SHIRTS, 90_000),
                filed(&weave, 12, "Green Linen Shirt", SHIRTS, 200_000),
                filed(&weave, 13, "Cotton Trousers", PANTS, 140_000),
                sold_out,
            ],
        ),
        (
            stitch.clone(),
            vec![filed(&stitch, 21, "Blue Linen Shirt Slim", SHIRTS, 4_900)],
        ),
        (
            beans.clone(),
            vec![filed(&beans, 31, "Dark Roast Coffee", COFFEE, 50_000)],
        ),
    ]
}

async fn id_of(market: &Market, title: &str) -> ProductId {
    let query = title.replace(' ', "+");
    let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={query}&mode=lexical")).await.read();
    let card = answer.data.into_iter().find(|card| card.title == title);
    card.unwrap_or_else(|| panic!("no {title}")).id
}

async fn recommended(market: &Market, title: &str, rest: &str) -> Vec<String> {
    let id = id_of(market, title).await;
    let answer: RecommendAnswer<'static> = market.get(&format!("/v1/recommend?product_id={id}{rest}")).await.read();
    assert!(
        answer.data.iter().all(|card| card.id != id),
        "the product itself is recommended"
    );
    let cards = answer.data.into_iter();
    cards.map(|card| format!("{} · {}", card.brand, card.title)).collect()
}

#[tokio::test]
async fn what_is_like_a_product_stands_before_what_is_not_and_sold_out_stands_last() {
    let market = Market::of(&wardrobe()).await;
    let found = recommended(&market, "Blue Cotton Shirt", "").await;
    let place = |title: &str| {
        found
            .iter()
            .position(|found| found.ends_with(title))
            .unwrap_or(usize::MAX)
    };
    assert!(found[0].contains("Shirt"), "{found:?}");
    assert!(place("White Linen Shirt") < place("Dark Roast Coffee"), "{found:?}");
    assert_eq!(found.last().unwrap(), "Weave · Blue Linen Shirt for Men");
    assert_eq!(
        found.iter().filter(|found| *found == "Loom · Blue Linen Shirt").count(),
        1
    );
}

#[tokio::test]
async fn products_of_one_title_do_not_shorten_what_is_recommended() {
    let loom = brand("Loom", "INR");
    let cheaper = [
        "Blue Linen Shirt Slim",
        "Blue Linen Shirt Slim",
        "Blue Linen Shirt Wide",
    ];
    let mut products = vec![filed(&loom, 1, "Blue Linen Shirt", SHIRTS, 150_000)];
    products.extend(
        (2..)
            .zip(cheaper)
            .map(|(id, title)| filed(&loom, id, title, SHIRTS, 90_000)),
    );
    // This product is of another kind, so it is no cheaper shirt.
    products.push(filed(&loom, 9, "Blue Linen Shirt Dress", PANTS, 80_000));
    let market = Market::of(&vec![(loom, products)]).await;
    let found = recommended(&market, "Blue Linen Shirt", "&intent=cheaper&limit=2").await;
    assert_eq!(found.len(), 2, "{found:?}");
    let found = recommended(&market, "Blue Linen Shirt", "&intent=cheaper&limit=3").await;
    assert_eq!(found.len(), 2, "{found:?}");
}

#[tokio::test]
async fn nothing_to_do_with_a_product_is_not_recommended_because_it_is_another_brands() {
    let market = Market::of(&wardrobe()).await;
    let related = recommended(&market, "Dark Roast Coffee", "&limit=50").await;
    let cross = recommended(&market, "Dark Roast Coffee", "&intent=cross_brand&limit=50").await;
    assert!(
        cross.iter().all(|found| related.contains(found)),
        "{cross:?} {related:?}"
    );
}

#[tokio::test]
async fn what_is_recommended_as_related_is_found_as_similar_and_similar_is_not_always_near_enough() {
    for (title, other, recommends) in [
        ("Blue Linen Shirt", "Cotton Trousers", 0),
        ("Dark Roast Coffee", "Coffee Mug", 1),
    ] {
        let loom = brand("Loom", "INR");
        let products = vec![product(&loom, 1, title), product(&loom, 2, other)];
        let market = Market::of(&vec![(loom, products)]).await;
        let id = id_of(&market, title).await;
        let path = format!("/v1/search?similar_to={id}&limit=40");
        let alike: SearchAnswer<'static> = market.get(&path).await.read();
        let related = recommended(&market, title, "").await;
        assert_eq!((alike.data.len(), related.len()), (1, recommends), "{title}");
    }
}

#[tokio::test]
async fn each_intent_keeps_to_its_conditions() {
    let market = Market::of(&wardrobe()).await;
    let cross = recommended(&market, "White Linen Shirt", "&intent=cross_brand").await;
    assert!(
        !cross.is_empty() && cross.iter().all(|found| !found.starts_with("Loom")),
        "{cross:?}"
    );
    let own = recommended(&market, "White Linen Shirt", "&intent=same_brand").await;
    assert!(
        own.len() == 2 && own.iter().all(|found| found.starts_with("Loom")),
        "{own:?}"
    );
    // Results are cheaper in the product's own currency, the product's own category first. Products in other currencies
    // are left out.
    let cheaper = recommended(&market, "White Linen Shirt", "&intent=cheaper").await;
    assert!(cheaper[0].ends_with("Shirt"), "{cheaper:?}");
    assert!(
        !cheaper
            .iter()
            .any(|found| found.contains("Slim") || found.contains("Green")),
        "{cheaper:?}"
    );
    let complement = recommended(&market, "White Linen Shirt", "&intent=complement&limit=2").await;
    assert_eq!(complement.len(), 2, "{complement:?}");
    assert!(
        complement.iter().all(|found| found.contains("Trousers")),
        "{complement:?}"
    );
}

#[tokio::test]
async fn what_is_recommended_is_of_the_kind_and_for_the_people_of_the_product() {
    const BABY_TOPS: CategoryId = CategoryId(5410);
    const HANGERS: CategoryId = CategoryId(631);
    let (loom, tiny, home) = (brand("Loom", "INR"), brand("Tiny", "INR"), brand("Home", "INR"));
    let market = Market::of(&vec![
        (
            loom.clone(),
            vec![
                filed(&loom, 1, "Blue Linen Shirt", SHIRTS, 150_000),
                filed(&loom, 2, "Blue Linen Shirt Slim", SHIRTS, 140_000),
                filed(&loom, 3, "Blue Linen Shirt Wide", SHIRTS, 130_000),
                filed(&loom, 4, "Linen Trousers", PANTS, 130_000),
            ],
        ),
        (
            tiny.clone(),
            vec![
                filed(&tiny, 11, "Blue Linen Shirt Tiny", BABY_TOPS, 120_000),
                filed(&tiny, 12, "Kids Blue Linen Shirt", SHIRTS, 120_000),
                filed(&tiny, 13, "Kids Linen Trousers", PANTS, 120_000),
            ],
        ),
        (
            home.clone(),
            vec![filed(&home, 21, "Blue Linen Shirt Hanger", HANGERS, 120_000)],
        ),
    ])
    .await;
    for (title, intent, expected) in [
        (
            "Blue Linen Shirt",
            "related",
            &["Blue Linen Shirt Slim", "Blue Linen Shirt Wide"][..],
        ),
        (
            "Blue Linen Shirt",
            "cheaper",
            &["Blue Linen Shirt Slim", "Blue Linen Shirt Wide"],
        ),
        ("Blue Linen Shirt", "complement", &["Linen Trousers"]),
        ("Kids Blue Linen Shirt", "complement", &["Kids Linen Trousers"]),
        ("Blue Linen Shirt Hanger", "complement", &[]),
    ] {
        let mut found = recommended(&market, title, &format!("&intent={intent}")).await;
        found.sort_unstable();
        let found: Vec<&str> = found
            .iter()
            .filter_map(|found| found.split_once(" · "))
            .map(|(_, title)| title)
            .collect();
        assert_eq!(found, expected, "{intent} of {title}");
    }
}

#[tokio::test]
async fn what_is_cheaper_is_no_part_of_the_thing() {
    let garden = brand("Garden", "INR");
    let mut mowers = Vec::new();
    for (id, title, price_minor) in [
        (1, "Electric Lawn Mower", 500_000),
        (2, "Cordless Electric Lawn Mower", 300_000),
        (3, "Electric Lawn Mower Blade", 90_000),
        (4, "Battery for Electric Lawn Mower", 200_000),
    ] {
        let mut product = product(&garden, id, title);
        product.variants[0].price_minor = price_minor;
        mowers.push(product);
    }
    let market = Market::of(&vec![(garden, mowers)]).await;
    let found = recommended(&market, "Electric Lawn Mower", "&intent=cheaper").await;
    assert_eq!(found, ["Garden · Cordless Electric Lawn Mower"]);
}

#[tokio::test]
async fn a_product_without_category_has_no_complement() {
    let market = Market::of(&small()).await;
    assert!(
        recommended(&market, "Drip Coffee Kettle", "&intent=complement")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn a_recommendation_says_how_it_was_found() {
    let market = Market::of(&wardrobe()).await;
    let id = id_of(&market, "Linen Trousers").await;
    let body = market
        .body(&format!("/v1/recommend?product_id={id}&intent=complement&limit=1"))
        .await;
    insta::assert_snapshot!(body, @r#"
{
  "data": [
    {
      "id": "bd5c6356-1a04-5e2e-8690-c94ce04e964a",
      "product_uid": "sha:3ce78127221214c0ac771800b99fe4d0a3701002",
      "title": "Blue Linen Shirt",
      "brand": "Loom",
      "brand_slug": "loom",
      "price_min_minor": 155000,
      "compare_at_minor": null,
      "discount_pct": null,
      "currency": "INR",
      "in_stock": true,
      "variants_complete": true,
      "rating": null,
      "image": null
    }
  ],
  "provenance": {
    "release": "[release]",
    "engine": "semantic",
    "intent": "complement"
  },
  "tier": "graph"
}
"#);
}

#[tokio::test]
async fn every_fault_of_a_request_is_named() {
    let market = Market::of(&wardrobe()).await;
    let answered = market.get("/v1/recommend?product_id=x&intent=best&limit=51").await;
    assert_eq!(answered.status, 422);
    let faults = answered.json()["detail"].as_array().unwrap().clone();
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| (fault["loc"][1].as_str().unwrap(), fault["type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        faults,
        [
            ("product_id", "uuid_parsing"),
            ("intent", "enum"),
            ("limit", "less_than_equal")
        ]
    );
    let missing = market.get("/v1/recommend").await;
    assert_eq!(
        (missing.status.as_u16(), missing.json()["detail"][0]["type"].as_str()),
        (422, Some("missing"))
    );
    let unknown = market
        .get("/v1/recommend?product_id=00000000-0000-0000-0000-000000000000")
        .await;
    assert_eq!(
        (unknown.status.as_u16(), unknown.json()["code"].as_str()),
        (404, Some("product_not_found"))
    );
}

#[tokio::test]
async fn a_search_finds_what_is_like_a_product() {
    let market = Market::of(&wardrobe()).await;
    let id = id_of(&market, "Blue Cotton Shirt").await;
    let alike: SearchAnswer<'static> = market
        .get(&format!("/v1/search?similar_to={id}&in_stock=true&limit=3"))
        .await
        .read();
    assert_eq!(alike.provenance.engine, "semantic");
    assert!(
        alike
            .data
            .iter()
            .all(|card| card.title.contains("Shirt") && card.id != id),
        "{:?}",
        alike.data
    );
    let worded: SearchAnswer<'static> = market
        .get(&format!("/v1/search?similar_to={id}&q=trousers&limit=2"))
        .await
        .read();
    assert!(
        worded.data.iter().all(|card| card.title.contains("Trousers")),
        "{:?}",
        worded.data
    );
    let unknown = market
        .get("/v1/search?similar_to=00000000-0000-0000-0000-000000000000")
        .await;
    assert_eq!(
        (unknown.status.as_u16(), unknown.json()["code"].as_str()),
        (404, Some("product_not_found"))
    );
    assert_eq!(market.get("/v1/search?similar_to=x").await.status, 422);
}

#[tokio::test]
async fn a_complement_may_be_of_another_branch_of_the_taxonomy() {
    const COFFEE_MAKERS: CategoryId = CategoryId(736);
    let mut wardrobe = wardrobe();
    let home = brand("Home", "INR");
    let maker = filed(&home, 41, "Pour Over Coffee Maker", COFFEE_MAKERS, 250_000);
    wardrobe.push((home, vec![maker]));
    let market = Market::of(&wardrobe).await;
    let found = recommended(&market, "Dark Roast Coffee", "&intent=complement").await;
    assert_eq!(found, ["Home · Pour Over Coffee Maker"]);
}

#[tokio::test]
async fn a_short_answer_is_the_beginning_of_a_longer_one() {
    let market = Market::of(&wardrobe()).await;
    for intent in ["related", "cross_brand", "complement", "cheaper", "same_brand"] {
        for title in ["White Linen Shirt", "Linen Trousers", "Dark Roast Coffee"] {
            let all = recommended(&market, title, &format!("&intent={intent}&limit=50")).await;
            for limit in 1..=all.len() {
                let short = recommended(&market, title, &format!("&intent={intent}&limit={limit}")).await;
                assert_eq!(short, all[..limit], "{intent} of {title}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_far_off_is_not_recommended_for_want_of_others() {
    const BATTERIES: CategoryId = CategoryId(276);
    const TROUSERS: CategoryId = CategoryId(204);
    let power = brand("Power", "INR");
    let loom = brand("Loom", "INR");
    let batteries = (1..=6).map(|id| {
        filed(
            &power,
            id,
            &format!("AA Battery Pack {id}"),
            BATTERIES,
            20_000 + id as i64,
        )
    });
    let trousers = (11..=20).map(|id| filed(&loom, id, &format!("Linen Trousers {id}"), TROUSERS, 20_000));
    let catalogue = vec![(power.clone(), batteries.collect()), (loom.clone(), trousers.collect())];
    let market = Market::of(&catalogue).await;
    let related = recommended(&market, "AA Battery Pack 1", "&limit=12").await;
    assert_eq!(related.len(), 5, "{related:?}");
    assert!(related.iter().all(|title| title.contains("Battery")), "{related:?}");
    let cheaper = recommended(&market, "AA Battery Pack 3", "&intent=cheaper").await;
    assert!(
        !cheaper.is_empty() && cheaper.iter().all(|title| title.contains("Battery")),
        "{cheaper:?}"
    );
}
