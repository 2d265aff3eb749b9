//! Writes products in the format of the ACP feed (Agentic Commerce Protocol, 2026-04-17): one object per product, with
//! its variants.

use data_model::{Product, Variant};
use serde_json::{Value, json};

use crate::row::{Availability, FeedOptions, Row, Seller, prices, rows};

/// Appends a product as one line of JSON. Unknown fields and variants without a title are left out. A product without
/// remaining variants is not added.
pub fn write_acp(product: &Product, seller: Seller<'_>, to: &mut Vec<u8>) {
    let rows: Vec<Row> = rows(product, seller, FeedOptions::default()).collect();
    let Some(first) = rows.first() else { return };
    let variants = rows.iter().zip(&product.variants);
    let variants: Vec<Value> = variants
        .filter(|(row, _)| row.title.is_some())
        .map(|(row, own)| variant(product, row, own, seller))
        .collect();
    if variants.is_empty() {
        return;
    }
    let images = first.image_link.iter().chain(&first.additional_image_link);
    let whole = known(json!({
        "id": first.product_id,
        "title": crate::text::line(&product.title),
        "description": first.description.as_ref().map(|plain| json!({ "plain": plain })),
        "url": crate::text::page(&seller.brand.base_url, &product.handle, None),
        "media": images.map(|url| image(url)).collect::<Vec<_>>(),
        "variants": variants,
    }));
    to.extend_from_slice(whole.to_string().as_bytes());
    to.push(b'\n');
}

fn variant(product: &Product, row: &Row, variant: &Variant, seller: Seller<'_>) -> Value {
    let (full, reduced) = prices(product, variant);
    let price = |money: data_model::Money| json!({ "amount": money.minor(), "currency": product.currency.as_str() });
    let google = row
        .google_product_category
        .map(|id| json!({ "value": id.to_string(), "taxonomy": "google_product_category" }));
    let own = row
        .product_type
        .as_ref()
        .map(|value| json!({ "value": value, "taxonomy": "merchant" }));
    let options = variant.options.iter();
    known(json!({
        "id": row.id,
        "title": row.title,
        "url": row.link,
        "barcodes": row.gtin.iter().map(|gtin| json!({ "type": "GTIN", "value": gtin })).collect::<Vec<_>>(),
        "price": reduced.or(full).map(price),
        "list_price": reduced.and(full).map(price),
        "availability": { "available": row.availability == Availability::InStock, "status": row.availability.as_str() },
        "categories": google.into_iter().chain(own).collect::<Vec<_>>(),
        "variant_options": options.map(|one| json!({ "name": one.name, "value": one.value })).collect::<Vec<_>>(),
        "media": row.image_link.iter().map(|url| image(url)).collect::<Vec<_>>(),
        "seller": { "name": seller.brand.name },
    }))
}

fn image(url: &str) -> Value {
    json!({ "type": "image", "url": url })
}

fn known(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    object
}
