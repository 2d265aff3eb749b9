//! Tests of whole pages: their products and quarantine entries.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use pipeline_normalise::{Catalogue, CatalogueBuilder, StoreContext};
use proptest::prelude::*;
use serde_json::{Value, json};

fn context(currency: &str) -> StoreContext {
    StoreContext {
        store: "stall.myshopify.com".parse().unwrap(),
        currency: currency.parse().unwrap(),
        base_url: "https://stall.example".into(),
    }
}

fn catalogue(currency: &str, pages: &[Value]) -> Catalogue {
    let mut builder = CatalogueBuilder::new(context(currency));
    for page in pages {
        builder.page(page.to_string().as_bytes()).unwrap();
    }
    builder.finish()
}

fn product(id: u64, price: &str) -> Value {
    json!({
        "id": id, "title": format!("Product {id}"), "handle": format!("product-{id}"), "body_html": null, "vendor": "Stall",
        "product_type": "", "tags": [], "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}], "images": [],
        "published_at": "2025-01-01T00:00:00+05:30", "created_at": "2025-01-01T00:00:00+05:30", "updated_at": "2025-01-01T00:00:00+05:30",
        "variants": [{"id": id * 10, "title": "Default Title", "option1": "Default Title", "option2": null, "option3": null, "sku": "",
            "requires_shipping": true, "taxable": true, "featured_image": null, "available": true, "price": price, "grams": 0,
            "compare_at_price": null, "position": 1, "product_id": id}],
    })
}

fn page(products: &[Value]) -> Value {
    json!({ "products": products })
}

