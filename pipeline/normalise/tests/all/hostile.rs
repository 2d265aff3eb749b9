//! Tests that harmful data from stores is rejected, and that the valid data next to it is used.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use pipeline_normalise::{Catalogue, CatalogueBuilder, REASON_CHARS_MAX, StoreContext};
use serde_json::{Value, json};

fn catalogue(products: &[Value]) -> Catalogue {
    read(&json!({ "products": products }).to_string())
}

fn read(page: &str) -> Catalogue {
    let mut builder = CatalogueBuilder::new(StoreContext {
        store: "stall.myshopify.com".parse().unwrap(),
        currency: "INR".parse().unwrap(),
        base_url: "https://stall.example".into(),
    });
    builder.page(page.as_bytes()).unwrap();
    builder.finish()
}

fn product(id: u64, price: &str) -> Value {
    json!({"id": id, "title": format!("Product {id}"), "handle": format!("product-{id}"), "images": [],
        "variants": [{"id": id * 10, "title": "Default Title", "price": price, "available": true}]})
}

#[test]
fn reasons_and_excerpts_in_quarantine_are_lines_of_bounded_length_whatever_a_store_states() {
    let vast = "9\n\u{202e}\u{1b}[31m".repeat(100_000);
    let mut mixed = product(2, "5.00");
    mixed["variants"] = json!([
        {"id": 20, "title": "S", "option1": "S", "price": "5.00"},
        {"id": 21, "title": "M", "option1": "M", "price": vast},
        {"id": vast, "title": "L", "option1": "L", "price": "5.00"},
    ]);
    let mut nameless = product(3, "5.00");
    nameless["id"] = json!(vast);
    let found = catalogue(&[product(1, &vast), mixed, nameless, json!(vast)]);
    assert_eq!((found.products.len(), found.quarantined.len()), (1, 5));
    for entry in &found.quarantined {
        for text in [&entry.subject, &entry.reason, &entry.excerpt] {
            assert!(
                !text.contains(|one: char| one.is_control() || one == '\u{202e}'),
                "{text}"
            );
        }
        assert!(entry.reason.chars().count() <= REASON_CHARS_MAX, "{}", entry.reason);
        assert!(entry.excerpt.len() <= 4_096 && !entry.excerpt.is_empty());
    }
    assert!(
        found.quarantined[0]
            .reason
            .starts_with("variants: none of 1 can be parsed; variant 10: price: ")
    );
}

#[test]
fn the_name_of_a_member_makes_no_reason_of_megabytes_and_many_lines() {
    let name = "9\\n".repeat(1_500_000);
    let nameless = format!("{{\"id\": 1, \"{name}\"}}");
    let found = read(&format!("{{\"products\": [{nameless}, {}]}}", product(2, "5.00")));
    assert_eq!((found.products.len(), found.quarantined.len()), (1, 1));
    let reason = &found.quarantined[0].reason;
    assert!(reason.chars().count() <= REASON_CHARS_MAX, "{}", reason.len());
    assert!(!reason.contains(char::is_control), "{reason}");
    assert!(reason.ends_with("invalid JSON: key without a value"), "{reason}");
}

#[test]
fn addresses_of_pictures_that_no_browser_should_open_are_left_out_and_their_product_stays() {
    let bad = [
        "https://é\"><script>alert(1)</script>",
        "https://user:pw@cdn.example/é.jpg",
        "https://[::1]/é.jpg",
        "https://169.254.169.254/latest",
    ];
    let mut tea = product(1, "10.00");
    let images = bad
        .iter()
        .chain(&["https://cdn.example/é.jpg", "https://cdn.example/b.jpg"]);
    tea["images"] = images.map(|src| json!({ "src": src })).collect();
    tea["variants"] = bad
        .iter()
        .enumerate()
        .map(|(at, src)| json!({"id": at + 1, "title": at, "option1": at, "price": "1.00", "featured_image": {"src": src}}))
        .collect();
    let found = catalogue(&[tea]);
    assert_eq!(found.quarantined, []);
    let product = &found.products[0];
    let urls: Vec<_> = product.media.iter().map(|media| media.url.as_str()).collect();
    assert_eq!(urls, ["https://cdn.example/%C3%A9.jpg", "https://cdn.example/b.jpg"]);
    assert_eq!(product.variants.len(), bad.len());
    assert!(product.variants.iter().all(|variant| variant.image.is_none()));
}
