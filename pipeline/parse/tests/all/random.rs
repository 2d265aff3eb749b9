//! Parses random JSON and compares the result with an independent parser.

use pipeline_parse::{RawProduct, parse_products_page};
use proptest::prelude::*;
use serde_json::Value;

fn name() -> impl Strategy<Value = String> {
    let known = vec![
        "id",
        "id",
        "title",
        "tags",
        "variants",
        "images",
        "options",
        "name",
        "values",
        "price",
        "src",
        "variant_ids",
        "featured_image",
        "available",
        "grams",
        "option1",
        "sku",
        "body_html",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,4}"]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[0-9]{1,20}".prop_map(Value::from),
    ]
}

/// Generates JSON values of every kind, some of them shaped like parts of a product.
fn json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn product() -> impl Strategy<Value = Value> {
    let member = prop_oneof![3 => (name(), scalar()), 1 => (name(), json())];
    let lists = ("[a-z]{0,3}", prop::collection::vec(scalar(), 0..3));
    (prop::collection::vec(member, 0..10), any::<u32>(), lists).prop_map(|(members, id, (tag, values))| {
        let mut product: serde_json::Map<_, _> = members.into_iter().collect();
        product.entry("id").or_insert(id.into());
        product.entry("tags").or_insert(Value::from(values));
        product
            .entry("variants")
            .or_insert(serde_json::json!([{"id": id, "title": tag, "price": "1.00"}]));
        Value::from(product)
    })
}

fn as_stated(read: Option<&str>, stated: &Value) -> bool {
    match stated {
        Value::String(text) => read == Some(text),
        Value::Number(number) => read == Some(&number.to_string()),
        _ => read.is_none() && stated.is_null(),
    }
}

/// Returns true if the value was read as stated, or was left out because it is not text.
fn as_stated_if_text(read: Option<&str>, stated: &Value) -> bool {
    as_stated(read, stated) || (read.is_none() && !stated.is_string())
}

fn flag(stated: &Value) -> Option<bool> {
    let text = match stated {
        Value::Bool(flag) => return Some(*flag),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    match text.as_str() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

fn check(product: &RawProduct<'_>, stated: &Value) -> Result<(), TestCaseError> {
    // An id written as text may have leading zeros.
    let as_text = stated["id"].as_str().and_then(|id| id.parse().ok());
    prop_assert_eq!(as_text.or(stated["id"].as_u64()), Some(product.id));
    prop_assert!(as_stated(product.title.as_deref(), &stated["title"]));
    prop_assert!(as_stated_if_text(product.body_html.as_deref(), &stated["body_html"]));
    let variants = stated["variants"].as_array().map_or(&[][..], Vec::as_slice);
    let bad: Vec<usize> = product.bad_variants.iter().map(|bad| bad.position - 1).collect();
    let good = variants.iter().enumerate().filter(|(place, _)| !bad.contains(place));
    prop_assert_eq!(product.variants.len() + bad.len(), variants.len());
    for (variant, (_, stated)) in product.variants.iter().zip(good) {
        prop_assert!(as_stated(variant.price.as_deref(), &stated["price"]));
        let sku = as_stated_if_text(variant.sku.as_deref(), &stated["sku"]);
        prop_assert!(sku && (variant.sku.is_some() || !stated["sku"].is_number()));
        prop_assert!(as_stated_if_text(variant.options[0].as_deref(), &stated["option1"]));
        prop_assert_eq!(variant.available, flag(&stated["available"]));
    }
    if let Some(tags) = stated["tags"].as_array() {
        let tags: Vec<_> = tags.iter().filter(|tag| tag.is_string() || tag.is_number()).collect();
        prop_assert_eq!(product.tags.len(), tags.len());
        prop_assert!(
            product
                .tags
                .iter()
                .zip(tags)
                .all(|(tag, stated)| as_stated(Some(tag), stated))
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_record_gets_a_verdict_and_what_is_read_is_what_was_stated(
        products in prop::collection::vec(prop_oneof![4 => product(), 1 => json()], 0..5),
        pretty in any::<bool>(),
    ) {
        let stated = serde_json::json!({ "before": products.first(), "products": products, "after": [products.last()] });
        let body = if pretty { serde_json::to_vec_pretty(&stated) } else { serde_json::to_vec(&stated) }.unwrap();
        let page = parse_products_page(&body).unwrap();
        prop_assert_eq!(page.records.len(), products.len());
        for (verdict, stated) in page.records.iter().zip(&products) {
            if let Ok(product) = verdict {
                check(product, stated)?;
            }
        }
    }

    #[test]
    fn a_record_is_judged_the_same_whatever_its_neighbours_are(records in prop::collection::vec(product(), 1..4)) {
        let together = serde_json::to_vec(&records).unwrap();
        let together = parse_products_page(&together).unwrap().records;
        for (record, together) in records.iter().zip(together) {
            let alone = serde_json::to_vec(&[record]).unwrap();
            let alone = parse_products_page(&alone).unwrap().records.remove(0);
            prop_assert_eq!(alone.map_err(|bad| bad.reason), together.map_err(|bad| bad.reason));
        }
    }

    #[test]
    fn a_page_cut_short_is_never_taken_for_a_whole_one(records in prop::collection::vec(product(), 0..4), cut in 0.0..1.0) {
        let body = serde_json::to_string(&serde_json::json!({ "products": records })).unwrap();
        let end = body.floor_char_boundary((body.len() as f64 * cut) as usize);
        prop_assert!(parse_products_page(&body.as_bytes()[..end]).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        drop(parse_products_page(&bytes));
        drop(parse_products_page(&[br#"{"products":["#, &bytes[..], br#"]}"#].concat()));
        drop(pipeline_parse::parse_meta(&bytes));
        drop(pipeline_parse::parse_product_html(&String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn no_text_made_of_json_signs_makes_it_panic(text in r#"[\[\]{}",:\\untrealfsd0-9 .]{0,200}"#) {
        drop(parse_products_page(text.as_bytes()));
        drop(parse_products_page(format!(r#"{{"products":[{{"id":1,"title":{text}"#).as_bytes()));
        drop(pipeline_parse::parse_meta(text.as_bytes()));
        let html = format!(r#"<script type="application/ld+json">{text}</script>"#);
        drop(pipeline_parse::parse_product_html(&html));
    }
}
