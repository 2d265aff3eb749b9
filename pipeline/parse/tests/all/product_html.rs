//! Parses the machine-readable data of product pages.

use pipeline_parse::{PageFacts, RawReview, parse_meta, parse_product_html};

fn facts(blocks: &[&str]) -> PageFacts {
    let blocks: Vec<_> = blocks
        .iter()
        .map(|block| format!(r#"<script type="application/ld+json">{block}</script>"#))
        .collect();
    parse_product_html(&format!(
        "<!doctype html><html><head>{}</head><body>…</body></html>",
        blocks.join("<p>")
    ))
}

fn rating(block: &str) -> Option<(f32, u32)> {
    facts(&[block]).rating.map(|rating| (rating.average, rating.count))
}

fn rated(aggregate: &str) -> Option<(f32, u32)> {
    rating(&format!(
        r#"{{"@type":"Product","name":"x","aggregateRating":{aggregate}}}"#
    ))
}

#[test]
fn ratings_are_read_in_all_their_spellings() {
    assert_eq!(rated(r#"{"ratingValue":4.8,"reviewCount":12}"#), Some((4.8, 12)));
    assert_eq!(
        rated(r#"{"ratingValue":"4.80","ratingCount":"1,204","reviewCount":"7"}"#),
        Some((4.8, 1204))
    );
    assert_eq!(
        rated(r#"{"ratingValue":"4,5","reviewCount":"3","bestRating":"5"}"#),
        Some((4.5, 3))
    );
    assert_eq!(
        rated(r#"{"ratingValue":9,"bestRating":10,"reviewCount":2.0}"#),
        Some((4.5, 2))
    );
    assert_eq!(
        rated(r#"[{"ratingValue":80,"bestRating":100,"ratingCount":1}]"#),
        Some((4.0, 1))
    );
}

#[test]
fn what_is_no_rating_is_none() {
    assert_eq!(rated(r#"{"ratingValue":"0.0","reviewCount":"0"}"#), None);
    assert_eq!(rated(r#"{"ratingValue":4.5}"#), None);
    assert_eq!(rated(r#"{"ratingValue":7,"reviewCount":2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":-1,"reviewCount":2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":"NaN","reviewCount":2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":"many","reviewCount":2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":4,"bestRating":0,"reviewCount":2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":4,"reviewCount":-2}"#), None);
    assert_eq!(rated(r#"{"ratingValue":4,"reviewCount":99999999999}"#), None);
    assert_eq!(rated("null"), None);
    assert_eq!(parse_product_html("no markup at all"), PageFacts::default());
}

#[test]
fn products_are_found_where_themes_put_them() {
    let product = r#"{"@type":"Product","aggregateRating":{"ratingValue":4,"reviewCount":2}}"#;
    assert_eq!(
        rating(&format!("[{{\"@type\":\"Organization\"}},{product}]")),
        Some((4.0, 2))
    );
    assert_eq!(
        rating(&format!(
            r#"{{"@context":"x","@graph":[{{"@type":"WebPage"}},{product}]}}"#
        )),
        Some((4.0, 2))
    );
    assert_eq!(
        rating(&format!(r#"{{"@type":"WebPage","mainEntity":{product}}}"#)),
        Some((4.0, 2))
    );
    assert_eq!(
        rating(&format!(
            r#"{{"@type":"ProductGroup","hasVariant":[{{"@type":"Product"}},{product}]}}"#
        )),
        Some((4.0, 2))
    );
    assert_eq!(
        rating(&product.replace(r#""Product""#, r#"["Thing","http://schema.org/Product"]"#)),
        Some((4.0, 2))
    );
    let related = format!(r#"{{"@type":"Product","name":"x","isRelatedTo":{product}}}"#);
    assert_eq!(rating(&related), None);
    assert_eq!(
        rating(&format!(r#"{{"@type":"ItemList","itemListElement":[{product}]}}"#)),
        None
    );
    assert_eq!(rating(&product.replace("Product", "Recipe")), None);
}

#[test]
fn blocks_about_the_same_product_add_up_and_others_are_left_out() {
    let theme = r#"{"@type":"Product","name":"Filter Coffee","offers":{"price":"499.00"}}"#;
    let app = r#"{"@type":"Product","name":" filter coffee","aggregateRating":{"ratingValue":"4.5","ratingCount":8}}"#;
    let other = r#"{"@type":"Product","name":"Green Tea","aggregateRating":{"ratingValue":"5","ratingCount":900}}"#;
    let unnamed = r#"{"@type":"Product","aggregateRating":{"ratingValue":"4.6","ratingCount":9}}"#;
    let average = |blocks: &[&str]| facts(blocks).rating.map(|rating| rating.average);
    assert_eq!(average(&[theme, other, app]), Some(4.5));
    assert_eq!(average(&[theme, app, unnamed]), Some(4.6));
    assert_eq!(average(&[theme, other]), None);
}

#[test]
fn faults_of_a_block_are_mended_or_cost_that_block_alone() {
    let good = r#"{"@type":"Product","aggregateRating":{"ratingValue":4,"reviewCount":2,},}"#;
    let expected = Some((4.0, 2));
    assert_eq!(rating(good), expected);
    assert_eq!(rating(&format!("\n//<![CDATA[\n{good}\n//]]>\n")), expected);
    assert_eq!(rating(&format!("<!-- {good} -->")), expected);
    assert_eq!(rating(&format!("{good};")), expected);
    assert_eq!(rating(&good.replace('"', "&quot;")), expected);
    for flaw in ["two\nlines", "half \\ud83d", "a bell \u{7}"] {
        let flawed = good.replace("4,", &format!("4,\"description\":\"{flaw}\","));
        assert_eq!(rating(&flawed), expected);
        assert_eq!(rating(&flawed.replace('"', "&quot;")), expected);
        assert_eq!(rating(&flawed.replace(",}", "}")), expected);
    }
    assert_eq!(facts(&["{broken", "", good]).rating.map(|rating| rating.count), Some(2));
    let deep = "[".repeat(100_000);
    assert_eq!(facts(&[&deep, good]).rating.map(|rating| rating.count), Some(2));
}

#[test]
fn only_scripts_of_the_right_type_are_read() {
    let block = r#"{"@type":"Product","aggregateRating":{"ratingValue":4,"reviewCount":2}}"#;
    let found = |html: &str| parse_product_html(html).rating.is_some();
    assert!(found(&format!(
        "<SCRIPT async data-x TYPE='Application/LD+JSON; charset=utf-8'>{block}</SCRIPT>"
    )));
    assert!(!found(&format!(
        "<script type=application/json>{block}</script> application/ld+json"
    )));
    assert!(!found(&format!(
        "<script>var x = '<script type=\"application/ld+json\">{block}';</script>"
    )));
    assert!(!found(&format!(
        "<!-- <script type=\"application/ld+json\">{block}</script> -->"
    )));
    assert!(!found(&format!(
        "<p data-type=application/ld+json type=application/ld+json>{block}</p>"
    )));
}

#[test]
fn reviews_are_read_as_far_as_they_are_stated() {
    let reviews = r#"[
        {"@type":"Review","author":{"@type":"Person","name":"Asha"},"datePublished":"2025-01-02",
         "name":"Lovely","reviewBody":"Tastes &amp; smells good","reviewRating":{"ratingValue":"8","bestRating":"10"}},
        {"author":["Ravi"],"description":"Fine","reviewRating":{"ratingValue":3}},
        {"author":"Nobody","reviewBody":"Without stars"}
    ]"#;
    let facts = facts(&[
        &format!(r#"{{"@type":"Product","name":"x","review":{reviews}}}"#),
        &format!(r#"{{"@type":"Product","name":"x","reviews":{reviews}}}"#),
    ]);
    let asha = RawReview {
        rating: 4.0,
        author: Some("Asha".into()),
        title: Some("Lovely".into()),
        body: "Tastes &amp; smells good".into(),
        date: Some("2025-01-02".into()),
    };
    let ravi = RawReview {
        rating: 3.0,
        author: Some("Ravi".into()),
        body: "Fine".into(),
        ..RawReview::default()
    };
    assert_eq!(facts.reviews, [asha, ravi]);
}

#[test]
fn a_stores_description_of_itself_is_read_as_far_as_it_goes() {
    let meta = parse_meta(
        "\u{feff}{\"id\":\"58\",\"name\":\" Chai \\u0026 Co \",\"currency\":\"INR\",\"url\":\"https:\\/\\/chai.example\",\
         \"myshopify_domain\":\"chai.myshopify.com\",\"description\":\"\",\"country\":7,\"ships_to_countries\":[\"IN\",null],\
         \"published_products_count\":62,\"offers_shop_pay_installments\":false}"
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(
        (meta.id, meta.name.as_deref(), meta.currency.as_deref()),
        (Some(58), Some("Chai & Co"), Some("INR"))
    );
    assert_eq!(meta.url.as_deref(), Some("https://chai.example"));
    assert_eq!(meta.myshopify_domain.as_deref(), Some("chai.myshopify.com"));
    assert_eq!((meta.description, meta.country, meta.domain), (None, None, None));
    assert_eq!(
        (meta.ships_to_countries, meta.published_products_count),
        (vec!["IN".to_owned()], Some(62))
    );
    for wrong in [
        "",
        "<html>",
        "[]",
        "{}",
        r#"{"errors":"Not Found"}"#,
        r#"{"id":1"#,
        r#"{"id":1,"name":"#,
        "null",
    ] {
        assert!(parse_meta(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

fn barcodes(block: &str) -> Vec<(Option<u64>, Option<String>, String)> {
    let found = facts(&[block]).barcodes.into_iter();
    found.map(|one| (one.variant, one.sku, one.barcode)).collect()
}

#[test]
fn barcodes_are_read_in_all_their_places() {
    let of =
        |variant: Option<u64>, sku: Option<&str>, barcode: &str| (variant, sku.map(str::to_owned), barcode.to_owned());
    // JSON numbers have lost the leading zeros of their barcodes.
    let offers = r#"{"@type":"Product","name":"Tea","offers":[
        {"@type":"Offer","sku":"T-1","gtin13":8901030865275,"url":"https://tea.example/products/tea?variant=11"},
        {"@type":"Offer","gtin12":36000291452,"url":"/products/tea?a=b&variant=12#offer"},
        {"@type":"Offer","sku":"T-3","price":"1"}]}"#;
    assert_eq!(
        barcodes(offers),
        [
            of(Some(11), Some("T-1"), "8901030865275"),
            of(Some(12), None, "036000291452"),
        ]
    );
    let group = r#"{"@type":"ProductGroup","name":"Tea","hasVariant":[
        {"@type":"Product","@id":"\/products\/tea?variant=21#variant","name":"Tea - A","gtin":" 4006381333931 ","sku":"A"},
        {"@type":"Product","name":"Tea - B","gtin8":"96385074","offers":{"@type":"Offer","url":"/products/tea?variant=22"}}]}"#;
    assert_eq!(
        barcodes(group),
        [of(Some(21), Some("A"), "4006381333931"), of(Some(22), None, "96385074")]
    );
    let plain = r#"{"@type":"Product","name":"Tea","gtin14":"00036000291452","offers":{"@type":"AggregateOffer","offers":[{"price":"1"}]}}"#;
    assert_eq!(barcodes(plain), [of(None, None, "00036000291452")]);
}

#[test]
fn what_is_no_barcode_of_the_product_is_left_out() {
    assert_eq!(
        barcodes(r#"{"@type":"Product","name":"Tea","gtin13":"","gtin":null,"sku":"x"}"#),
        []
    );
    assert_eq!(
        barcodes(r#"{"@type":"Product","name":"Tea","gtin13":-5,"gtin":[1],"gtin8":1.5}"#),
        []
    );
    assert_eq!(
        barcodes(&format!(
            r#"{{"@type":"Product","name":"Tea","gtin":"{}"}}"#,
            "1".repeat(65)
        )),
        []
    );
    assert_eq!(barcodes(r#"{"@type":"Product","name":"Tea","gtin":"чай"}"#), []);
    let other = r#"[{"@type":"Product","name":"Tea"},{"@type":"Product","name":"Cup","gtin":"4006381333931"}]"#;
    assert_eq!(barcodes(other), []);
    let many = (0..1_000).map(|id| format!(r#"{{"@type":"Offer","gtin":"{id}","url":"/p?variant={id}"}}"#));
    let many = many.collect::<Vec<_>>().join(",");
    assert_eq!(
        barcodes(&format!(r#"{{"@type":"Product","name":"Tea","offers":[{many}]}}"#)).len(),
        250
    );
}
