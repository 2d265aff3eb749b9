//! Tests of product variants: options, sizes, barcodes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_model::{Product, Variant};
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use serde_json::{Value, json};

fn understood(products: &[Value]) -> Vec<Product> {
    let mut builder = CatalogueBuilder::new(StoreContext {
        store: "stall.myshopify.com".parse().unwrap(),
        currency: "INR".parse().unwrap(),
        base_url: "https://stall.example".into(),
    });
    builder
        .page(json!({ "products": products }).to_string().as_bytes())
        .unwrap();
    builder.finish().products
}

fn of_option(name: &str, values: &[&str]) -> Vec<Variant> {
    let variant = |(id, value): (usize, &&str)| json!({"id": id + 1, "title": value, "option1": value, "price": "10.00", "position": id + 1});
    let variants: Vec<Value> = values.iter().enumerate().map(variant).collect();
    let product = json!({
        "id": 1, "title": "Shirt", "options": [{"name": name, "position": 1, "values": values}], "variants": variants,
    });
    understood(&[product]).remove(0).variants
}

fn sizes(name: &str, values: &[&str]) -> Vec<Option<String>> {
    let variants = of_option(name, values);
    variants
        .iter()
        .map(|variant| variant.size.map(|size| size.to_string()))
        .collect()
}

#[test]
fn an_option_that_is_one_of_sizes_gives_each_variant_its_size() {
    let read = |name, values| {
        let sizes = sizes(name, values);
        sizes
            .iter()
            .map(|size| size.clone().unwrap_or_else(|| "-".to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        read("Size", &["Small", "XXL", "2XL", "Free Size", "King"]),
        ["s", "xxl", "xxl", "one-size", "-"]
    );
    assert_eq!(read("Select a Size:", &["m"]), ["m"]);
    assert_eq!(read("Größe", &["L"]), ["l"]);
    assert_eq!(read("UK Size", &["8", "EU 42"]), ["uk-8", "eu-42"]);
    assert_eq!(read("Shoe Size", &["8.5", "UK 9"]), ["8.5", "uk-9"]);
    assert_eq!(read("Waist", &["32", "34\""]), ["waist-32", "waist-34"]);
    assert_eq!(read("साइज", &["M"]), ["m"]);
}

#[test]
fn an_option_of_anything_else_gives_no_size() {
    for name in ["Color", "Weight", "Option 1", "Pack", "Neck Style"] {
        assert_eq!(sizes(name, &["M", "32"]), [None, None], "{name}");
    }
}

#[test]
fn of_several_options_the_first_that_is_a_size_counts() {
    let product = json!({
        "id": 1, "title": "Jeans",
        "options": [{"name": "Color", "values": ["Blue"]}, {"name": "Waist", "values": ["32"]}, {"name": "Length", "values": ["34"]}],
        "variants": [{"id": 5, "option1": "Blue", "option2": "32", "option3": "34", "price": "10.00"}],
    });
    let found = understood(&[product]).remove(0);
    assert_eq!(found.variants[0].size.unwrap().to_string(), "waist-32");
}

#[test]
fn a_barcode_is_kept_as_it_is_stated_on_one_line() {
    let variant = |id: u64, barcode: Value| json!({"id": id, "title": "A", "option1": "A", "price": "1.00", "barcode": barcode, "position": id});
    let product = json!({
        "id": 1, "title": "Soap", "options": [{"name": "Pack", "values": ["A"]}],
        "variants": [
            variant(1, json!(" 8901030865275\n")),
            variant(2, json!(8_901_030_865_275_u64)),
            variant(3, json!("")),
            variant(4, json!(null)),
            variant(5, json!("IN-HOUSE 7")),
            variant(6, json!({"gtin": 1})),
        ],
    });
    let found = understood(&[product]).remove(0);
    let barcodes: Vec<_> = found
        .variants
        .iter()
        .map(|variant| variant.barcode.as_deref())
        .collect();
    let stated = Some("8901030865275");
    assert_eq!(barcodes, [stated, stated, None, None, Some("IN-HOUSE 7"), None]);
}

#[test]
fn options_of_one_name_are_told_apart_and_are_one_attribute_still() {
    let mut shirt = json!({"id": 1, "title": "Shirt", "variants": [{"id": 10, "price": "10.00"}]});
    shirt["options"] = json!([
        {"name": "Color", "position": 1, "values": ["Red"]},
        {"name": "Color ", "position": 2, "values": ["Blue"]},
        {"name": "Color 2", "position": 3, "values": ["Green"]},
    ]);
    shirt["variants"][0]["option1"] = json!("Red");
    shirt["variants"][0]["option2"] = json!("Blue");
    shirt["variants"][0]["option3"] = json!("Green");
    let found = understood(&[shirt]).remove(0);
    let options: Vec<_> = found.variants[0]
        .options
        .iter()
        .map(|option| (option.name.as_str(), option.value.as_str()))
        .collect();
    assert_eq!(options, [("Color", "Red"), ("Color 3", "Blue"), ("Color 2", "Green")]);
    let color = found
        .attributes
        .iter()
        .find(|attribute| attribute.name == "color")
        .unwrap();
    assert_eq!(color.values, ["Red", "Blue"]);
}
