//! Tests that products with too little information are categorised by the store's other products.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_model::Product;
use google_taxonomy::ProductCategory;
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use serde_json::{Value, json};

/// Each page has products with an id, a product type and a title.
fn catalogue(pages: &[&[(u64, &str, &str)]]) -> Vec<Product> {
    let mut builder = CatalogueBuilder::new(StoreContext {
        store: "stall.myshopify.com".parse().unwrap(),
        currency: "INR".parse().unwrap(),
        base_url: "https://stall.example".into(),
    });
    for page in pages {
        let products: Vec<Value> = page.iter().map(|(id, kind, title)| product(*id, kind, title)).collect();
        builder
            .page(json!({ "products": products }).to_string().as_bytes())
            .unwrap();
    }
    builder.finish().products
}

fn product(id: u64, product_type: &str, title: &str) -> Value {
    json!({
        "id": id, "title": title, "handle": format!("product-{id}"), "body_html": null, "vendor": "Stall",
        "product_type": product_type, "tags": [], "images": [],
        "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}],
        "variants": [{"id": id * 10, "title": "Default Title", "option1": "Default Title", "sku": "", "available": true,
            "price": "499.00", "compare_at_price": null, "position": 1, "product_id": id}],
    })
}

#[test]
fn a_product_that_says_nothing_of_itself_is_filed_with_what_its_store_sells() {
    let titles: Vec<String> = (1..=9).map(|id| format!("Estate {id}")).collect();
    let coffees = titles.iter().zip(1..).map(|(title, id)| (id, "Coffee", title.as_str()));
    let first: Vec<_> = coffees.chain([(10, "", "Iris Valley")]).collect();
    let second = [(11, "", "Enamel Mug"), (12, "", "Gift Box")];
    let found = catalogue(&[&first, &second]);
    let category = |id: u64| {
        let mut products = found.iter();
        products.find(|product| product.key.platform_id == id).unwrap().category
    };
    assert_eq!(category(10), category(1), "as nearly all that the store sells");
    assert!(category(11).is_some_and(|mug| Some(mug) != category(1)));
    assert_eq!(category(12), None);
    let alone = catalogue(&[&[(10, "", "Iris Valley")], &second]);
    assert_eq!(alone[0].category, None);
}

#[test]
fn a_product_whose_words_name_nothing_is_filed_coarsely_with_what_it_means_if_the_store_sells_such_things() {
    const SOUND: [&str; 5] = [
        "Bluetooth Speaker",
        "Wireless Headphones",
        "Soundbar",
        "Turntable",
        "Subwoofer",
    ];
    const FOOD: [&str; 5] = [
        "Dark Chocolate Bar",
        "Potato Chips",
        "Green Tea",
        "Coffee Beans",
        "Honey",
    ];
    const SPORT: [&str; 3] = ["Yoga Mat", "Dumbbell", "Tennis Racket"];
    let path_in = |sold: &[&str], title: &str| {
        let others = sold.iter().zip(1..).map(|(title, id)| (id, "", *title));
        let page: Vec<_> = others.chain([(99, "", title)]).collect();
        let category = catalogue(&[&page]).pop().unwrap().category;
        category.map(|id| ProductCategory::from_id(id.0).unwrap().name())
    };
    let mixed = [&SOUND[..], &FOOD, &SPORT].concat();
    let found = path_in(&mixed, "Noise Cancelling Listening Gear");
    assert!(
        found.is_some_and(|path| path.starts_with("Electronics > Audio > ")),
        "{found:?}"
    );
    assert_eq!(
        path_in(&mixed, "Iris Valley"),
        None,
        "its vector is near nothing that is sold"
    );
    let without = [&FOOD[..], &SPORT].concat();
    assert_eq!(path_in(&without, "Noise Cancelling Listening Gear"), None);
}