#[test]
#[expect(clippy::too_many_lines, reason = "the snapshot shows a whole product")]
fn a_whole_product_comes_out_as_it_went_in() {
    let mut shirt = product(7, "1299.00");
    shirt["title"] = json!("  Linen\u{a0}Shirt  - Blue ");
    shirt["body_html"] = json!("<p>Breathes.</p><script>x()</script>");
    shirt["product_type"] = json!("Shirts");
    shirt["tags"] = json!(["linen", "linen", " ", "Fabric:Linen"]);
    shirt["options"] = json!([{"name": "Size", "position": 1, "values": ["S", "M"]}]);
    shirt["images"] = json!([
        {"id": 2, "position": 2, "src": "javascript:alert(1)", "variant_ids": []},
        {"id": 1, "position": 1, "src": "//cdn.example/a.jpg?v=1", "width": 800, "height": 600, "variant_ids": [72]},
    ]);
    shirt["variants"] = json!([
        {"id": 71, "title": "S", "option1": "S", "sku": " LS  S ", "available": false, "price": "1299.00", "compare_at_price": "1999.00", "grams": 250, "position": 1},
        {"id": 72, "title": "M", "option1": "M", "sku": null, "available": true, "price": 1399.5, "compare_at_price": "0.00", "grams": 0, "position": 2},
        {"id": 72, "title": "M again", "option1": "M", "available": true, "price": "1.00", "position": 3},
    ]);
    let catalogue = catalogue("INR", &[page(&[shirt])]);
    assert_eq!(catalogue.quarantined, []);
    let mut found = catalogue.products.into_iter().next().unwrap();
    assert!(found.category.take().is_some());
    insta::assert_debug_snapshot!(found, @r#"
Product {
    key: ProductKey {
        store: StoreHost(
            "stall.myshopify.com",
        ),
        platform_id: 7,
    },
    handle: "product-7",
    title: "Linen Shirt - Blue",
    description: "Breathes.",
    vendor: Some(
        "Stall",
    ),
    product_type: Some(
        "Shirts",
    ),
    category: None,
    tags: [
        "linen",
        "Fabric:Linen",
    ],
    options: [
        ProductOption {
            name: "Size",
            values: [
                "S",
                "M",
            ],
        },
    ],
    attributes: [
        Attribute {
            name: "color",
            values: [
                "Blue",
            ],
        },
        Attribute {
            name: "material",
            values: [
                "Linen",
            ],
        },
        Attribute {
            name: "size",
            values: [
                "S",
                "M",
            ],
        },
    ],
    media: [
        Media {
            url: "https://cdn.example/a.jpg?v=1",
            kind: Image,
            alt: None,
            width: Some(
                800,
            ),
            height: Some(
                600,
            ),
        },
    ],
    variants: [
        Variant {
            id: VariantId(
                71,
            ),
            title: "S",
            sku: Some(
                " LS  S ",
            ),
            barcode: None,
            size: Some(
                Size(s),
            ),
            options: [
                OptionValue {
                    name: "Size",
                    value: "S",
                },
            ],
            price_minor: 129900,
            compare_at_minor: Some(
                199900,
            ),
            available: false,
            grams: Some(
                250,
            ),
            image: None,
        },
        Variant {
            id: VariantId(
                72,
            ),
            title: "M",
            sku: None,
            barcode: None,
            size: Some(
                Size(m),
            ),
            options: [
                OptionValue {
                    name: "Size",
                    value: "M",
                },
            ],
            price_minor: 139950,
            compare_at_minor: None,
            available: true,
            grams: None,
            image: Some(
                "https://cdn.example/a.jpg?v=1",
            ),
        },
    ],
    currency: CurrencyCode(
        INR,
    ),
    rating: None,
    reviews: [],
    created_at: Some(
        Timestamp(
            1735669800000000,
        ),
    ),
    published_at: Some(
        Timestamp(
            1735669800000000,
        ),
    ),
    updated_at: Some(
        Timestamp(
            1735669800000000,
        ),
    ),
}
"#);
}

#[test]
fn a_product_without_options_has_one_plain_variant() {
    let found = catalogue("INR", &[page(&[product(1, "10.00")])]).products;
    assert_eq!(
        (
            found[0].options.len(),
            found[0].variants[0].title.as_str(),
            found[0].variants[0].options.len()
        ),
        (0, "", 0)
    );
    assert_eq!(
        (found[0].variants[0].sku.as_ref(), found[0].variants[0].grams),
        (None, None)
    );
}

#[test]
fn money_follows_the_currency_and_what_is_not_exact_is_quarantined() {
    let pages = [page(&[
        product(1, "1200.00"),
        product(2, "19.999"),
        product(3, "12,99"),
        product(4, "-5.00"),
        product(5, ""),
    ])];
    let found = catalogue("JPY", &pages);
    assert_eq!(
        found
            .products
            .iter()
            .map(|product| product.variants[0].price_minor)
            .collect::<Vec<_>>(),
        [1200]
    );
    let reasons: Vec<_> = found
        .quarantined
        .iter()
        .map(|entry| format!("{}: {}", entry.subject, entry.reason))
        .collect();
    insta::assert_debug_snapshot!(reasons, @r#"
[
    "2: variants: none of 1 can be parsed; variant 20: price: \"19.999\" has more decimals than the minor unit of JPY",
    "3: variants: none of 1 can be parsed; variant 30: price: not a decimal amount: \"12,99\"",
    "4: variants: none of 1 can be parsed; variant 40: price: a negative amount: \"-5.00\"",
    "5: variants: none of 1 can be parsed; variant 50: price: missing",
]
"#);
    assert!(found.quarantined.iter().all(|entry| entry.excerpt.starts_with("{\"")));
}

#[test]
fn a_bad_variant_costs_itself_and_a_bad_record_its_neighbours_nothing() {
    let mut mixed = product(1, "10.00");
    mixed["variants"] = json!([
        {"id": 11, "title": "A", "option1": "A", "available": true, "price": "10.00", "position": 1},
        {"id": 12, "title": "B", "option1": "B", "available": true, "price": "ten", "position": 2},
    ]);
    let found = catalogue(
        "INR",
        &[page(&[mixed, json!("nonsense"), json!({"id": 3}), product(4, "1.00")])],
    );
    assert_eq!(
        found
            .products
            .iter()
            .map(|product| product.key.platform_id)
            .collect::<Vec<_>>(),
        [1, 4]
    );
    assert_eq!(found.products[0].variants.len(), 1);
    assert_eq!(found.quarantined.len(), 3);
}

#[test]
fn a_variant_that_cannot_be_read_and_variants_beyond_the_bound_are_told() {
    let mut mixed = product(1, "10.00");
    mixed["variants"] = json!([
        {"id": 11, "title": "A", "option1": "A", "available": 1, "price": "10.00", "compare_at_price": false},
        {"title": "B", "option1": "B", "price": "10.00"},
        {"id": 13, "title": "C", "option1": "C", "price": {"amount": "10.00"}},
    ]);
    let mut long = product(2, "10.00");
    let variants = (0..2050).map(|id| json!({"id": 9000 + id, "title": id, "option1": id, "price": "1.00"}));
    long["variants"] = variants.collect();
    let found = catalogue("INR", &[page(&[mixed, long])]);
    let variants: Vec<_> = found.products.iter().map(|product| product.variants.len()).collect();
    assert_eq!(
        (variants, found.products[0].variants[0].available),
        (vec![1, 2048], true)
    );
    let reasons: Vec<_> = found.quarantined.iter().map(|entry| entry.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "variant at place 2: id: missing",
            "variant 13: price: expected text, found object",
            "variants: 2 of 2050 are omitted without a report on each",
        ]
    );
}

#[test]
fn a_picture_whose_address_has_a_space_is_kept() {
    let mut tea = product(1, "10.00");
    tea["images"] = json!([{"src": "https://cdn.example/a b.jpg"}, {"src": "https://cdn.example/\u{a0}x.jpg"}]);
    let media = catalogue("INR", &[page(&[tea])]).products.remove(0).media;
    let urls: Vec<_> = media.iter().map(|media| media.url.as_str()).collect();
    assert_eq!(urls, ["https://cdn.example/a%20b.jpg"]);
}

#[test]
fn of_a_product_on_two_pages_the_later_state_is_taken_once() {
    let mut newer = product(1, "20.00");
    newer["updated_at"] = json!("2025-02-01T00:00:00+05:30");
    let older = product(1, "10.00");
    for pages in [
        [page(std::slice::from_ref(&older)), page(std::slice::from_ref(&newer))],
        [page(&[newer]), page(&[older])],
    ] {
        let found = catalogue("INR", &pages).products;
        assert_eq!((found.len(), found[0].variants[0].price_minor), (1, 2000));
    }
    let mut broken = product(2, "oops");
    broken["updated_at"] = json!(null);
    let found = catalogue("INR", &[page(&[broken]), page(&[product(2, "3.00")])]);
    assert_eq!((found.products.len(), found.quarantined.len()), (1, 0));
}

#[test]
fn what_cannot_be_understood_is_in_quarantine_once_however_many_pages_list_it() {
    let mut mixed = product(5, "10.00");
    mixed["variants"] = json!([
        {"id": 51, "title": "A", "option1": "A", "available": true, "price": "10.00", "position": 1},
        {"id": 52, "title": "B", "option1": "B", "available": true, "price": "ten", "position": 2},
        {"id": 53, "title": "C", "option1": "C", "available": true, "price": "ten", "position": 3},
    ]);
    let (bad, good) = (product(2, "oops"), product(7, "1.00"));
    let (nameless, other) = (json!({"title": "No id"}), json!("nonsense"));
    let entries = |pages: &[Value]| -> Vec<(String, String)> {
        let found = catalogue("INR", pages).quarantined;
        found.into_iter().map(|entry| (entry.subject, entry.reason)).collect()
    };
    let once = entries(&[page(&[bad.clone(), mixed.clone(), nameless.clone(), other.clone()])]);
    let subjects: Vec<&str> = once.iter().map(|(subject, _)| subject.as_str()).collect();
    assert_eq!(subjects, ["2", "5", "5", "page 1, product 3", "page 1, product 4"]);
    assert!(once[1].1.contains("52") && once[2].1.contains("53"), "{once:?}");
    let first = page(&[bad.clone(), mixed.clone(), nameless.clone(), other.clone()]);
    let again = page(&[good.clone(), mixed.clone(), nameless, bad.clone(), other]);
    assert_eq!(entries(&[first.clone(), again, first]), once, "listed on three pages");
    // Page boundaries make no difference.
    let apart = entries(&[page(&[mixed.clone()]), page(&[good, bad])]);
    assert_eq!(apart, once[..3]);
    // A corrected variant is not in quarantine, even if it is wrong on an older page.
    let mut right = product(5, "10.00");
    right["updated_at"] = json!("2030-02-01T00:00:00+05:30");
    assert_eq!(entries(&[page(&[right.clone()]), page(&[mixed.clone()])]), []);
    assert_eq!(entries(&[page(&[mixed]), page(&[right])]), []);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut builder = CatalogueBuilder::new(context("INR"));
        let _ = builder.page(&bytes);
        drop(builder.finish());
    }

    #[test]
    fn products_are_sorted_and_each_id_is_there_once(ids in prop::collection::vec(1..40_u64, 0..60)) {
        let products: Vec<Value> = ids.iter().map(|id| product(*id, "5.00")).collect();
        let pages: Vec<Value> = products.chunks(7).map(page).collect();
        let found: Vec<u64> = catalogue("INR", &pages).products.iter().map(|product| product.key.platform_id).collect();
        let mut expected = ids;
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(found, expected);
    }
}

