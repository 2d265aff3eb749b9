//! Tests the rows of a feed with arbitrary product data from stores.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;

use data_feed::{Availability, COLUMNS, FeedFormat, FeedOptions, Row, Seller, Tally, rows, write_acp};
use data_model::{
    Attribute, Brand, CategoryId, Media, MediaKind, OptionValue, PaymentKind, Product, ProductOption, ShippingFact,
    ShippingFactKind, ShippingPolicy, ShippingTerms, Variant,
};
use kit::{brand, product, variant};
use proptest::prelude::*;
use serde_json::json;

fn picture(url: &str) -> Media {
    Media {
        url: url.into(),
        kind: MediaKind::Image,
        alt: None,
        width: None,
        height: None,
    }
}

fn attribute(name: &str, values: &[&str]) -> Attribute {
    Attribute {
        name: name.into(),
        values: values.iter().map(|value| (*value).into()).collect(),
    }
}

/// The shirt has two colours, one of them marked down and the other sold out.
fn shirt(of: &Brand) -> Product {
    let in_colour = |id, colour: &str| Variant {
        title: colour.into(),
        options: vec![OptionValue {
            name: "Colour".into(),
            value: colour.into(),
        }],
        ..variant(id, 129_900)
    };
    Product {
        description: "Pure linen.\n\nWash\tcold, \"inside out\".".into(),
        vendor: Some("Kith Atelier".into()),
        product_type: Some("Shirts".into()),
        category: Some(CategoryId(212)),
        options: vec![ProductOption {
            name: "Colour".into(),
            values: vec!["Navy".into(), "White".into()],
        }],
        attributes: vec![
            attribute("color", &["Navy", "White"]),
            attribute("gender", &["Men"]),
            attribute("material", &["Linen", "Cotton"]),
            attribute("size", &["M"]),
        ],
        media: vec![
            picture("https://cdn.example/a.jpg?v=1,2"),
            Media {
                kind: MediaKind::Video,
                ..picture("https://cdn.example/film")
            },
            picture("https://cdn.example/b, c.jpg"),
        ],
        variants: vec![
            Variant {
                compare_at_minor: Some(199_900),
                sku: Some("LIN-1".into()),
                barcode: Some("0036000291452".into()),
                grams: Some(250),
                ..in_colour(43_567_890_123_456, "Navy")
            },
            Variant {
                available: false,
                // The check digit is wrong, so that there is no GTIN.
                barcode: Some("0036000291453".into()),
                image: Some("https://cdn.example/white.jpg".into()),
                ..in_colour(43_567_890_123_457, "White")
            },
        ],
        ..product(of, 1, "Linen shirt")
    }
}

fn all(of: &Brand, product: &Product, shipping: Option<&ShippingPolicy>) -> Vec<Row> {
    rows(product, Seller { brand: of, shipping }, FeedOptions::default()).collect()
}

/// Parses tab-separated values independently of the code under test.
fn parsed(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut chars, mut is_quoted) = (text.chars().peekable(), false);
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' if is_quoted => is_quoted = false,
            '"' if field.is_empty() => is_quoted = true,
            '\t' if !is_quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                fields.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut fields));
            }
            char => field.push(char),
        }
    }
    assert!(
        field.is_empty() && fields.is_empty() && !is_quoted,
        "the last line has no end"
    );
    lines
}

