use query_server::schema::SearchAnswer;

use crate::catalogue::{brand, product, small};
use crate::support::Market;

#[tokio::test]
async fn a_search_answers_ranked_cards() {
    let market = Market::of(&small()).await;
    insta::assert_snapshot!(market.body("/v1/search?q=vienna+coffee&limit=2").await, @r#"
        {
          "data": [
            {
              "id": "3184d755-3f80-5149-ac36-3f630b93c84d",
              "product_uid": "sha:4ad5da2baf81d11491511f8e7abbafcb4a73b4d3",
              "title": "Vienna Roast Coffee",
              "brand": "Blue Tokai",
              "brand_slug": "blue-tokai",
              "price_min_minor": 49900,
              "compare_at_minor": 59900,
              "discount_pct": 17,
              "currency": "INR",
              "in_stock": true,
              "variants_complete": true,
              "rating": 4.7,
              "image": "https://cdn.example/vienna.jpg"
            },
            {
              "id": "ecf5f0c3-8b6e-58cb-b786-219243714cce",
              "product_uid": "sha:405704c62b06b8a6ab4dfe19a0d19d4d36fb8192",
              "title": "Coffee Gift Crate",
              "brand": "Blue Tokai",
              "brand_slug": "blue-tokai",
              "price_min_minor": 100000,
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
            "engine": "hybrid",
            "requested_mode": "hybrid",
            "relaxed": "all_but_one",
            "more": true,
            "understood": [],
            "corrections": [],
            "degraded": null,
            "synonyms": []
          },
          "tier": "graph"
        }
        "#);
}

#[tokio::test]
async fn products_with_every_word_stand_before_those_with_some() {
    let market = Market::of(&small()).await;
    let answer: SearchAnswer<'static> = market.get("/v1/search?q=cold+brew+coffee&mode=lexical").await.read();
    assert_eq!(answer.data[0].title, "Cold Brew Bags");
    assert!(answer.data.len() > 1);
    assert_eq!(
        (
            answer.provenance.relaxed.as_ref(),
            answer.provenance.requested_mode.as_ref()
        ),
        ("any_term", "lexical")
    );
    let strict: SearchAnswer<'static> = market.get("/v1/search?q=cold+brew+coffee&limit=1").await.read();
    assert_eq!(strict.provenance.relaxed, "none");
}

#[tokio::test]
async fn a_word_that_the_catalogue_lacks_is_let_go() {
    let market = Market::of(&small()).await;
    let answer: SearchAnswer<'static> = market.get("/v1/search?q=zyxwvut+linen+shirt").await.read();
    assert_eq!(answer.data[0].title, "Linen Shirt");
    assert_eq!(answer.provenance.relaxed, "any_term");
    assert!(market.titles("q=zyxwvut").await.is_empty());
    assert!(market.titles("q=%21%21%21").await.is_empty());
}

#[tokio::test]
async fn a_word_that_no_product_holds_is_mended_and_told() {
    let market = Market::of(&small()).await;
    for (typed, expected, first) in [
        ("cofee+gift", vec![("cofee", "coffee")], "Coffee Gift Crate"),
        ("attikna+estate", vec![("attikna", "attikan")], "Attikan Estate Coffee"),
        // Many words are similar to a four-letter word, so only a common word replaces it.
        ("papr+fil+ter", vec![("fil ter", "filter")], "Paper Filter 100 pcs"),
    ] {
        let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={typed}")).await.read();
        assert_eq!(answer.data[0].title, first, "{typed}");
        let corrections: Vec<_> = answer
            .provenance
            .corrections
            .into_iter()
            .map(|one| (one.from, one.to))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(from, to)| ((*from).into(), (*to).into()))
            .collect();
        assert_eq!(corrections, expected, "{typed}");
    }
    // Known words, short words and codes are not corrected.
    for typed in ["coffee", "cfe", "VR-2500", "shirt"] {
        let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={typed}")).await.read();
        assert!(answer.provenance.corrections.is_empty(), "{typed}");
    }
}

#[tokio::test]
async fn the_product_whose_sku_or_handle_is_the_query_stands_first() {
    let market = Market::of(&small()).await;
    assert_eq!(market.titles("q=VR-250&limit=1").await, ["Vienna Roast Coffee"]);
    assert_eq!(market.titles("q=vr250&limit=1").await, ["Vienna Roast Coffee"]);
    assert_eq!(
        market.titles("q=coffee-gift-crate&limit=1").await,
        ["Coffee Gift Crate"]
    );
}

#[tokio::test]
async fn a_brand_a_category_and_words_without_accents_are_found() {
    let market = Market::of(&small()).await;
    let mut of_brand = market.titles("q=kissaten").await;
    of_brand.sort_unstable();
    assert_eq!(of_brand, ["Drip Coffee Kettle", "Paper Filter 100 pcs"]);
    assert_eq!(market.titles("q=shirts").await.len(), 3);
    assert_eq!(market.titles("q=cafe+apron&limit=1").await, ["Café Apron — ग्रीन"]);
    assert_eq!(
        market.titles("q=%E0%A4%97%E0%A5%8D%E0%A4%B0%E0%A5%80%E0%A4%A8").await,
        ["Café Apron — ग्रीन"]
    );
}

#[tokio::test]
async fn without_a_query_the_most_presentable_products_are_answered() {
    let market = Market::of(&small()).await;
    let titles = market.titles("").await;
    assert_eq!((titles.len(), titles[0].as_str()), (9, "Vienna Roast Coffee"));
    assert_eq!(titles.last().unwrap(), "Attikan Estate Coffee");
    assert_eq!(market.titles("q=++&limit=9").await, titles);
}

#[tokio::test]
async fn filters_narrow_and_combine() {
    let market = Market::of(&small()).await;
    assert_eq!(
        market.titles("q=coffee&in_stock=yes&brand=blue-tokai").await,
        ["Vienna Roast Coffee", "Coffee Gift Crate", "Cold Brew Bags"]
    );
    assert_eq!(
        market.titles("on_sale=1&sort=price_asc").await,
        ["Vienna Roast Coffee", "Linen Shirt"]
    );
    assert_eq!(
        market.titles("price_min=55000&price_max=60000&sort=price_asc").await,
        ["Attikan Estate Coffee", "Cold Brew Bags"]
    );
    assert_eq!(market.titles("brand=no-such-brand").await.len(), 0);
    assert_eq!(market.titles("brand=No%20Slug!").await.len(), 0);
    assert_eq!(market.titles("cursor=whatever&unknown=1&limit=9").await.len(), 9);
}

#[tokio::test]
async fn facets_match_any_of_a_names_values_and_all_of_the_names() {
    let market = Market::of(&small()).await;
    let facets = |json: &str| format!("sort=price_asc&facets={}", json.replace('"', "%22").replace(' ', "%20"));
    assert_eq!(
        market.titles(&facets(r#"{"color":["navy","WHITE"]}"#)).await,
        ["Cotton Shirt", "Linen Shirt"]
    );
    assert_eq!(
        market
            .titles(&facets(r#"{"color":"navy","category":"shirts-tops"}"#))
            .await,
        ["Linen Shirt"]
    );
    assert_eq!(
        market.titles(&facets(r#"{"category":1868,"tag":"dark"}"#)).await,
        ["Vienna Roast Coffee"]
    );
    assert_eq!(
        market.titles(&facets(r#"{"weight":"1 KG"}"#)).await,
        ["Vienna Roast Coffee"]
    );
    assert_eq!(market.titles(&facets(r#"{"no-such":true}"#)).await.len(), 0);
    assert_eq!(market.titles(&facets(r#"{"color":[]}"#)).await.len(), 0);
    assert_eq!(market.titles("facets=%7B%7D").await.len(), 9);
    // Numbers are compared by value.
    for written in ["1868", "1868.0", "1.868e3"] {
        assert_eq!(
            market
                .titles(&facets(&format!(r#"{{"category":{written}}}"#)))
                .await
                .len(),
            4,
            "{written}"
        );
    }
}

#[tokio::test]
async fn orders_are_total_and_prices_of_other_currencies_stand_behind() {
    let market = Market::of(&small()).await;
    let rupees = market.titles("sort=price_desc").await;
    assert_eq!(rupees.len(), 9);
    assert_eq!(rupees[..2], ["Linen Shirt", "Cotton Shirt"]);
    assert_eq!(
        market.titles("sort=price_asc&currency=jpy").await[..2],
        ["Drip Coffee Kettle", "Paper Filter 100 pcs"]
    );
    assert_eq!(
        market.titles("sort=rating&limit=3").await,
        ["Cotton Shirt", "Vienna Roast Coffee", "Linen Shirt"]
    );
    assert_eq!(
        market.titles("sort=newest&limit=2").await,
        ["Cold Brew Bags", "Vienna Roast Coffee"]
    );
    // Sorting by price does not put weaker matches before better ones.
    assert_eq!(
        market.titles("q=vienna+coffee&sort=price_asc").await,
        ["Vienna Roast Coffee"]
    );
}

#[tokio::test]
async fn a_page_is_full_under_any_filter_and_the_same_however_parts_are_cut() {
    // A simple scan computes the expected result for hundreds of equal texts, of which a filter keeps a few.
    let facts = brand("Many Things", "INR");
    let products: Vec<_> = (1..=300)
        .map(|id| {
            let mut product = product(&facts, id, &format!("Blue Mug {}", id % 7));
            product.variants[0].price_minor = i64::try_from(id * 7919 % 500).unwrap();
            product.variants[0].available = id % 50 == 0;
            product
        })
        .collect();
    let mut wanted: Vec<_> = products.iter().filter(|one| one.variants[0].available).collect();
    wanted.sort_by_key(|one| (one.variants[0].price_minor, one.key.id()));
    let wanted: Vec<_> = wanted.iter().map(|one| one.key.id()).collect();
    let market = Market::of(&vec![(facts, products)]).await;
    for query in [
        "q=blue+mug&in_stock=true&sort=price_asc",
        "in_stock=true&sort=price_asc",
    ] {
        let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?{query}")).await.read();
        assert_eq!(
            answer.data.iter().map(|card| card.id).collect::<Vec<_>>(),
            wanted,
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_very_long_query_of_common_words_is_answered() {
    let market = Market::of(&small()).await;
    let words = "coffee+roast+shirt+kettle+".repeat(30);
    assert!(!market.titles(&format!("q={}", &words[..500])).await.is_empty());
}

/// Returns three brands. One sells packs under the SKU of a single item. The name of another occurs in products of
/// other brands.
fn outlets() -> crate::support::Catalogue {
    let (care, shoes, outlet) = (
        brand("Care", "INR"),
        brand("Shoe Box", "INR"),
        brand("Stock Outlet", "INR"),
    );
    let coded = |facts, id, title: &str, sku: Option<&str>, rating| {
        let mut product = product(facts, id, title);
        product.handle = format!("p{id}");
        product.variants[0].sku = sku.map(str::to_owned);
        product.rating = Some(data_model::Rating {
            average: rating,
            count: 500,
        });
        product
    };
    let mut handled = coded(&shoes, 22, "Running Shoe for Asics GEL-NYC fans", None, 4.9);
    handled.handle = "asics-gel-nyc".to_owned();
    vec![
        (
            care.clone(),
            vec![
                coded(&care, 11, "Face Mask Pack of 3", Some("face-mask"), 4.9),
                coded(&care, 12, "Face Mask", None, 2.0),
                coded(&care, 13, "Face Mask", Some("FACE-MASK"), 2.0),
                coded(&care, 14, "Five Masks", Some("face-mask"), 4.8),
                coded(&care, 15, "Another Face Mask", None, 5.0),
                coded(&care, 16, "Face Mask", None, 4.5),
            ],
        ),
        (
            shoes.clone(),
            vec![
                coded(&shoes, 21, "ASICS GEL-NYC", None, 3.0),
                handled,
                coded(&shoes, 23, "Stock Outlet Stock Outlet Sticker", None, 5.0),
            ],
        ),
        (
            outlet.clone(),
            vec![
                coded(&outlet, 31, "Plain Chair", None, 3.1),
                coded(&outlet, 32, "Rug", None, 3.0),
            ],
        ),
    ]
}

#[tokio::test]
async fn a_whole_title_stands_before_a_code_and_both_before_the_rest() {
    let market = Market::of(&outlets()).await;
    let answer: SearchAnswer<'static> = market.get("/v1/search?q=face+mask").await.read();
    let found: Vec<_> = answer
        .data
        .iter()
        .map(|card| (card.title.as_ref(), card.rating))
        .collect();
    assert_eq!(
        found,
        [
            ("Face Mask", Some(2.0)), // title and code
            ("Face Mask", Some(4.5)), // title, the better one first
            ("Face Mask", Some(2.0)),
            ("Face Mask Pack of 3", Some(4.9)), // code
            ("Five Masks", Some(4.8)),
            ("Another Face Mask", Some(5.0)),
        ]
    );
    assert_eq!(
        market.titles("q=ASICS+GEL-NYC").await,
        ["ASICS GEL-NYC", "Running Shoe for Asics GEL-NYC fans"]
    );
    // Results in an order other than relevance keep that order.
    let answer: SearchAnswer<'static> = market.get("/v1/search?q=face+mask&sort=rating").await.read();
    let ratings: Vec<_> = answer.data.iter().map(|card| card.rating.unwrap()).collect();
    assert_eq!(ratings, [5.0, 4.9, 4.8, 4.5, 2.0, 2.0]);
}

#[tokio::test]
async fn the_name_of_a_brand_leads_with_its_products() {
    let market = Market::of(&outlets()).await;
    for query in ["q=Stock+Outlet", "q=stock-outlet"] {
        assert_eq!(
            market.titles(query).await,
            ["Plain Chair", "Rug", "Stock Outlet Stock Outlet Sticker"],
            "{query}"
        );
    }
    // A brand name with additional words is searched as words.
    assert_eq!(
        market.titles("q=stock+outlet+sticker&limit=1").await,
        ["Stock Outlet Stock Outlet Sticker"]
    );
}

#[tokio::test]
async fn an_unfinished_last_word_stands_for_the_words_that_begin_so() {
    let market = Market::of(&small()).await;
    for (typed, titles) in [
        ("shir", vec!["Café Apron — ग्रीन", "Cotton Shirt", "Linen Shirt"]),
        ("zyxwvut+shir", vec!["Café Apron — ग्रीन", "Cotton Shirt", "Linen Shirt"]),
        ("ket", vec!["Drip Coffee Kettle"]),
        (
            "blu",
            vec![
                "Vienna Roast Coffee",
                "Attikan Estate Coffee",
                "Coffee Gift Crate",
                "Cold Brew Bags",
            ],
        ),
    ] {
        let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={typed}")).await.read();
        let mut found: Vec<_> = answer.data.iter().map(|card| card.title.as_ref()).collect();
        let mut titles = titles;
        found.sort_unstable();
        titles.sort_unstable();
        assert_eq!(found, titles, "{typed}");
        assert_eq!(answer.provenance.relaxed, "prefix", "{typed}");
        assert!(answer.provenance.corrections.is_empty(), "{typed}");
    }
    assert_eq!(market.titles("q=shir&sort=price_desc&limit=1").await, ["Linen Shirt"]);
    assert_eq!(market.titles("q=shir&brand=blue-tokai").await.len(), 0);
    // Words of fewer than three letters are searched only if the query has no others.
    let short: SearchAnswer<'static> = market.get("/v1/search?q=sh").await.read();
    assert_eq!((short.data.len(), short.provenance.relaxed.as_ref()), (3, "prefix"));
    for typed in ["zyxwvut+sh", "shi+zyxwvut", "shir9"] {
        let answer: SearchAnswer<'static> = market.get(&format!("/v1/search?q={typed}")).await.read();
        assert_eq!(
            (answer.data.len(), answer.provenance.relaxed.as_ref()),
            (0, "none"),
            "{typed}"
        );
    }
    let known: SearchAnswer<'static> = market.get("/v1/search?q=linen+shir").await.read();
    assert_eq!(
        (known.data[0].title.as_ref(), known.provenance.relaxed.as_ref()),
        ("Linen Shirt", "prefix")
    );
}

#[tokio::test]
async fn lexical_looks_for_the_words_as_typed() {
    let market = Market::of(&small()).await;
    for typed in ["cofee", "shir", "papr+filtr", "cofee+gift"] {
        let path = format!("/v1/search?q={typed}");
        let loose: SearchAnswer<'static> = market.get(&path).await.read();
        assert!(!loose.data.is_empty(), "{typed}");
        let typed_only: SearchAnswer<'static> = market.get(&format!("{path}&mode=lexical")).await.read();
        assert!(typed_only.provenance.corrections.is_empty(), "{typed}");
        assert_ne!(typed_only.provenance.relaxed, "prefix", "{typed}");
        let found: Vec<_> = typed_only.data.iter().map(|card| card.title.as_ref()).collect();
        let held: &[&str] = if typed == "cofee+gift" {
            &["Coffee Gift Crate"]
        } else {
            &[]
        };
        assert_eq!(found, held, "{typed}");
    }
}