fn attributes(title: &str, product_type: &str, options: Value) -> String {
    let mut one = product(7, "10.00");
    one["title"] = json!(title);
    one["product_type"] = json!(product_type);
    if let Some(value) = options.pointer("/0/values/0") {
        one["variants"][0]["option1"] = value.clone();
    }
    one["options"] = options;
    let found = catalogue("INR", &[page(&[one])]).products.remove(0).attributes;
    let found: Vec<_> = found
        .iter()
        .map(|one| format!("{}={}", one.name, one.values.join(", ")))
        .collect();
    found.join("; ")
}

#[test]
fn a_colour_at_the_end_of_a_title_is_read_and_a_flavour_there_is_none() {
    let of_title = |title| attributes(title, "", json!([]));
    assert_eq!(of_title("Canvas Belt - Navy/White (Set of 2)"), "color=Navy, White");
    assert_eq!(of_title("Desk Lamp, Matte Black"), "color=Matte Black");
    assert_eq!(
        of_title("Ceiling Fan in Brushed Nickel [Refurbished]"),
        "color=Brushed Nickel"
    );
    assert_eq!(of_title("Notebook (Red & Blue)"), "color=Red, Blue");
    for none in [
        "Whey Protein - Chocolate",
        "Green Bay Flag",
        "Ice Cream Scoop",
        "Mug - Large",
        "Tea - Lemon/Ginger",
    ] {
        assert_eq!(of_title(none), "", "{none}");
    }
}

