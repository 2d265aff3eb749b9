use data_index::BrandFacts;
use data_model::{Product, ProductId};
use query_server::schema::{SuggestAnswer, Suggestions};

use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market};

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn suggested(market: &Market, text: &str) -> Suggestions<'static> {
    let answer: SuggestAnswer<'static> = market.get(&format!("/v1/suggest?q={}", encoded(text))).await.read();
    answer.data
}

async fn titles(market: &Market, text: &str) -> Vec<String> {
    let found = suggested(market, text).await;
    found.products.into_iter().map(|card| card.title.into_owned()).collect()
}

async fn queries(market: &Market, text: &str) -> Vec<String> {
    let found = suggested(market, text).await;
    found.queries.into_iter().map(Into::into).collect()
}

async fn brands(market: &Market, text: &str) -> Vec<String> {
    let found = suggested(market, text).await;
    found.brands.into_iter().map(|brand| brand.name.into_owned()).collect()
}

async fn categories(market: &Market, text: &str) -> Vec<String> {
    let found = suggested(market, text).await;
    found
        .categories
        .into_iter()
        .map(|category| category.name.into_owned())
        .collect()
}

#[tokio::test]
async fn a_beginning_is_answered_with_all_kinds() {
    let market = Market::of(&small()).await;
    insta::assert_snapshot!(market.body("/v1/suggest?q=blu&limit=2").await, @r#"
{
  "data": {
    "queries": [
      "blue tokai"
    ],
    "products": [],
    "brands": [
      {
        "slug": "blue-tokai",
        "name": "Blue Tokai"
      }
    ],
    "categories": []
  },
  "provenance": {
    "release": "[release]"
  },
  "tier": "graph"
}
"#);
    let found = suggested(&market, "coff").await;
    assert_eq!(found.queries[0], "coffee");
    assert_eq!((found.products.len(), found.categories[0].slug.as_ref()), (4, "coffee"));
}

#[tokio::test]
async fn words_come_in_any_order_and_the_last_may_be_begun() {
    let market = Market::of(&small()).await;
    for text in [
        "vienna roast coffee",
        "coffee vie",
        "roast vienna",
        "roas vienna",
        "ROAST  Vienna!",
        "viénna",
    ] {
        assert_eq!(titles(&market, text).await, ["Vienna Roast Coffee"], "{text}");
    }
    // No title has both words, so only the word that is being typed counts.
    assert_eq!(titles(&market, "kettle shirt").await, ["Linen Shirt", "Cotton Shirt"]);
    assert_eq!(titles(&market, "kettle zzzz").await, [""; 0]);
    assert_eq!(titles(&market, "cafe apr").await, ["Café Apron — ग्रीन"]);
    assert_eq!(titles(&market, "ग्री").await, ["Café Apron — ग्रीन"]);
    // Products in stock and with ratings come first.
    assert_eq!(titles(&market, "coffee").await[0], "Vienna Roast Coffee");
    assert_eq!(titles(&market, "coffee").await.last().unwrap(), "Attikan Estate Coffee");
}

#[tokio::test]
async fn typing_errors_are_forgiven() {
    let market = Market::of(&small()).await;
    for (text, title) in [
        ("viena roast", "Vienna Roast Coffee"),
        ("vinena", "Vienna Roast Coffee"),
        ("vienna cofee", "Vienna Roast Coffee"),
        ("ketle drip", "Drip Coffee Kettle"),
        ("attikn esatte", "Attikan Estate Coffee"),
        ("lnien sh", "Linen Shirt"),
    ] {
        assert_eq!(titles(&market, text).await, [title], "{text}");
    }
    assert_eq!(queries(&market, "viena ro").await, ["vienna roast coffee"]);
    assert_eq!(brands(&market, "blue tkai").await, ["Blue Tokai"]);
    assert_eq!(brands(&market, "kisaten").await, ["Kissaten"]);
    assert_eq!(categories(&market, "cofee").await, ["Coffee"]);
    // Words of three letters are not corrected, and the first letter must be right.
    for text in ["vxe", "yienna", "1ienna"] {
        assert_eq!(titles(&market, text).await, [""; 0], "{text}");
    }
    // One edit is allowed up to seven letters, and two from eight letters on.
    assert_eq!(titles(&market, "vinnea").await, ["Vienna Roast Coffee"; 0]);
    // Known words are not corrected.
    assert_eq!(titles(&market, "shirt").await, ["Linen Shirt", "Cotton Shirt"]);
}

#[tokio::test]
async fn brands_and_categories_are_found_by_any_word_of_their_names() {
    let market = Market::of(&small()).await;
    assert_eq!(brands(&market, "tok").await, ["Blue Tokai"]);
    assert_eq!(brands(&market, "loom thr").await, ["Loom & Thread"]);
    assert_eq!(brands(&market, "LOOM & t").await, ["Loom & Thread"]);
    assert_eq!(categories(&market, "tops").await, ["Shirts & Tops"]);
    assert_eq!(
        categories(&market, "beve").await,
        ["Food, Beverages & Tobacco", "Beverages"]
    );
    let slugs = suggested(&market, "coffee").await.categories;
    assert_eq!(slugs[0].slug, "coffee");
}

#[tokio::test]
async fn without_text_what_is_popular_is_suggested_and_for_punctuation_nothing() {
    let market = Market::of(&small()).await;
    for text in ["", "  "] {
        let popular = suggested(&market, text).await;
        assert_eq!(popular.queries[..2], ["coffee", "blue tokai"]);
        assert_eq!(popular.products[0].title, "Vienna Roast Coffee");
        assert_eq!(popular.brands[0].name, "Blue Tokai");
        assert_eq!(popular.brands.len(), 3);
        assert_eq!(popular.categories.len(), 6);
    }
    for text in ["!!!", "—", "\u{0}\u{7}", "💥🔥", "\u{202e}", "\"'\\", "&"] {
        let nothing = Suggestions {
            queries: Vec::new(),
            products: Vec::new(),
            brands: Vec::new(),
            categories: Vec::new(),
        };
        assert_eq!(suggested(&market, text).await, nothing, "{text:?}");
    }
}

fn titled(facts: &BrandFacts, titles: &[&str]) -> Vec<Product> {
    (1..).zip(titles).map(|(id, title)| product(facts, id, title)).collect()
}

#[tokio::test]
async fn what_titles_hold_is_no_brand_mistyped() {
    let (tokai, other) = (brand("Tokai", "INR"), brand("Second House", "INR"));
    let catalogue: Catalogue = vec![
        (tokai.clone(), titled(&tokai, &["Estate Coffee"])),
        (other.clone(), titled(&other, &["Tokay Grape Juice"])),
    ];
    let market = Market::of(&catalogue).await;
    assert_eq!(brands(&market, "tokay").await, [""; 0]);
    assert_eq!(titles(&market, "tokay").await, ["Tokay Grape Juice"]);
    assert_eq!(brands(&market, "tokei").await, ["Tokai"]);
}

#[tokio::test]
async fn queries_are_phrases_of_the_catalogue_and_no_junk() {
    let (one, other) = (brand("First House", "INR"), brand("Second House", "INR"));
    let catalogue: Catalogue = vec![
        (
            one.clone(),
            titled(
                &one,
                &[
                    "Silk Saree Red",
                    "SILK Saree",
                    "Silk saree with Blouse",
                    "Saree of the Year 2024",
                ],
            ),
        ),
        (
            other.clone(),
            titled(&other, &["silk scarf", "Silk Saree SKU-99812", "T-Shirt for Men", "42"]),
        ),
    ];
    let market = Market::of(&catalogue).await;
    // Phrases are ordered by frequency in the whole release. No two phrases differ only by case, and no phrase starts
    // or ends with a code or a grammatical word.
    assert_eq!(
        queries(&market, "sil").await,
        ["silk", "silk saree", "silk scarf", "silk saree red"]
    );
    assert_eq!(queries(&market, "t-sh").await, ["t-shirt"]);
    assert_eq!(queries(&market, "silk saree w").await, [""; 0]);
    // Phrases that start with the text come before phrases in which a later word does.
    assert_eq!(
        queries(&market, "sa").await[..3],
        ["saree", "saree with blouse", "silk saree"]
    );
    for text in ["sku", "99", "42", "20", "with", "of"] {
        assert_eq!(queries(&market, text).await, [""; 0], "{text}");
    }
    assert_eq!(queries(&market, "house").await, ["first house", "second house"]);
}

#[tokio::test]
async fn each_list_holds_at_most_the_limit() {
    let market = Market::of(&small()).await;
    for (limit, most) in [("", 8), ("&limit=1", 1), ("&limit=20", 20)] {
        for text in ["", "c", "co"] {
            let answer: SuggestAnswer<'static> = market.get(&format!("/v1/suggest?q={text}{limit}")).await.read();
            let data = answer.data;
            let lengths = [
                data.queries.len(),
                data.products.len(),
                data.brands.len(),
                data.categories.len(),
            ];
            assert!(
                lengths.iter().all(|length| *length <= most),
                "{text} {limit}: {lengths:?}"
            );
            assert!(
                text == "co" || lengths.iter().max() >= Some(&most.min(8)),
                "{text} {limit}: {lengths:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_was_replaced_is_not_suggested() {
    let (kept, gone) = (brand("Kept House", "INR"), brand("Gone House", "INR"));
    let kept_products = titled(&kept, &["Silk Saree", "Silk Scarf", "Cotton Scarf", "Cotton Saree"]);
    let market = Market::of(&vec![
        (gone.clone(), titled(&gone, &["Silk Turban", "Wool Turban"])),
        (kept.clone(), kept_products.clone()),
    ])
    .await;
    assert_eq!(queries(&market, "turb").await[0], "turban");
    market.publish(&vec![(kept, kept_products)]).await;
    market.server.refresh().await.unwrap();
    let found = suggested(&market, "turb").await;
    assert_eq!((found.queries.len(), found.products.len()), (0, 0));
    assert_eq!(brands(&market, "gone").await, [""; 0]);
}

#[tokio::test]
async fn faulty_requests_name_every_fault() {
    let market = Market::of(&small()).await;
    let answered = market.get("/v1/suggest?limit=21").await;
    assert_eq!(answered.status, 422);
    insta::assert_snapshot!(answered.pretty(), @r#"
{
  "detail": [
    {
      "type": "missing",
      "loc": [
        "query",
        "q"
      ],
      "msg": "Field required",
      "input": null
    },
    {
      "type": "less_than_equal",
      "loc": [
        "query",
        "limit"
      ],
      "msg": "Input should be less than or equal to 20",
      "input": "21",
      "ctx": {
        "le": 20
      }
    }
  ],
  "code": "validation",
  "request_id": "test"
}
"#);
    for query in ["q=a&limit=0", "q=a&limit=x", "q=%FF", &format!("q={}", "a".repeat(513))] {
        assert_eq!(market.get(&format!("/v1/suggest?{query}")).await.status, 422, "{query}");
    }
    assert_eq!(
        market.get(&format!("/v1/suggest?q={}", "a".repeat(512))).await.status,
        200
    );
    assert_eq!(Market::empty().get("/v1/suggest?q=a").await.status, 503);
}

#[tokio::test]
async fn hostile_text_is_answered() {
    let market = Market::of(&small()).await;
    let many: Vec<String> = (0..60).map(|at| format!("word{at}")).collect();
    for text in [
        many.join(" "),
        "coffee ".repeat(70),
        "क़".repeat(170),
        "مرحبا شاي أخضر".to_owned(),
        "a".repeat(512),
        "e\u{301}".repeat(250),
        "\u{1d11e}\u{10ffff} coffee \u{0} \u{7f}".to_owned(),
        "<script>alert(1)</script>".to_owned(),
        "' OR 1=1 --".to_owned(),
        "ß ﬁ ǅ İ".to_owned(),
        "x ".repeat(256),
    ] {
        let text: String = text.chars().take(512).collect();
        suggested(&market, &text).await;
    }
    assert_eq!(titles(&market, &"coffee ".repeat(70)).await[0], "Vienna Roast Coffee");
}

#[tokio::test]
async fn what_nothing_holds_as_it_was_typed_is_read_in_one_word_in_two_and_without_its_first() {
    let facts = brand("Any Shop", "INR");
    let products: Vec<Product> = (1..)
        .zip(["Air Fryer", "Crewneck Sweater", "Canvas Wallet"])
        .map(|(id, title)| product(&facts, id, title))
        .collect();
    let market = Market::of(&vec![(facts, products)]).await;
    for (text, title) in [
        ("airfr", "Air Fryer"),
        ("crew ne", "Crewneck Sweater"),
        ("leather wal", "Canvas Wallet"),
    ] {
        assert_eq!(titles(&market, text).await, [title], "{text}");
    }
    assert_eq!(suggested(&market, "zzzzzzzz").await, suggested(&market, "!").await);
}

#[tokio::test]
async fn products_alike_in_quality_are_suggested_by_id() {
    let facts = brand("Trunks", "INR");
    let products = (1..=40)
        .map(|id| product(&facts, id, &format!("Cabin Trolley {id}")))
        .collect();
    let market = Market::of(&vec![(facts, products)]).await;
    let ids = async |limit: usize| -> Vec<ProductId> {
        let path = format!("/v1/suggest?q=cabin&limit={limit}");
        let found: SuggestAnswer<'static> = market.get(&path).await.read();
        found.data.products.into_iter().map(|card| card.id).collect()
    };
    let all = ids(20).await;
    assert!(all.is_sorted(), "{all:?}");
    assert_eq!(ids(3).await, all[..3]);
}

#[tokio::test]
async fn a_category_of_a_near_name_does_not_stand_in_for_products() {
    let boxes = data_index::taxonomy::all()
        .iter()
        .find(|category| category.name == "Lunch Boxes & Totes");
    let facts = brand("Tiffin", "INR");
    let mut steel = product(&facts, 1, "Steel Lunch Box");
    steel.category = boxes.map(|category| category.id);
    let market = Market::of(&vec![(facts, vec![steel])]).await;
    assert_eq!(categories(&market, "lunchbox").await, ["Lunch Boxes & Totes"]);
    assert_eq!(titles(&market, "lunchbox").await, ["Steel Lunch Box"]);
}
