use data_index::BrandFacts;
use data_model::{
    Attribute, Brand, CategoryId, Media, MediaKind, OptionValue, Product, ProductOption, Rating, Review, Variant,
};
pub(crate) use kit::variant;

use crate::support::Catalogue;

pub(crate) fn brand(name: &str, currency: &str) -> BrandFacts {
    kit::facts(Brand {
        currency: currency.parse().unwrap(),
        country: (currency == "INR").then(|| "IN".to_owned()),
        description: Some(format!("{name} makes things.")),
        ..kit::brand(name)
    })
}

/// Returns a product with one variant in stock at 100.00.
pub(crate) fn product(facts: &BrandFacts, platform_id: u64, title: &str) -> Product {
    kit::product(&facts.brand, platform_id, title)
}

fn media() -> Vec<Media> {
    vec![
        Media {
            url: "https://cdn.example/vienna.jpg".to_owned(),
            kind: MediaKind::Image,
            alt: Some("A bag".to_owned()),
            width: Some(800),
            height: Some(600),
        },
        Media {
            url: "https://cdn.example/vienna.mp4".to_owned(),
            kind: MediaKind::Video,
            alt: None,
            width: None,
            height: None,
        },
    ]
}

fn coffee(facts: &BrandFacts) -> Vec<Product> {
    let roast = |id, title: &str, price_minor, available| {
        let mut product = product(facts, id, title);
        product.category = Some(CategoryId(1868));
        product.product_type = Some("Coffee".to_owned());
        product.variants[0].price_minor = price_minor;
        product.variants[0].available = available;
        product
    };
    let mut vienna = roast(1, "Vienna Roast Coffee", 49_900, true);
    vienna.description = "A dark roast with notes of cocoa.\nBrew it \"strong\" & sweet.".to_owned();
    vienna.vendor = Some("Blue Tokai".to_owned());
    vienna.tags = vec!["dark".to_owned(), "best <seller>".to_owned()];
    vienna.options = vec![ProductOption {
        name: "Weight".to_owned(),
        values: vec!["250 g".to_owned(), "1 kg".to_owned()],
    }];
    vienna.attributes = vec![Attribute {
        name: "roast".to_owned(),
        values: vec!["Dark".to_owned()],
    }];
    vienna.media = media();
    let sized = |id, size: &str, sku: Option<&str>, price_minor, compare_at_minor| Variant {
        title: size.to_owned(),
        sku: sku.map(str::to_owned),
        options: vec![OptionValue {
            name: "Weight".to_owned(),
            value: size.to_owned(),
        }],
        compare_at_minor,
        ..variant(id, price_minor)
    };
    vienna.variants = vec![
        sized(11, "250 g", Some("VR-250"), 49_900, Some(59_900)),
        Variant {
            available: false,
            ..sized(12, "1 kg", None, 159_900, None)
        },
    ];
    vienna.rating = Some(Rating {
        average: 4.7,
        count: 128,
    });
    vienna.reviews = (0..3)
        .map(|at| Review {
            rating: 5.0 - at as f32,
            author: (at != 1).then(|| format!("Reader {at}")),
            title: None,
            body: format!("Review {at}"),
            created_at: (at == 0).then(|| "2026-11-01T00:00:00Z".parse().unwrap()),
        })
        .collect();
    vienna.created_at = Some("2025-01-02T03:04:05Z".parse().unwrap());
    vienna.published_at = Some("2025-01-03T00:00:00Z".parse().unwrap());
    vienna.updated_at = Some("2026-11-19T00:00:00Z".parse().unwrap());
    let mut brew = roast(2, "Cold Brew Bags", 60_000, true);
    brew.published_at = Some("2026-06-01T00:00:00Z".parse().unwrap());
    brew.description = "Steep overnight. For coffee without a machine.".to_owned();
    vec![
        vienna,
        brew,
        roast(3, "Attikan Estate Coffee", 55_000, false),
        roast(4, "Coffee Gift Crate", 100_000, true),
    ]
}

fn shirts(facts: &BrandFacts) -> Vec<Product> {
    let shirt = |id, title: &str, color: &str, price_minor, rating| {
        let mut product = product(facts, id, title);
        product.category = Some(CategoryId(212));
        product.variants[0].price_minor = price_minor;
        product.attributes = vec![Attribute {
            name: "color".to_owned(),
            values: vec![color.to_owned()],
        }];
        product.rating = Some(Rating {
            average: rating,
            count: 10,
        });
        product
    };
    let mut linen = shirt(5, "Linen Shirt", "Navy", 249_900, 4.2);
    linen.variants[0].compare_at_minor = Some(299_900);
    vec![
        linen,
        shirt(6, "Cotton Shirt", "White", 149_900, 4.9),
        shirt(7, "Café Apron — ग्रीन", "Green", 89_900, 3.8),
    ]
}

/// Returns three brands with nine products in two currencies.
pub(crate) fn small() -> Catalogue {
    let (tokai, loom, kissa) = (
        brand("Blue Tokai", "INR"),
        brand("Loom & Thread", "INR"),
        brand("Kissaten", "JPY"),
    );
    let (coffees, shirts) = (coffee(&tokai), shirts(&loom));
    let mut drip = product(&kissa, 8, "Drip Coffee Kettle");
    drip.variants[0].price_minor = 4_400;
    vec![
        (tokai, coffees),
        (kissa.clone(), vec![drip, product(&kissa, 9, "Paper Filter 100 pcs")]),
        (loom, shirts),
    ]
}