#[test]
fn for_whom_a_thing_is_worn_is_read_from_its_title() {
    assert_eq!(attributes("Men's Linen Shirt", "Shirts", json!([])), "gender=Men");
    assert_eq!(attributes("Ladies’ Gold Ring", "Rings", json!([])), "gender=Women");
    assert_eq!(
        attributes("Perfume for Men", "Perfumes", json!([])),
        "",
        "worn by nobody"
    );
    assert_eq!(attributes("Menthol Socks", "Socks", json!([])), "");
}

#[test]
fn an_option_that_asks_for_a_choice_is_known_by_what_it_asks_for() {
    let option = |name: &str| json!([{"name": name, "position": 1, "values": ["Red"]}]);
    for name in ["Select a Colour:", "CHOOSE YOUR COLOR", "Color (required)", "Farbe"] {
        assert_eq!(attributes("Mug", "", option(name)), "color=Red", "{name}");
    }
    assert_eq!(attributes("Mug", "", option("Bundle & Save")), "bundle & save=Red");
}

#[test]
fn a_record_of_more_text_than_any_product_has_goes_to_quarantine() {
    let mut vast = product(7, "10.00");
    let value = "\u{10348}".repeat(255);
    let variants = (0..2_048).map(|at| {
        json!({"id": 100 + at, "title": value, "option1": value, "option2": value, "option3": value, "sku": value,
            "available": true, "price": "1.00", "position": at + 1})
    });
    vast["options"] = json!([{"name": "A"}, {"name": "B"}, {"name": "C"}]);
    vast["variants"] = variants.collect();
    let catalogue = catalogue("INR", &[page(&[vast, product(8, "10.00")])]);
    assert_eq!(catalogue.products.len(), 1);
    assert!(
        catalogue.quarantined[0].reason.starts_with("record: "),
        "{:?}",
        catalogue.quarantined
    );
}

#[test]
fn the_variants_of_a_product_that_stands_on_several_pages_are_counted_once() {
    let mut builder = CatalogueBuilder::new(context("EUR"));
    let mut grown = product(2, "5.00");
    grown["updated_at"] = json!("2025-02-01T00:00:00Z");
    grown["variants"] = json!([
        {"id": 20, "title": "S", "option1": "S", "price": "5.00"},
        {"id": 21, "title": "M", "option1": "M", "price": "5.00"},
    ]);
    let pages = [
        page(&[product(1, "5.00"), product(2, "5.00")]),
        page(&[grown, product(3, "5.00")]),
        page(&[product(2, "5.00")]),
    ];
    for (page, variants) in pages.iter().zip([2, 4, 4]) {
        builder.page(page.to_string().as_bytes()).unwrap();
        assert_eq!(builder.variants(), variants);
    }
}