fn written(format: FeedFormat, rows: &[Row]) -> String {
    let mut bytes = format.head();
    rows.iter().for_each(|row| format.write(row, &mut bytes));
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_shirt_in_two_colours_is_one_product_of_the_form_of_acp() {
    let kith = brand("Kith");
    let seller = Seller {
        brand: &kith,
        shipping: None,
    };
    let mut line = Vec::new();
    write_acp(&shirt(&kith), seller, &mut line);
    let text = String::from_utf8(line).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = all(&kith, &shirt(&kith), None);
    let variants = shown["variants"].as_array().unwrap();
    assert!(variants.iter().map(|one| &one["id"]).eq(rows.iter().map(|row| &row.id)));
    assert_eq!(
        (&shown["id"], &shown["title"]),
        (&json!(rows[0].product_id), &json!("Linen shirt"))
    );
    assert_eq!(
        shown["description"],
        json!({ "plain": "Pure linen. Wash cold, \"inside out\"." })
    );
    assert_eq!(shown["media"].as_array().unwrap().len(), 2);
    let navy = json!({
        "id": rows[0].id, "title": "Linen shirt - Navy",
        "url": "https://kith.example/products/linen-shirt?variant=43567890123456",
        "barcodes": [{ "type": "GTIN", "value": "036000291452" }],
        "price": { "amount": 129_900, "currency": "INR" }, "list_price": { "amount": 199_900, "currency": "INR" },
        "availability": { "available": true, "status": "in_stock" },
        "categories": [{ "value": "212", "taxonomy": "google_product_category" }, { "value": "Shirts", "taxonomy": "merchant" }],
        "variant_options": [{ "name": "Colour", "value": "Navy" }],
        "media": [{ "type": "image", "url": "https://cdn.example/a.jpg?v=1,2" }],
        "seller": { "name": "Kith" },
    });
    assert_eq!(variants[0], navy);
}

#[test]
fn a_shirt_in_two_colours_is_two_rows_of_one_group() {
    let kith = brand("Kith");
    let rows = all(&kith, &shirt(&kith), None);
    let group = shirt(&kith).key.id().to_string();
    let text = written(FeedFormat::GoogleTsv, &rows);
    assert_eq!(text.lines().count(), 3);
    let lines = parsed(&text);
    let row = |at: usize| -> Vec<(String, String)> {
        let pairs = lines[0].iter().cloned().zip(lines[at].iter().cloned());
        pairs.filter(|(_, value)| !value.is_empty()).collect()
    };
    let short = group.replace('-', "");
    let shown = |at| {
        row(at)
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let first = shown(1).replace(&group, "GROUP").replace(&short, "SHORT");
    insta::assert_snapshot!(first, @r#"
    id: SHORT-43567890123456
    title: Linen shirt - Navy
    description: Pure linen. Wash cold, "inside out".
    link: https://kith.example/products/linen-shirt?variant=43567890123456
    image_link: https://cdn.example/a.jpg?v=1,2
    additional_image_link: https://cdn.example/b%2C%20c.jpg
    availability: in_stock
    price: 1999.00 INR
    sale_price: 1299.00 INR
    brand: Kith Atelier
    gtin: 036000291452
    item_group_id: GROUP
    color: Navy
    size: M
    gender: male
    material: Linen/Cotton
    google_product_category: 212
    product_type: Shirts
    shipping_weight: 250 g
    "#);
    let second = shown(2).replace(&group, "GROUP").replace(&short, "SHORT");
    insta::assert_snapshot!(second, @r#"
    id: SHORT-43567890123457
    title: Linen shirt - White
    description: Pure linen. Wash cold, "inside out".
    link: https://kith.example/products/linen-shirt?variant=43567890123457
    image_link: https://cdn.example/white.jpg
    additional_image_link: https://cdn.example/a.jpg?v=1%2C2,https://cdn.example/b%2C%20c.jpg
    availability: out_of_stock
    price: 1299.00 INR
    brand: Kith Atelier
    item_group_id: GROUP
    color: White
    size: M
    gender: male
    material: Linen/Cotton
    google_product_category: 212
    product_type: Shirts
    "#);
}

#[test]
fn what_a_store_does_not_state_stays_empty_and_is_counted() {
    let mut kith = brand("Kith");
    kith.base_url = "not an address".into();
    let mut bare = product(&kith, 1, "Gift");
    bare.variants[0].price_minor = 0;
    let rows = all(&kith, &bare, None);
    let row = &rows[0];
    assert_eq!((rows.len(), row.availability), (1, Availability::InStock));
    let known: Vec<&str> = COLUMNS
        .into_iter()
        .zip(&parsed(&written(FeedFormat::GoogleTsv, &rows))[1])
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(known, ["id", "title", "availability", "brand"]);
    let mut tally = Tally::default();
    tally.count(row);
    tally.count(row);
    let missing: Vec<_> = tally.missing.into_iter().collect();
    assert_eq!(
        missing,
        [("description", 2), ("image_link", 2), ("link", 2), ("price", 2)]
    );
}

#[test]
fn an_sku_is_a_part_number_only_where_the_operator_says_so() {
    let kith = brand("Kith");
    let (shirt, seller) = (
        shirt(&kith),
        Seller {
            brand: &kith,
            shipping: None,
        },
    );
    let mpn = |sku_as_mpn| {
        rows(&shirt, seller, FeedOptions { sku_as_mpn })
            .map(|row| row.mpn)
            .collect::<Vec<_>>()
    };
    assert_eq!(mpn(false), [None, None]);
    assert_eq!(mpn(true), [Some("LIN-1".into()), None]);
}

#[test]
fn genders_and_ages_are_those_of_the_specification_or_none() {
    let kith = brand("Kith");
    let row = |name: &str, values: &[&str]| {
        let mut shirt = shirt(&kith);
        shirt.attributes = vec![attribute(name, values)];
        all(&kith, &shirt, None).remove(0)
    };
    let gender = |values: &[&str]| row("gender", values).gender;
    assert_eq!(gender(&["Women"]), Some("female"));
    assert_eq!(gender(&["Boys", "Girls"]), Some("unisex"));
    assert_eq!(gender(&["Unisex", "Men"]), Some("unisex"));
    assert_eq!(gender(&["Men", "Pets"]), None);
    let age = |values: &[&str]| row("age_group", values).age_group;
    assert_eq!(
        (age(&["Kids"]), age(&["2-3 years"]), age(&["Kids", "Adult"])),
        (Some("kids"), None, None)
    );
}

fn policy(facts: Vec<ShippingFact>) -> ShippingPolicy {
    ShippingPolicy {
        currency: "INR".parse().unwrap(),
        free_shipping_threshold_minor: None,
        cod_available: None,
        tiers: Vec::new(),
        terms: Some(Box::new(ShippingTerms {
            source_url: None,
            observed_at: "2026-11-01T00:00:00Z".parse().unwrap(),
            facts,
            unknown: Vec::new(),
        })),
    }
}

#[test]
fn shipping_is_told_where_it_follows_from_the_item_alone() {
    let kith = brand("Kith");
    let fee = |amount| ShippingFact {
        amount_minor: Some(amount),
        ..ShippingFact::new(ShippingFactKind::Fee, "A flat fee.")
    };
    let free = |from| ShippingFact {
        min_order_minor: Some(from),
        ..ShippingFact::new(ShippingFactKind::FreeShipping, "Free from …")
    };
    let told = |facts: Vec<ShippingFact>| {
        let policy = policy(facts);
        let row = all(&kith, &shirt(&kith), Some(&policy)).remove(0);
        (row.shipping, row.free_shipping_threshold)
    };
    let text = |text: &str| Some(text.to_owned());
    // The shirt costs 1,299.
    assert_eq!(
        told(vec![fee(4900), free(150_000)]),
        (text("IN:::49.00 INR"), text("IN:1500.00 INR"))
    );
    assert_eq!(
        told(vec![fee(4900), free(99_900)]),
        (text("IN:::0.00 INR"), text("IN:999.00 INR"))
    );
    assert_eq!(told(vec![free(0)]), (text("IN:::0.00 INR"), None));
    // If two fees are stated for unknown buyers or weights, the fee is unknown.
    assert_eq!(told(vec![fee(4900), fee(9900)]), (None, None));
    let of_cash = ShippingFact {
        payment: Some(PaymentKind::Cod),
        ..fee(9900)
    };
    assert_eq!(told(vec![of_cash]), (None, None));
    let heavy = ShippingFact {
        min_grams: Some(500),
        ..fee(9900)
    };
    assert_eq!(told(vec![heavy]), (None, None));
    let elsewhere = Brand {
        country: None,
        ..kith.clone()
    };
    let row = all(&elsewhere, &shirt(&elsewhere), Some(&policy(vec![free(0)]))).remove(0);
    assert_eq!((row.shipping, row.free_shipping_threshold), (None, None));
}

prop_compose! {
    fn text()(text in prop_oneof![".{0,60}", "[a\"\t\n\r,\\\\ \u{2028}\u{0}]{0,20}", "x{0,6000}"]) -> String { text }
}

prop_compose! {
    fn any_variant()(
        id in any::<u64>(), title in text(), value in text(), sku in proptest::option::of(text()), price in any::<i64>(),
        list in proptest::option::of(any::<i64>()), grams in proptest::option::of(any::<u32>()),
        image in proptest::option::of(text()), available: bool
    ) -> Variant {
        let options = vec![OptionValue { name: "Colour".into(), value }];
        Variant { title, sku, options, compare_at_minor: list, available, grams, image, ..variant(id, price) }
    }
}

prop_compose! {
    fn any_product()(
        id in any::<u64>(), texts in proptest::collection::vec(text(), 8),
        variants in proptest::collection::vec(any_variant(), 1..4), url in "https://[a-z,\" ]{1,9}\\.example/[ -~]{0,30}"
    ) -> Product {
        let of = brand("Kith");
        Product {
            handle: texts[0].clone(),
            title: texts[1].clone(),
            description: texts[2].clone(),
            vendor: Some(texts[3].clone()),
            product_type: Some(texts[4].clone()),
            options: vec![ProductOption { name: texts[5].clone(), values: vec![] }],
            attributes: vec![attribute("color", &[&texts[6]]), attribute("size", &[&texts[7]])],
            media: vec![picture(&url), picture(&texts[7]), picture("https://cdn.example/a,b.jpg")],
            variants,
            ..product(&of, id, "x")
        }
    }
}

proptest! {
    #[test]
    fn every_feed_parses_back_whatever_stores_state(products in proptest::collection::vec(any_product(), 1..4)) {
        let of = brand("Kith");
        let made: Vec<Row> = products.iter().flat_map(|product| all(&of, product, None)).collect();
        let text = written(FeedFormat::GoogleTsv, &made);
        // Readers that do not support quotation marks find the same number of lines.
        prop_assert_eq!(text.lines().count(), made.len() + 1);
        for line in text.lines() {
            prop_assert_eq!(line.split('\t').count(), COLUMNS.len());
        }
        let lines = parsed(&text);
        prop_assert_eq!(lines.len(), made.len() + 1);
        let column = |name: &str| COLUMNS.iter().position(|column| *column == name).unwrap();
        for (row, fields) in made.iter().zip(&lines[1..]) {
            prop_assert_eq!(fields.len(), COLUMNS.len());
            let text = |name: &str| Some(fields[column(name)].clone()).filter(|field| !field.is_empty());
            prop_assert_eq!(Some(row.id.clone()), text("id"));
            prop_assert_eq!(&row.title, &text("title"));
            prop_assert_eq!(&row.description, &text("description"));
            prop_assert_eq!(&row.color, &text("color"));
            prop_assert_eq!(&row.price, &text("price"));
            let images = text("additional_image_link").map_or(0, |images| images.split(',').count());
            prop_assert_eq!(images, row.additional_image_link.len());
            let chars = |name: &str| fields[column(name)].chars().count();
            for (name, most) in [("id", 50), ("title", 150), ("description", 5000), ("brand", 70), ("color", 100), ("size", 100), ("product_type", 750), ("link", 2000), ("image_link", 2000)] {
                prop_assert!(chars(name) <= most, "{} has {}", name, chars(name));
            }
            prop_assert!(fields.iter().all(|field| !field.chars().any(char::is_control)));
        }
        let json = written(FeedFormat::Jsonl, &made);
        let objects: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(objects.len(), made.len());
        for (row, object) in made.iter().zip(&objects) {
            prop_assert_eq!(object["id"].as_str(), Some(row.id.as_str()));
            prop_assert_eq!(object["title"].as_str(), row.title.as_deref());
        }
    }

    #[test]
    fn rows_of_different_variants_have_different_ids(ids in proptest::collection::btree_set(any::<u64>(), 2..20)) {
        let of = brand("Kith");
        let shirt = Product { variants: ids.iter().map(|id| variant(*id, 100)).collect(), ..product(&of, 1, "Shirt") };
        let made: BTreeSet<String> = all(&of, &shirt, None).into_iter().map(|row| row.id).collect();
        prop_assert_eq!(made.len(), ids.len());
    }
}
