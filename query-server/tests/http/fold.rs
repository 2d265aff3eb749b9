use data_model::{Attribute, CategoryId, Product};
use query_server::schema::{BrowseAnswer, ProductCard, SearchAnswer};

use crate::support::{Catalogue, Market};

/// Returns a shirt in four colours among other shirts, the same shirt of another brand, and teas whose titles also
/// differ by colours.
fn catalogue() -> Catalogue {
    let (linen, other) = (
        kit::facts(kit::brand("Linen House")),
        kit::facts(kit::brand("Other House")),
    );
    let shirt = |facts: &data_index::BrandFacts, id: u64, title: &str| Product {
        category: Some(CategoryId(212)),
        variants: vec![kit::variant(id * 10, 1_000 * i64::try_from(id).unwrap())],
        ..kit::product(&facts.brand, id, title)
    };
    let tea = |id: u64, title: &str| Product {
        category: Some(CategoryId(2073)),
        ..kit::product(&linen.brand, id, title)
    };
    let mut of_linen: Vec<Product> = [
        (1, "Oxford Shirt - Navy Blue"),
        (2, "Oxford Shirt - White"),
        (3, "Oxford Shirt (Black)"),
        (4, "Oxford Shirt in Aubergine Dream"),
        (5, "Oxford Shirt - Light Blue"),
        (6, "Striped Shirt - Black"),
        (7, "Camp Shirt"),
    ]
    .map(|(id, title)| shirt(&linen, id, title))
    .into();
    of_linen[2].variants[0].available = false;
    // The word is no common colour, but the store lists it as one.
    of_linen[3].title = "Oxford Shirt - Aubergine Dream".to_owned();
    of_linen[3].attributes.push(Attribute {
        name: "color".to_owned(),
        values: vec!["Aubergine Dream".to_owned()],
    });
    of_linen.extend([tea(20, "Green Tea"), tea(21, "Black Tea")]);
    let of_other = vec![shirt(&other, 1, "Oxford Shirt - Red")];
    vec![(linen, of_linen), (other, of_other)]
}

fn told<'a>(cards: &'a [ProductCard<'_>]) -> Vec<(&'a str, Vec<&'a str>)> {
    cards
        .iter()
        .map(|card| {
            let swatches = card.swatches.as_deref().unwrap();
            (
                card.title.as_ref(),
                swatches.iter().map(|swatch| swatch.color.as_ref()).collect(),
            )
        })
        .collect()
}

const COLORS: [&str; 5] = ["Aubergine Dream", "Black", "Light Blue", "Navy Blue", "White"];

#[tokio::test]
async fn siblings_in_other_colours_are_one_card_with_swatches() {
    let market = Market::of(&catalogue()).await;
    let path = "/v1/browse?brand=linen-house&category=shirts-tops&sort=price_asc&fold=color";
    let page: BrowseAnswer<'static> = market.get(path).await.read();
    let expected = [
        ("Oxford Shirt - Navy Blue", COLORS.to_vec()),
        ("Striped Shirt - Black", vec![]),
        ("Camp Shirt", vec![]),
    ];
    assert_eq!(told(&page.data.items), expected);
    let swatches = page.data.items[0].swatches.as_deref().unwrap();
    assert_eq!(swatches.iter().filter(|swatch| !swatch.in_stock).count(), 1);
    assert!(swatches.iter().any(|swatch| swatch.id == page.data.items[0].id));
    // The first product in sort order represents all its siblings.
    let page: BrowseAnswer<'static> = market.get(&path.replace("price_asc", "price_desc")).await.read();
    assert_eq!(
        told(&page.data.items)[2],
        ("Oxford Shirt - Light Blue", COLORS.to_vec())
    );
    let plain: BrowseAnswer<'static> = market.get(&path.replace("&fold=color", "")).await.read();
    assert_eq!(plain.data.items.len(), 7);
    assert!(plain.data.items.iter().all(|card| card.swatches.is_none()));
    // Counts are numbers of products, not of cards.
    assert_eq!(plain.data.facets, page.data.facets);
}

#[tokio::test]
async fn folded_pages_go_on_where_the_last_ended() {
    let market = Market::of(&catalogue()).await;
    for sort in ["relevance", "price_asc", "newest"] {
        let path = format!("/v1/brands/linen-house/products?fold=color&sort={sort}");
        let whole: BrowseAnswer<'static> = market.get(&path).await.read();
        assert_eq!(whole.data.items.len(), 5, "{sort}");
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page: BrowseAnswer<'static> = market.get(&format!("{path}&limit=2{cursor}")).await.read();
            paged.extend(page.data.items);
            let Some(next) = page.data.next_cursor else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(paged, whole.data.items, "{sort}");
        let unfolded = path.replace("color", "none");
        assert_eq!(market.get(&format!("{unfolded}{cursor}")).await.status, 422);
    }
}

#[tokio::test]
async fn a_search_folds_and_fills_its_page() {
    let market = Market::of(&catalogue()).await;
    for mode in ["hybrid", "lexical"] {
        let path = format!("/v1/search?q=oxford+shirt&mode={mode}&fold=color");
        let found: SearchAnswer<'static> = market.get(&path).await.read();
        let told = told(&found.data);
        let oxford: Vec<_> = told.iter().filter(|(title, _)| title.starts_with("Oxford")).collect();
        assert_eq!(oxford.len(), 2, "{mode}: one for each brand: {told:?}");
        let one: SearchAnswer<'static> = market.get(&format!("{path}&limit=2")).await.read();
        assert_eq!(one.data[..], found.data[..2], "{mode}");
        assert!(one.provenance.more, "{mode}");
    }
    // Products are not folded if the colour word names a kind of product.
    let found: SearchAnswer<'static> = market.get("/v1/search?q=tea&fold=color&mode=lexical").await.read();
    assert_eq!(found.data.len(), 2);
    let odd = market.get("/v1/search?q=tea&fold=size").await;
    assert_eq!(odd.json()["detail"][0]["loc"], serde_json::json!(["query", "fold"]));
}

#[tokio::test]
async fn a_search_says_whether_there_is_more() {
    let facts = kit::facts(kit::brand("Mugs"));
    let products: Vec<Product> = (1..=45)
        .map(|id| kit::product(&facts.brand, id, &format!("Mug {id}")))
        .collect();
    let market = Market::of(&vec![(facts, products)]).await;
    for mode in ["hybrid", "lexical", "semantic"] {
        for (limit, more) in [(1, true), (20, true), (40, true)] {
            let found: SearchAnswer<'static> = market
                .get(&format!("/v1/search?q=mug&mode={mode}&limit={limit}"))
                .await
                .read();
            assert_eq!(
                (found.data.len(), found.provenance.more),
                (limit, more),
                "{mode} {limit}"
            );
        }
        let found: SearchAnswer<'static> = market
            .get(&format!("/v1/search?q=mug+45&mode={mode}&in_stock=true&price_max=1"))
            .await
            .read();
        assert!(!found.provenance.more, "{mode}");
    }
    let found: SearchAnswer<'static> = market.get("/v1/search?limit=40").await.read();
    assert!(found.provenance.more);
}
