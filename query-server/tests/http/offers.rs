use data_index::BrandFacts;
use data_index::columns::MatchedPair;
use data_model::Product;
use http::StatusCode;
use query_server::schema::OffersAnswer;

use crate::catalogue::{brand, product, variant};
use crate::support::{Catalogue, Market, Observed};

fn priced(product: Product, price_minor: i64) -> Product {
    let id = product.variants[0].id.0;
    Product {
        variants: vec![variant(id, price_minor), variant(id + 1, 2 * price_minor)],
        ..product
    }
}

/// Returns a maker, two stores that resell its serum (one of them in dollars), and a store that does not.
fn catalogue() -> Catalogue {
    let (maker, shop) = (brand("Lumora", "INR"), brand("Glowmart", "INR"));
    let (abroad, other) = (brand("Vanity Edit", "USD"), brand("Dhaga", "INR"));
    let serum = |facts, id, title, price| priced(product(facts, id, title), price);
    vec![
        (maker.clone(), vec![serum(&maker, 1, "Niacinamide Serum 30 ml", 59_900)]),
        (
            shop.clone(),
            vec![serum(&shop, 2, "Lumora Niacinamide Serum 30ml", 54_900)],
        ),
        (abroad.clone(), vec![serum(&abroad, 3, "Lumora Niacinamide Serum", 900)]),
        (other.clone(), vec![serum(&other, 4, "Cotton Kurta", 129_900)]),
    ]
}

fn pair(one: &Product, other: &Product, basis: &'static str) -> MatchedPair {
    MatchedPair {
        id: one.key.id(),
        other_id: other.key.id(),
        variants: (basis == "barcode").then_some((one.variants[1].id, other.variants[1].id)),
        confidence: 0.95,
        basis,
        reasons: vec!["brand:lumora".to_owned(), "title".to_owned()],
    }
}

async fn market() -> Market {
    let catalogue = catalogue();
    let at = |at: usize| &catalogue[at].1[0];
    let observed = Observed {
        same: Some(vec![pair(at(0), at(1), "barcode"), pair(at(0), at(2), "title")]),
        ..Observed::default()
    };
    Market::observed(&catalogue, &observed).await
}

async fn path(market: &Market, query: &str) -> String {
    let found = market.get(&format!("/v1/search?q={query}&limit=1")).await.json();
    format!("/v1/products/{}/offers", found["data"][0]["id"].as_str().unwrap())
}

fn brands<'a>(answer: &'a OffersAnswer<'_>) -> Vec<&'a str> {
    answer.data.iter().map(|offer| offer.brand_slug.as_ref()).collect()
}

#[tokio::test]
async fn offers_of_all_brands_stand_by_price_within_their_currency() {
    let market = market().await;
    let path = path(&market, "lumora+niacinamide+serum+30+ml&brand=lumora").await;
    let answer: OffersAnswer<'static> = market.get(&path).await.read();
    // One brand has no variant that is known to match, so whole products are compared.
    assert_eq!(brands(&answer), ["glowmart", "lumora", "vanity-edit"]);
    let prices: Vec<i64> = answer.data.iter().map(|offer| offer.price_minor).collect();
    assert_eq!(prices, [54_900, 59_900, 900]);
    let own = &answer.data[1];
    assert!(own.is_this_product && own.basis.is_none() && own.reasons.is_empty());
    let shop = &answer.data[0];
    assert_eq!(
        (shop.basis.as_deref(), shop.variant_id.as_deref()),
        (Some("barcode"), None)
    );
    assert_eq!(
        shop.url,
        "https://glowmart.example/products/lumora-niacinamide-serum-30ml"
    );
    let reasons: Vec<_> = shop
        .reasons
        .iter()
        .map(|reason| (reason.code.as_ref(), reason.value.as_deref()))
        .collect();
    assert_eq!(reasons, [("brand", Some("lumora")), ("title", None)]);
    assert_eq!(answer.provenance.unknown_reason, None);
}

