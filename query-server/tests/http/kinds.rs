use std::collections::BTreeSet;

use data_model::{Attribute, CategoryId, Kind, Product};
use http::Request;
use proptest::prelude::*;
use query_server::schema::{BrowseAnswer, Facet, ProductAnswer, RecommendAnswer, SearchAnswer, SuggestAnswer};
use serde_json::{Value, json};

use crate::browse::{facets, page, pages};
use crate::catalogue::{brand, product};
use crate::faults::faults;
use crate::support::Market;

#[tokio::test]
async fn lists_show_goods_alone_and_whatever_is_asked_for_by_its_id_is_answered() {
    let loom = brand("Loom", "INR");
    let titles = [
        ("Linen Shirt", "goods"),
        ("Linen Shirt Gift Card", "gift_card"),
        ("Linen Shirt Delivery Fee", "fee"),
        ("Linen Shirt Fabric Sample", "sample"),
        ("Please read: Linen Shirt", "notice"),
        ("Linen Shirt (do not buy)", "test"),
        ("Linen Shirt Repair Service", "service"),
        ("Linen Shirt Slim", "goods"),
    ];
    let products: Vec<_> = (1..)
        .zip(titles)
        .map(|(id, (title, _))| product(&loom, id, title))
        .collect();
    let ids: Vec<_> = products.iter().map(|product| product.key.id()).collect();
    let market = Market::of(&vec![(loom, products)]).await;

    let mut lists: Vec<Vec<String>> = Vec::new();
    for path in [
        "/v1/search?q=linen+shirt",
        "/v1/search?q=linen+shirt&mode=lexical",
        "/v1/search?q=linen+shirt&mode=semantic",
        "/v1/search?q=linen+shirt&in_stock=true",
        "/v1/search",
    ] {
        let answer: SearchAnswer<'static> = market.get(path).await.read();
        lists.push(answer.data.into_iter().map(|card| card.title.into_owned()).collect());
    }
    for path in [
        "/v1/browse?brand=loom",
        "/v1/brands/loom/products",
        "/v1/browse?brand=loom&in_stock=true",
    ] {
        let answer: BrowseAnswer<'static> = market.get(path).await.read();
        lists.push(
            answer
                .data
                .items
                .into_iter()
                .map(|card| card.title.into_owned())
                .collect(),
        );
    }
    let answer: SuggestAnswer<'static> = market.get("/v1/suggest?q=linen").await.read();
    lists.push(
        answer
            .data
            .products
            .into_iter()
            .map(|card| card.title.into_owned())
            .collect(),
    );
    for mut list in lists {
        list.sort_unstable();
        assert_eq!(list, ["Linen Shirt", "Linen Shirt Slim"]);
    }
    for intent in ["related", "same_brand", "cheaper"] {
        let path = format!("/v1/recommend?product_id={}&intent={intent}", ids[0]);
        let answer: RecommendAnswer<'static> = market.get(&path).await.read();
        assert!(
            answer.data.iter().all(|card| card.title == "Linen Shirt Slim"),
            "{:?}",
            answer.data
        );
    }
    for (id, (title, kind)) in ids.iter().zip(titles) {
        let answer: ProductAnswer<'static> = market.get(&format!("/v1/products/{id}")).await.read();
        assert_eq!((answer.data.title.as_ref(), answer.data.kind.as_ref()), (title, kind));
    }
}

/// Creates a market with one product of each kind, all of one brand.
async fn one_of_each() -> Market {
    let loom = brand("Loom", "INR");
    let products = (1..).zip(TITLES);
    let products = products.map(|(id, title)| product(&loom, id, &title.replace('#', "one")));
    let products = products.collect();
    Market::of(&vec![(loom, products)]).await
}

