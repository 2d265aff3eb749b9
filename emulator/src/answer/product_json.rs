use serde::Serialize;

use crate::edit::LISTED_VARIANTS_MAX;
use crate::json::platform_bytes;
use crate::product::{Image, Product, Variant};
use crate::reply::Reply;

#[derive(Serialize)]
struct Envelope<'a> {
    product: Detail<'a>,
}

/// Response of `/products/{handle}.json`. Unlike in the listing, tags are one text and availability is missing.
#[derive(Serialize)]
struct Detail<'a> {
    id: u64,
    title: &'a str,
    body_html: Option<&'a str>,
    vendor: &'a str,
    product_type: &'a str,
    created_at: Option<&'a str>,
    handle: &'a str,
    updated_at: Option<&'a str>,
    published_at: Option<&'a str>,
    template_suffix: &'a str,
    published_scope: &'a str,
    tags: String,
    variants: Vec<DetailVariant<'a>>,
    options: Vec<DetailOption<'a>>,
    images: Vec<DetailImage<'a>>,
    image: Option<DetailImage<'a>>,
}

#[derive(Serialize)]
struct DetailVariant<'a> {
    id: u64,
    product_id: u64,
    title: &'a str,
    price: &'a str,
    sku: &'a str,
    position: usize,
    compare_at_price: &'a str,
    fulfillment_service: &'a str,
    inventory_management: &'a str,
    option1: Option<&'a str>,
    option2: Option<&'a str>,
    option3: Option<&'a str>,
    created_at: Option<&'a str>,
    updated_at: Option<&'a str>,
    taxable: bool,
    barcode: &'a str,
    grams: u64,
    image_id: Option<u64>,
    weight: f64,
    weight_unit: &'a str,
    requires_shipping: bool,
    price_currency: &'a str,
    compare_at_price_currency: &'a str,
}

#[derive(Serialize)]
struct DetailOption<'a> {
    id: u64,
    product_id: u64,
    name: &'a str,
    position: u64,
    values: &'a [String],
}

#[derive(Serialize)]
struct DetailImage<'a> {
    id: u64,
    product_id: u64,
    position: usize,
    created_at: Option<&'a str>,
    updated_at: Option<&'a str>,
    alt: Option<&'a str>,
    width: Option<u64>,
    height: Option<u64>,
    src: &'a str,
    variant_ids: &'a [u64],
}

pub(crate) fn product_json(product: &Product, currency: &str) -> Option<Reply> {
    let image = |nth: usize, image| detail_image(product.id, nth, image);
    let detail = Detail {
        id: product.id,
        title: &product.title,
        body_html: product.body_html.as_deref(),
        vendor: product.vendor.as_deref().unwrap_or_default(),
        product_type: product.product_type.as_deref().unwrap_or_default(),
        created_at: product.created_at.as_deref(),
        handle: &product.handle,
        updated_at: product.updated_at.as_deref(),
        published_at: product.published_at.as_deref(),
        template_suffix: "",
        published_scope: "global",
        tags: product.tags().join(", "),
        variants: product
            .variants
            .iter()
            .enumerate()
            .take(LISTED_VARIANTS_MAX)
            .map(|(nth, it)| detail_variant(product.id, nth, it, currency))
            .collect(),
        options: product
            .options
            .iter()
            .map(|option| DetailOption {
                id: 9_000_000_000_000 + (product.id % 1_000_000_000) * 3 + option.position,
                product_id: product.id,
                name: &option.name,
                position: option.position,
                values: &option.values,
            })
            .collect(),
        images: product
            .images
            .iter()
            .enumerate()
            .map(|(nth, it)| image(nth, it))
            .collect(),
        image: product.images.first().map(|first| image(0, first)),
    };
    Some(Reply::json(platform_bytes(&serde_json::to_vec(&Envelope { product: detail }).ok()?)).validated())
}

fn detail_variant<'a>(product_id: u64, nth: usize, variant: &'a Variant, currency: &'a str) -> DetailVariant<'a> {
    let compare_at_price = variant.compare_at_price.as_deref().unwrap_or_default();
    DetailVariant {
        id: variant.id,
        product_id,
        title: &variant.title,
        price: &variant.price,
        sku: variant.sku.as_deref().unwrap_or_default(),
        position: nth + 1,
        compare_at_price,
        fulfillment_service: "manual",
        inventory_management: "shopify",
        option1: variant.option1.as_deref(),
        option2: variant.option2.as_deref(),
        option3: variant.option3.as_deref(),
        created_at: variant.created_at.as_deref(),
        updated_at: variant.updated_at.as_deref(),
        taxable: variant.taxable,
        barcode: variant.barcode.as_deref().unwrap_or_default(),
        grams: variant.grams,
        image_id: variant.featured_image.as_ref().map(|image| image.id),
        weight: variant.grams as f64 / 1000.0,
        weight_unit: "kg",
        requires_shipping: variant.requires_shipping,
        price_currency: currency,
        compare_at_price_currency: if compare_at_price.is_empty() { "" } else { currency },
    }
}

fn detail_image(product_id: u64, nth: usize, image: &Image) -> DetailImage<'_> {
    DetailImage {
        id: image.id,
        product_id,
        position: nth + 1,
        created_at: image.created_at.as_deref(),
        updated_at: image.updated_at.as_deref(),
        alt: None,
        width: image.width,
        height: image.height,
        src: &image.src,
        variant_ids: &image.variant_ids,
    }
}
