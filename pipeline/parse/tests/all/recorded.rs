//! Parses pages recorded from real stores and compares the result with an independent JSON parser.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once"
)]

use std::path::PathBuf;

use pipeline_parse::{RawProduct, parse_products_page};
use serde_json::Value;

fn pages() -> Vec<(PathBuf, Vec<u8>)> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let mut pages = Vec::new();
    let mut folders = vec![root.join("recorded"), root.join("relevance")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.starts_with("products") && name.ends_with(".json") {
                let page = std::fs::read(&path).unwrap();
                pages.push((path, page));
            }
        }
    }
    if pages.is_empty() {
        assert!(
            option_env!("CI").is_none() || !root.exists(),
            "recorded pages are absent from {}",
            root.display()
        );
        println!("skipped: no recorded pages at {}", root.display());
    }
    pages
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

fn assert_same(product: &RawProduct<'_>, stated: &Value) {
    let list = |name: &str| stated[name].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(product.id, stated["id"].as_u64().unwrap());
    assert_eq!(product.title.as_deref(), text(&stated["title"]));
    assert_eq!(product.handle.as_deref(), text(&stated["handle"]));
    assert_eq!(product.body_html.as_deref(), text(&stated["body_html"]));
    assert_eq!(product.vendor.as_deref(), text(&stated["vendor"]));
    assert_eq!(product.product_type.as_deref(), text(&stated["product_type"]));
    assert_eq!(product.updated_at.as_deref(), text(&stated["updated_at"]));
    assert_eq!(product.published_at.as_deref(), text(&stated["published_at"]));
    assert_eq!(product.created_at.as_deref(), text(&stated["created_at"]));
    let tags: Vec<_> = list("tags").iter().map(|tag| tag.as_str().unwrap()).collect();
    assert_eq!(product.tags, tags);
    assert_eq!(product.variants.len(), list("variants").len());
    assert_eq!(product.variants_stated, product.variants.len());
    for (variant, stated) in product.variants.iter().zip(list("variants")) {
        assert_eq!(variant.id, stated["id"].as_u64().unwrap());
        assert_eq!(variant.title.as_deref(), text(&stated["title"]));
        for (index, option) in variant.options.iter().enumerate() {
            assert_eq!(option.as_deref(), text(&stated[format!("option{}", index + 1)]));
        }
        assert_eq!(variant.sku.as_deref(), text(&stated["sku"]));
        assert_eq!(variant.price.as_deref(), text(&stated["price"]));
        assert_eq!(variant.compare_at_price.as_deref(), text(&stated["compare_at_price"]));
        assert_eq!(variant.available, stated["available"].as_bool());
        assert_eq!(variant.grams, stated["grams"].as_u64());
        assert_eq!(variant.position, stated["position"].as_u64());
        let image = variant.featured_image.as_ref();
        assert_eq!(
            image.and_then(|image| image.src.as_deref()),
            text(&stated["featured_image"]["src"])
        );
        assert_eq!(
            image.and_then(|image| image.alt.as_deref()),
            text(&stated["featured_image"]["alt"])
        );
    }
    assert_eq!(product.images.len(), list("images").len());
    for (image, stated) in product.images.iter().zip(list("images")) {
        assert_eq!(image.src.as_deref(), text(&stated["src"]));
        assert_eq!(image.width, stated["width"].as_u64());
        assert_eq!(image.height, stated["height"].as_u64());
        assert_eq!(image.position, stated["position"].as_u64());
        let variants = stated["variant_ids"].as_array();
        let variants: Vec<_> = variants.into_iter().flatten().map(|id| id.as_u64().unwrap()).collect();
        assert_eq!(image.variant_ids, variants);
    }
    assert_eq!(product.options.len(), list("options").len());
    for (option, stated) in product.options.iter().zip(list("options")) {
        assert_eq!(option.name.as_deref(), text(&stated["name"]));
        let values: Vec<_> = stated["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap())
            .collect();
        assert_eq!(option.values, values);
    }
}

#[test]
fn recorded_pages_give_every_field_that_an_independent_reader_sees() {
    for (path, bytes) in pages() {
        let page = parse_products_page(&bytes).unwrap();
        let stated: Value = serde_json::from_slice(&bytes).unwrap();
        let stated = stated["products"].as_array().unwrap();
        assert_eq!(page.records.len(), stated.len(), "{}", path.display());
        for (record, stated) in page.records.iter().zip(stated) {
            assert_same(record.as_ref().unwrap(), stated);
        }
    }
}

/// One bad record makes all records be read one by one.
#[test]
fn a_broken_record_costs_its_neighbours_nothing() {
    for (path, bytes) in pages() {
        let whole = parse_products_page(&bytes).unwrap();
        let end = bytes.iter().rposition(|byte| *byte == b']').unwrap();
        let comma = if whole.records.is_empty() { "" } else { "," };
        let broken = [&bytes[..end], comma.as_bytes(), br#"{"id":7,"variants":"none"}]}"#].concat();
        let page = parse_products_page(&broken).unwrap();
        let (bad, good) = page.records.split_last().unwrap();
        assert_eq!(good, whole.records, "{}", path.display());
        let bad = bad.as_ref().unwrap_err();
        assert_eq!(
            (bad.id, bad.reason.as_str()),
            (Some(7), "variants: expected list, found text")
        );
    }
}