#[tokio::test]
async fn lists_show_the_kinds_that_are_asked_for() {
    let market = one_of_each().await;
    let id = ids(&market, "/v1/search?q=shirt").await.remove(0);
    for list in [
        "/v1/search?q=linen".to_owned(),
        "/v1/search?q=linen&mode=lexical".to_owned(),
        "/v1/search?q=linen&mode=semantic".to_owned(),
        "/v1/search?q=linen&in_stock=true".to_owned(),
        "/v1/search?in_stock=true".to_owned(),
        "/v1/search?".to_owned(),
        "/v1/search?q=linen&brand=loom&sort=price_asc".to_owned(),
        "/v1/browse?brand=loom".to_owned(),
        "/v1/brands/loom/products?in_stock=true".to_owned(),
        format!("/v1/recommend?product_id={id}&intent=same_brand"),
    ] {
        let is_beside = list.starts_with("/v1/recommend");
        for (kinds, shown) in [
            ("kind=gift_card", &[1][..]),
            ("kind=fee&kind=service", &[2, 6]),
            ("kind=notice,test", &[4, 5]),
            ("kind=sample&kind=sample", &[3]),
            ("kind=all&kind=fee", &[0, 1, 2, 3, 4, 5, 6]),
            ("kind=goods,fee", &[0, 2]),
            ("kind=goods", &[0]),
            ("kind=", &[0]),
        ] {
            // The given product (index 0) is never among its own recommendations.
            let shown = shown.iter().filter(|at| !is_beside || **at > 0);
            let mut shown: Vec<_> = shown.map(|at| TITLES[*at].replace('#', "one")).collect();
            shown.sort_unstable();
            let mut titles = titles(&market, &format!("{list}&{kinds}")).await;
            titles.sort_unstable();
            assert_eq!(titles, shown, "{list}&{kinds}");
        }
    }
    // The recommended kind of product does not depend on the kind of the given product.
    let card = ids(&market, "/v1/search?kind=gift_card").await.remove(0);
    let beside = format!("/v1/recommend?product_id={card}&intent=same_brand");
    assert_eq!(titles(&market, &beside).await, ["Linen Shirt one"]);
}

#[tokio::test]
async fn a_kind_that_there_is_not_is_told_with_the_other_faults() {
    let market = one_of_each().await;
    for list in [
        "/v1/search?limit=0",
        "/v1/browse?brand=loom&limit=0",
        "/v1/brands/loom/products?limit=0",
        "/v1/recommend?product_id=3f2504e0-4f89-51d3-9a0c-0305e82c3301&limit=0",
    ] {
        let mut faults = faults(&market, &format!("{list}&kind=gold&kind=goods,Fee")).await;
        faults.sort_unstable_by_key(|(place, _)| place.to_string());
        let kind = || (json!(["query", "kind"]), json!("enum"));
        let limit = (json!(["query", "limit"]), json!("greater_than_equal"));
        assert_eq!(faults, [kind(), kind(), limit], "{list}");
    }
}

#[tokio::test]
async fn a_cursor_and_a_tag_are_those_of_the_kinds() {
    let market = one_of_each().await;
    let first = market.get("/v1/browse?brand=loom&kind=all&limit=3").await;
    let cursor = first.json()["data"]["next_cursor"].as_str().unwrap().to_owned();
    for (kinds, status) in [
        ("", 422),
        ("&kind=fee", 422),
        ("&kind=all", 200),
        ("&kind=goods,gift_card,service,fee,sample&kind=test,notice", 200),
    ] {
        let answered = market
            .get(&format!("/v1/browse?brand=loom&cursor={cursor}{kinds}"))
            .await;
        assert_eq!(answered.status, status, "{kinds}");
    }
    for list in ["/v1/search?q=linen", "/v1/browse?brand=loom"] {
        let goods = market.get(list).await.headers["etag"].clone();
        let known = async |path: String| {
            let request = Request::get(path).header("if-none-match", &goods);
            let request = request.body(axum::body::Body::empty()).unwrap();
            market.send(request).await.status == 304
        };
        assert!(known(format!("{list}&kind=goods")).await);
        assert!(!known(format!("{list}&kind=all")).await);
    }
    let answer = market.get("/v1/search?q=linen&kind=all").await.json();
    assert_eq!(answer["provenance"].get("ignored"), None);
}

#[tokio::test]
async fn what_is_for_adults_stays_hidden_whatever_its_kind() {
    let loom = brand("Loom", "INR");
    let erotic = |product: Product| Product {
        category: Some(CategoryId(773)),
        ..product
    };
    let products = vec![
        product(&loom, 1, "Linen Shirt"),
        product(&loom, 2, "Linen Gift Card"),
        erotic(product(&loom, 3, "Satin Gift Card")),
    ];
    let products = products.into_iter().chain((4..9).map(|id| Product {
        category: Some(CategoryId(212)),
        ..product(&loom, id, &format!("Cotton Shirt {id}"))
    }));
    let products = products.collect();
    let market = Market::of(&vec![(loom, products)]).await;
    assert_eq!(titles(&market, "/v1/search?kind=gift_card").await, ["Linen Gift Card"]);
    assert_eq!(
        titles(&market, "/v1/search?q=satin&kind=gift_card").await,
        ["Satin Gift Card"]
    );
}

