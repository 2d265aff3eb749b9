use data_model::{Brand, BrandRefresh, Product, ProductKey, Timestamp, Variant, VariantId, slugify};

/// Creates a brand with this name and prices in rupees. For example, `Blue Tokai` has the store
/// `blue-tokai.myshopify.example`.
#[must_use]
pub fn brand(name: &str) -> Brand {
    let slug = slugify(name).unwrap();
    Brand {
        store: format!("{slug}.myshopify.example").parse().unwrap(),
        name: name.to_owned(),
        domain: format!("{slug}.example"),
        base_url: format!("https://{slug}.example"),
        currency: "INR".parse().unwrap(),
        country: Some("IN".to_owned()),
        crawl_country: None,
        logo: None,
        description: None,
        slug,
    }
}

/// Creates a product with one variant at 100.00, in stock. The variant's id is ten times the product's. All other data
/// is empty.
#[must_use]
pub fn product(brand: &Brand, platform_id: u64, title: &str) -> Product {
    Product {
        key: ProductKey {
            store: brand.store.clone(),
            platform_id,
        },
        handle: slugify(title).map_or_else(|| format!("p{platform_id}"), |slug| slug.to_string()),
        title: title.to_owned(),
        description: String::new(),
        vendor: None,
        product_type: None,
        category: None,
        tags: Vec::new(),
        options: Vec::new(),
        attributes: Vec::new(),
        media: Vec::new(),
        variants: vec![variant(platform_id.wrapping_mul(10), 10_000)],
        currency: brand.currency,
        rating: None,
        reviews: Vec::new(),
        created_at: None,
        published_at: None,
        updated_at: None,
    }
}

/// Creates a variant at this price, in stock; all other data is empty.
#[must_use]
pub fn variant(id: u64, price_minor: i64) -> Variant {
    Variant {
        id: VariantId(id),
        title: String::new(),
        sku: None,
        barcode: None,
        size: None,
        options: Vec::new(),
        price_minor,
        compare_at_minor: None,
        available: true,
        grams: None,
        image: None,
    }
}

/// Creates the result of run number `run` for a brand.
#[must_use]
pub fn refresh(brand: Brand, run: i64, observed_at: Timestamp, products: Vec<Product>) -> BrandRefresh {
    BrandRefresh {
        brand,
        run: format!("run-{run}").parse().unwrap(),
        read_since: observed_at,
        observed_at,
        products,
        shipping: None,
        quarantined: Vec::new(),
    }
}
