use serde::Serialize;

use crate::edit::LISTED_VARIANTS_MAX;
use crate::json::platform_bytes;
use crate::product::{Choice, Image, Product, Variant, hundredths, schemeless};
use crate::reply::Reply;

/// Response of `/products/{handle}.js` in the documented Ajax API: a bare object with prices in hundredths.
#[derive(Serialize)]
struct Script<'a> {
    id: u64,
    title: &'a str,
    handle: &'a str,
    description: &'a str,
    published_at: Option<&'a str>,
    created_at: Option<&'a str>,
    vendor: &'a str,
    #[serde(rename = "type")]
    product_type: &'a str,
    tags: Vec<&'a str>,
    price: u64,
    price_min: u64,
    price_max: u64,
    available: bool,
    price_varies: bool,
    compare_at_price: Option<u64>,
    compare_at_price_min: u64,
    compare_at_price_max: u64,
    compare_at_price_varies: bool,
    variants: Vec<ScriptVariant<'a>>,
    images: Vec<&'a str>,
    featured_image: Option<&'a str>,
    options: &'a [Choice],
    url: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Medium<'a>>,
    requires_selling_plan: bool,
    selling_plan_groups: [(); 0],
}

#[derive(Serialize)]
struct ScriptVariant<'a> {
    id: u64,
    title: &'a str,
    option1: Option<&'a str>,
    option2: Option<&'a str>,
    option3: Option<&'a str>,
    sku: Option<&'a str>,
    requires_shipping: bool,
    taxable: bool,
    featured_image: Option<FeaturedImage<'a>>,
    available: bool,
    name: String,
    public_title: Option<&'a str>,
    options: Vec<&'a str>,
    price: u64,
    weight: u64,
    compare_at_price: Option<u64>,
    inventory_management: &'a str,
    barcode: &'a str,
    quantity_rule: QuantityRule,
    quantity_price_breaks: [(); 0],
    requires_selling_plan: bool,
    selling_plan_allocations: [(); 0],
}

#[derive(Serialize)]
struct QuantityRule {
    min: u64,
    max: Option<u64>,
    increment: u64,
}

#[derive(Serialize)]
struct FeaturedImage<'a> {
    id: u64,
    product_id: u64,
    position: usize,
    created_at: Option<&'a str>,
    updated_at: Option<&'a str>,
    alt: Option<&'a str>,
    width: u64,
    height: u64,
    src: &'a str,
    variant_ids: &'a [u64],
}

#[derive(Serialize)]
struct Medium<'a> {
    alt: Option<&'a str>,
    id: u64,
    position: usize,
    preview_image: Preview<'a>,
    aspect_ratio: f64,
    height: u64,
    media_type: &'a str,
    src: &'a str,
    width: u64,
}

#[derive(Serialize)]
struct Preview<'a> {
    aspect_ratio: f64,
    height: u64,
    width: u64,
    src: &'a str,
}

/// Returns the `.js` view of a product, or `None` if a price is not an amount.
pub(crate) fn product_js(product: &Product) -> Option<Reply> {
    let prices = product
        .variants
        .iter()
        .map(|variant| hundredths(&variant.price))
        .collect::<Option<Vec<_>>>()?;
    let compares: Vec<u64> = product.variants.iter().filter_map(compare_at).collect();
    let (price_min, price_max) = (*prices.iter().min()?, *prices.iter().max()?);
    let (compare_min, compare_max) = (compares.iter().min().copied(), compares.iter().max().copied());
    let script = Script {
        id: product.id,
        title: &product.title,
        handle: &product.handle,
        description: product.body_html.as_deref().unwrap_or_default(),
        published_at: product.published_at.as_deref(),
        created_at: product.created_at.as_deref(),
        vendor: product.vendor.as_deref().unwrap_or_default(),
        product_type: product.product_type.as_deref().unwrap_or_default(),
        tags: product.tags(),
        price: price_min,
        price_min,
        price_max,
        available: product.available(),
        price_varies: price_min != price_max,
        compare_at_price: compare_min,
        compare_at_price_min: compare_min.unwrap_or(0),
        compare_at_price_max: compare_max.unwrap_or(0),
        compare_at_price_varies: compare_min != compare_max,
        variants: product
            .variants
            .iter()
            .zip(prices)
            .take(LISTED_VARIANTS_MAX)
            .map(|(variant, price)| script_variant(product, variant, price))
            .collect(),
        images: product.images.iter().map(|image| schemeless(&image.src)).collect(),
        featured_image: product.images.first().map(|image| schemeless(&image.src)),
        options: &product.options,
        url: format!("/products/{}", product.handle),
        media: product
            .images
            .iter()
            .enumerate()
            .map(|(nth, image)| medium(nth, image))
            .collect(),
        requires_selling_plan: false,
        selling_plan_groups: [],
    };
    Some(Reply::script(platform_bytes(&serde_json::to_vec(&script).ok()?)).validated())
}

fn compare_at(variant: &Variant) -> Option<u64> {
    hundredths(variant.compare_at_price.as_deref()?)
}

fn script_variant<'a>(product: &'a Product, variant: &'a Variant, price: u64) -> ScriptVariant<'a> {
    let public_title = (!variant.is_default()).then_some(variant.title.as_str());
    ScriptVariant {
        id: variant.id,
        title: &variant.title,
        option1: variant.option1.as_deref(),
        option2: variant.option2.as_deref(),
        option3: variant.option3.as_deref(),
        sku: variant.sku.as_deref(),
        requires_shipping: variant.requires_shipping,
        taxable: variant.taxable,
        featured_image: variant.featured_image.as_ref().map(|image| featured(product, image)),
        available: variant.available,
        name: public_title.map_or_else(|| product.title.clone(), |title| format!("{} - {title}", product.title)),
        public_title,
        options: variant.options(),
        price,
        weight: variant.grams,
        compare_at_price: compare_at(variant),
        inventory_management: "shopify",
        barcode: variant.barcode.as_deref().unwrap_or_default(),
        quantity_rule: QuantityRule {
            min: 1,
            max: None,
            increment: 1,
        },
        quantity_price_breaks: [],
        requires_selling_plan: false,
        selling_plan_allocations: [],
    }
}

fn featured<'a>(product: &'a Product, image: &'a Image) -> FeaturedImage<'a> {
    FeaturedImage {
        id: image.id,
        product_id: product.id,
        position: product
            .images
            .iter()
            .position(|other| other.id == image.id)
            .map_or(1, |nth| nth + 1),
        created_at: image.created_at.as_deref(),
        updated_at: image.updated_at.as_deref(),
        alt: None,
        width: image.width.unwrap_or(0),
        height: image.height.unwrap_or(0),
        src: &image.src,
        variant_ids: &image.variant_ids,
    }
}

fn medium(nth: usize, image: &Image) -> Medium<'_> {
    let (width, height) = (image.width.unwrap_or(1).max(1), image.height.unwrap_or(1).max(1));
    let aspect_ratio = (width as f64 / height as f64 * 1000.0).round() / 1000.0;
    Medium {
        alt: None,
        id: image.id + 7,
        position: nth + 1,
        preview_image: Preview {
            aspect_ratio,
            height,
            width,
            src: &image.src,
        },
        aspect_ratio,
        height,
        media_type: "image",
        src: &image.src,
        width,
    }
}