#[tokio::test]
async fn what_programs_read_is_no_facet_and_filters() {
    let loom = brand("Loom", "INR");
    let products = (1..4).map(|id| {
        let mut product = product(&loom, id, &format!("Linen Shirt {id}"));
        product.tags = ["BADGE_BLACKFRIDAY", "Section:mens", "summer"]
            .map(str::to_owned)
            .to_vec();
        let names = ["BADGE_NEW", "Support pack (2 pack) – £54.99", "age_group", "Fit"];
        product.attributes = names
            .map(|name| Attribute {
                name: name.to_owned(),
                values: vec!["yes".to_owned()],
            })
            .to_vec();
        product
    });
    let products = products.collect();
    let market = Market::of(&vec![(loom, products)]).await;
    let shown = |facets: &[Facet<'_>]| -> Vec<(String, Vec<String>, u32)> {
        let told = facets.iter().filter(|facet| facet.name != "brand").map(|facet| {
            let values = facet.values.iter().map(|value| value.value.to_string());
            (facet.name.to_string(), values.collect(), facet.values_total)
        });
        told.collect()
    };
    let browsed: BrowseAnswer<'static> = market.get("/v1/browse?brand=loom").await.read();
    let searched: SearchAnswer<'static> = market.get("/v1/search?q=linen&facet_counts=true").await.read();
    for facets in [browsed.data.facets, searched.provenance.facets.unwrap()] {
        let named = |name: &str, value: &str| (name.to_owned(), vec![value.to_owned()], 1);
        assert_eq!(
            shown(&facets),
            [named("age_group", "yes"), named("fit", "yes"), named("tag", "summer")]
        );
    }
    // A caller who knows such a facet can filter by it, and then it is shown.
    let chosen = facets(&json!({ "tag": "badge_blackfriday", "badge_new": "yes" }));
    let browsed: BrowseAnswer<'static> = market
        .get(&format!("/v1/browse?brand=loom&facets={chosen}"))
        .await
        .read();
    assert_eq!(browsed.data.items.len(), 3);
    let shown = shown(&browsed.data.facets);
    assert!(shown.iter().any(|(name, ..)| name == "badge_new"), "{shown:?}");
    assert!(
        shown
            .iter()
            .any(|(_, values, _)| values.contains(&"badge_blackfriday".to_owned())),
        "{shown:?}"
    );
}

/// One title for each kind of product; the first is for goods.
const TITLES: [&str; 7] = [
    "Linen Shirt #",
    "Linen Gift Card #",
    "Linen # Delivery Fee",
    "Linen # Fabric Sample",
    "Please read: Linen #",
    "Linen # (do not buy)",
    "Linen # Repair Service",
];
const COLORS: [&str; 3] = ["navy", "white", "rose"];
/// Category ids of shirts, shoes and coffee.
const CATEGORIES: [u32; 3] = [212, 187, 1868];
const LISTS: [&str; 8] = [
    "/v1/browse?category=apparel-accessories",
    "/v1/browse?brand=loom",
    "/v1/browse?brand=reed&category=shirts-tops",
    "/v1/brands/loom/products?",
    "/v1/search?limit=40&facet_counts=true",
    "/v1/search?q=linen&limit=40&facet_counts=true",
    "/v1/search?q=linen&limit=40&facet_counts=true&mode=lexical",
    "/v1/search?limit=40&facet_counts=true&brand=loom",
];

#[derive(Debug, Clone)]
struct SampleProduct {
    title: usize,
    color: usize,
    category: usize,
    in_stock: bool,
    price: i64,
    of_loom: bool,
}

fn any_product() -> impl Strategy<Value = SampleProduct> {
    // About half of the products are goods.
    let title = prop_oneof![Just(0), 0..TITLES.len()];
    (title, 0..3_usize, 0..3_usize, any::<bool>(), 0..5_i64, any::<bool>()).prop_map(
        |(title, color, category, in_stock, price, of_loom)| SampleProduct {
            title,
            color,
            category,
            in_stock,
            price,
            of_loom,
        },
    )
}

fn any_list() -> impl Strategy<Value = (String, Value)> {
    let sort = prop::sample::select(vec!["relevance", "price_asc", "price_desc", "newest"]);
    let color = prop::option::weighted(0.3, prop::sample::select(COLORS.to_vec()));
    let most = prop::option::weighted(0.3, 100..400_i64);
    let list = (
        prop::sample::select(LISTS.to_vec()),
        sort,
        most,
        prop::bool::weighted(0.3),
    );
    (list, color).prop_map(|((list, sort, most, in_stock), color)| {
        let most = most.map(|most| format!("&price_max={most}")).unwrap_or_default();
        let path = format!("{list}&sort={sort}&in_stock={in_stock}{most}");
        (path, color.map_or(json!({}), |color| json!({ "color": color })))
    })
}

#[derive(Debug, PartialEq)]
struct WholeList {
    ids: Vec<String>,
    facets: Vec<Facet<'static>>,
}