#[tokio::test]
async fn what_is_in_stock_stands_first_whatever_it_costs_and_in_whatever_currency() {
    let mut catalogue = catalogue();
    // The maker has nothing in stock. The shop has everything in stock except the matching variant.
    for variant in &mut catalogue[0].1[0].variants {
        variant.available = false;
    }
    catalogue[1].1[0].variants[1].available = false;
    let (dear, dearer) = (brand("Aarna", "INR"), brand("Zuri", "INR"));
    let again = |facts: &BrandFacts, id, price| {
        let serum = priced(product(facts, id, "Lumora Serum of Niacinamide 30 ml"), price);
        (facts.clone(), vec![serum])
    };
    catalogue.extend([again(&dear, 5, 99_900), again(&dearer, 6, 89_900)]);
    let at = |at: usize| &catalogue[at].1[0];
    let same = |number: usize, basis| pair(at(0), at(number), basis);
    let observed = Observed {
        same: Some(vec![
            same(1, "barcode"),
            same(2, "barcode"),
            same(4, "barcode"),
            same(5, "barcode"),
        ]),
        ..Observed::default()
    };
    let market = Market::observed(&catalogue, &observed).await;
    let path = path(&market, "lumora+niacinamide+serum+30+ml&brand=lumora").await;
    let answer: OffersAnswer<'static> = market.get(&path).await.read();
    let told: Vec<_> = answer
        .data
        .iter()
        .map(|offer| {
            (
                offer.brand_slug.as_ref(),
                offer.available,
                offer.currency.as_ref(),
                offer.price_minor,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("zuri", true, "INR", 179_800),
            ("aarna", true, "INR", 199_800),
            ("vanity-edit", true, "USD", 1_800),
            ("glowmart", false, "INR", 109_800),
            ("lumora", false, "INR", 119_800),
        ]
    );
    // The product's own offer is always included, after the offers in stock.
    let two: OffersAnswer<'static> = market.get(&format!("{path}?limit=2")).await.read();
    assert_eq!(brands(&two), ["zuri", "lumora"]);
}

#[tokio::test]
async fn a_pair_is_told_from_both_sides_and_others_stand_alone() {
    let market = market().await;
    let shop: OffersAnswer<'static> = market.get(&path(&market, "serum&brand=glowmart").await).await.read();
    assert_eq!(brands(&shop), ["glowmart", "lumora"]);
    // The only common variant costs twice as much as the cheapest variant.
    let told = shop
        .data
        .iter()
        .map(|offer| (offer.variant_id.as_deref(), offer.price_minor));
    assert_eq!(told.collect::<Vec<_>>(), [(Some("21"), 109_800), (Some("11"), 119_800)]);
    let kurta: OffersAnswer<'static> = market.get(&path(&market, "kurta").await).await.read();
    assert_eq!(brands(&kurta), ["dhaga"]);
}

#[tokio::test]
async fn stores_that_one_bar_code_connects_are_all_told_whichever_were_compared() {
    let makers: Vec<BrandFacts> = (0..40).map(|at| brand(&format!("Store {at}"), "INR")).collect();
    let catalogue: Catalogue = makers
        .iter()
        .zip(1..)
        .map(|(facts, id)| {
            let serum = priced(
                product(facts, id, "Niacinamide Serum"),
                10_000 + i64::try_from(id).unwrap(),
            );
            (facts.clone(), vec![serum])
        })
        .collect();
    let at = |at: usize| &catalogue[at].1[0];
    // A bar code connects each product only to the next one. The last two products are matched by title, which does not
    // extend the chain.
    let mut same: Vec<_> = (0..38).map(|one| pair(at(one), at(one + 1), "barcode")).collect();
    same.push(pair(at(38), at(39), "title"));
    let observed = Observed {
        same: Some(same),
        ..Observed::default()
    };
    let market = Market::observed(&catalogue, &observed).await;
    for (from, expected) in [(0, 39), (20, 39), (38, 40), (39, 2)] {
        let path = format!("/v1/products/{}/offers?limit=50", at(from).key.id());
        let answer: OffersAnswer<'static> = market.get(&path).await.read();
        assert_eq!(answer.data.len(), expected, "{from}");
    }
}

#[tokio::test]
async fn the_own_offer_is_told_however_few_are_wanted() {
    let market = market().await;
    let path = path(&market, "serum&brand=vanity-edit").await;
    let one: OffersAnswer<'static> = market.get(&format!("{path}?limit=1")).await.read();
    assert_eq!(brands(&one), ["vanity-edit"]);
}

#[tokio::test]
async fn delivery_is_told_where_it_is_asked_for() {
    let market = market().await;
    let path = path(&market, "serum&brand=lumora").await;
    let answer: OffersAnswer<'static> = market.get(&format!("{path}?pincode=560001")).await.read();
    assert!(answer.data.iter().all(|offer| offer.delivery.is_some()));
    let answered = market.get(&format!("{path}?pincode=0&limit=0")).await;
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_release_that_does_not_know_says_so() {
    let market = Market::of(&catalogue()).await;
    let path = path(&market, "serum&brand=lumora").await;
    let answer: OffersAnswer<'static> = market.get(&path).await.read();
    assert_eq!(brands(&answer), ["lumora"]);
    assert_eq!(
        answer.provenance.unknown_reason.as_deref(),
        Some("release_without_matches")
    );
    let gone = market
        .get("/v1/products/00000000-0000-4000-8000-000000000000/offers")
        .await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    assert_eq!(gone.json()["code"], "product_not_found");
}
