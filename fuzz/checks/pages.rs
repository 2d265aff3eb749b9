//! Parses any bytes as a page of a catalogue, or as a store's `meta.json`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use pipeline_parse::{
    BAD_VARIANTS_MAX, EXCERPT_BYTES_MAX, IMAGES_MAX, OPTIONS_MAX, ProductsPage, RECORDS_MAX, RawProduct, TAGS_MAX,
    VARIANTS_MAX, for_each_product, page_text, parse_meta, parse_products_page, record_excerpts,
};
use serde_json::Value;

/// Maximum growth of one byte: an invalid byte that becomes U+FFFD.
const BYTES_PER_BYTE_MAX: usize = 3;

pub(crate) fn check(bytes: &[u8]) {
    let _ = parse_meta(bytes);
    let read = parse_products_page(bytes);
    if let Ok(page) = &read {
        in_bounds(page, bytes.len());
        in_parts(page, bytes);
    }
    if let Ok(strict) = serde_json::from_slice::<Value>(bytes)
        && let Some(products) = strict["products"].as_array().filter(|_| strict["product"].is_null())
    {
        let records = read.unwrap().records;
        assert_eq!(records.len(), products.len());
        for (record, product) in records.iter().zip(products) {
            match record {
                Ok(read) => same(read, product),
                Err(refused) => assert!(!is_sound(product), "{refused:?}"),
            }
        }
    }
}

/// True if a product has all required fields with the right types.
fn is_sound(product: &Value) -> bool {
    let id = product["id"].as_u64().is_some_and(|id| i64::try_from(id).is_ok());
    let title = &product["title"];
    let variants = &product["variants"];
    id && (title.is_string() || title.is_null()) && (variants.is_array() || variants.is_null())
}

fn same(read: &RawProduct<'_>, product: &Value) {
    if product["id"].is_u64() {
        assert_eq!(Some(read.id), product["id"].as_u64());
    }
    for (text, name) in [
        (&read.title, "title"),
        (&read.handle, "handle"),
        (&read.body_html, "body_html"),
    ] {
        if let Some(stated) = product[name].as_str() {
            assert_eq!(text.as_deref(), Some(stated), "{name}");
        }
    }
    if let Some(variants) = product["variants"].as_array() {
        assert_eq!(read.variants_stated, variants.len());
    }
}

fn in_bounds(page: &ProductsPage<'_>, bytes: usize) {
    assert!(page.records.len() <= RECORDS_MAX);
    let mut texts = 0;
    for record in &page.records {
        let product = match record {
            Ok(product) => product,
            Err(refused) => {
                assert!(refused.excerpt.len() <= EXCERPT_BYTES_MAX, "{refused:?}");
                continue;
            }
        };
        let counts = [
            (product.variants.len(), VARIANTS_MAX),
            (product.bad_variants.len(), BAD_VARIANTS_MAX),
            (product.images.len(), IMAGES_MAX),
            (product.options.len(), OPTIONS_MAX),
            (product.tags.len(), TAGS_MAX),
        ];
        assert!(counts.iter().all(|(count, most)| count <= most), "{counts:?}");
        let told = product.title.iter().chain(&product.body_html).chain(&product.tags);
        texts += told.map(|text| text.len()).sum::<usize>();
    }
    assert!(texts <= bytes * BYTES_PER_BYTE_MAX);
}

/// Asserts that reading records one by one and reading all excerpts give the same records.
fn in_parts(page: &ProductsPage<'_>, bytes: &[u8]) {
    let text = page_text(bytes).unwrap();
    let mut nth = 0;
    let count = for_each_product(&text, |record| {
        assert_eq!(Some(&record), page.records.get(nth));
        nth += 1;
    });
    assert_eq!(count, Ok(page.records.len()));
    let positions: Vec<usize> = (1..=page.records.len()).collect();
    for (excerpt, record) in record_excerpts(&text, &positions).iter().zip(&page.records) {
        assert!(excerpt.len() <= EXCERPT_BYTES_MAX);
        assert!(record.as_ref().err().is_none_or(|refused| refused.excerpt == *excerpt));
    }
}