async fn list(market: &Market, path: &str) -> WholeList {
    let told = |id: &dyn ToString| id.to_string();
    if path.starts_with("/v1/search") {
        let answer: SearchAnswer<'static> = market.get(path).await.read();
        return WholeList {
            ids: answer.data.iter().map(|card| told(&card.id)).collect(),
            facets: answer.provenance.facets.unwrap_or_default(),
        };
    }
    if path.starts_with("/v1/recommend") {
        let answer: RecommendAnswer<'static> = market.get(path).await.read();
        return WholeList {
            ids: answer.data.iter().map(|card| told(&card.id)).collect(),
            facets: Vec::new(),
        };
    }
    let cards = pages(market, path).await;
    WholeList {
        ids: cards.iter().map(|card| told(&card.id)).collect(),
        facets: page(market, path).await.facets,
    }
}

async fn ids(market: &Market, path: &str) -> Vec<String> {
    list(market, path).await.ids
}

async fn titles(market: &Market, path: &str) -> Vec<String> {
    let answer = market.get(path).await.json();
    let cards = answer["data"].as_array().or_else(|| answer["data"]["items"].as_array());
    let cards = cards.unwrap_or_else(|| panic!("{path}: {answer}")).iter();
    cards.map(|card| card["title"].as_str().unwrap().to_owned()).collect()
}

fn market_of(drawn: &[SampleProduct]) -> (Vec<Product>, Vec<(data_index::BrandFacts, Vec<Product>)>) {
    let brands = [brand("Loom", "INR"), brand("Reed", "INR")];
    let mut sold = [Vec::new(), Vec::new()];
    for (id, one) in (1..).zip(drawn) {
        let at = usize::from(!one.of_loom);
        let mut product = product(&brands[at], id, &TITLES[one.title].replace('#', &id.to_string()));
        product.category = Some(CategoryId(CATEGORIES[one.category]));
        product.variants[0].available = one.in_stock;
        product.variants[0].price_minor = one.price * 100;
        product.attributes = vec![Attribute {
            name: "color".to_owned(),
            values: vec![COLORS[one.color].to_owned()],
        }];
        sold[at].push(product);
    }
    (sold.concat(), brands.into_iter().zip(sold).collect())
}

async fn holds(drawn: &[SampleProduct], lists: &[(String, Value)]) -> Result<(), TestCaseError> {
    let (products, catalogue) = market_of(drawn);
    let market = Market::of(&catalogue).await;
    let of_kind = |kind: Kind| -> BTreeSet<String> {
        let products = products.iter().filter(|product| product.kind() == kind);
        products.map(|product| product.key.id().to_string()).collect()
    };
    let loom = products
        .iter()
        .find(|product| product.key.store.as_str().starts_with("loom"));
    let beside = loom.map(|product| {
        format!(
            "/v1/recommend?product_id={}&intent=same_brand&limit=50",
            product.key.id()
        )
    });
    let beside = beside.into_iter().map(|path| (path, json!({})));
    for (path, chosen) in lists.iter().cloned().chain(beside) {
        let asked = |kinds: &str, chosen: &Value| format!("{path}&facets={}{kinds}", facets(chosen));
        let all = list(&market, &asked("&kind=all", &chosen)).await;
        for (name, kind) in Kind::NAMED {
            let own = of_kind(kind);
            let expected: BTreeSet<_> = all.ids.iter().filter(|id| own.contains(*id)).cloned().collect();
            let shown = ids(&market, &asked(&format!("&kind={name}"), &chosen)).await;
            prop_assert_eq!(shown.len(), expected.len(), "{} {}", path, name);
            prop_assert_eq!(
                shown.into_iter().collect::<BTreeSet<_>>(),
                expected,
                "{} {}",
                path,
                name
            );
        }
        let goods = list(&market, &asked("&kind=goods", &chosen)).await;
        prop_assert_eq!(list(&market, &asked("", &chosen)).await, goods, "{}", path);
        for kinds in ["&kind=all", "&kind=gift_card&kind=fee", ""] {
            for facet in list(&market, &asked(kinds, &chosen)).await.facets {
                for value in &facet.values {
                    let mut clicked = chosen.clone();
                    clicked[&*facet.name] = (*value.value).into();
                    let shown = ids(&market, &asked(kinds, &clicked)).await;
                    prop_assert_eq!(shown.len(), value.count as usize, "{} {} {}", path, kinds, clicked);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn kinds_divide_every_list_and_counts_tell_what_a_click_answers(
        drawn in prop::collection::vec(any_product(), 3..30), lists in prop::collection::vec(any_list(), 4)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(holds(&drawn, &lists))?;
    }
}
