use data_model::{Rating, StatedBarcode};
use serde_json::{Map, Value};

use crate::barcodes;
use crate::nodes::{NODES_MAX, one_or_many};

const REVIEWS_MAX: usize = 100;
const REVIEW_BYTES_MAX: usize = 20_000;

const PRODUCTS_MAX: usize = 200;

/// Facts about a product from its product page, in addition to the catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageFacts {
    /// Rating on a scale of five. `None` if the product has no rating yet.
    pub rating: Option<Rating>,
    /// Reviews in the page's order.
    pub reviews: Vec<RawReview>,
    /// Barcodes of the product's variants.
    pub barcodes: Vec<StatedBarcode>,
}

/// Review of a page. Its texts may contain HTML.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawReview {
    /// Stars on a scale of five.
    pub rating: f32,
    /// Author of the review.
    pub author: Option<String>,
    /// Headline of the review.
    pub title: Option<String>,
    /// Text of the review.
    pub body: String,
    /// Date of the review, as text.
    pub date: Option<String>,
}

pub(crate) fn facts(documents: &[Value]) -> PageFacts {
    let products = products(documents);
    let Some(first) = products.first() else {
        return PageFacts::default();
    };
    let mut facts = PageFacts::default();
    for product in products.iter().filter(|product| same_product(first, product)) {
        for member in [product.get("aggregateRating"), product.get("AggregateRating")]
            .into_iter()
            .flatten()
        {
            for rating in one_or_many(member).filter_map(aggregate) {
                if facts.rating.is_none_or(|known| rating.count > known.count) {
                    facts.rating = Some(rating);
                }
            }
        }
        barcodes::add(product, &mut facts.barcodes);
        for member in [product.get("review"), product.get("reviews")].into_iter().flatten() {
            for review in one_or_many(member).filter_map(review) {
                if facts.reviews.len() < REVIEWS_MAX && !facts.reviews.contains(&review) {
                    facts.reviews.push(review);
                }
            }
        }
    }
    facts
}

/// Returns the products that the documents describe, in document order, each before its variants. Products that are
/// only mentioned, such as related products or list items, are left out.
fn products(documents: &[Value]) -> Vec<&Map<String, Value>> {
    let mut products = Vec::new();
    let mut pending: Vec<&Value> = documents.iter().rev().collect();
    for _ in 0..NODES_MAX {
        let Some(node) = pending.pop() else { break };
        match node {
            Value::Array(items) => pending.extend(items.iter().rev().take(NODES_MAX)),
            Value::Object(members) => {
                let parts = ["isVariantOf", "hasVariant", "mainEntityOfPage", "mainEntity", "@graph"];
                pending.extend(parts.into_iter().filter_map(|part| members.get(part)));
                if is_product(members) && products.len() < PRODUCTS_MAX {
                    products.push(members);
                }
            }
            _ => {}
        }
    }
    products
}

fn is_product(members: &Map<String, Value>) -> bool {
    let kind = |kind: &Value| {
        let name = kind.as_str().unwrap_or_default().trim();
        let name = name.rsplit(['/', ':', '#']).next().unwrap_or_default();
        ["Product", "ProductGroup", "IndividualProduct", "ProductModel"].contains(&name)
    };
    members.get("@type").is_some_and(|types| one_or_many(types).any(kind))
}

/// Returns true if both nodes describe the same product: one is a variant of the other, or their `@id` or `name` is
/// equal. If neither can be compared, `url` or, without it, `sku` must not differ.
fn same_product(first: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if std::ptr::eq(first, other) || is_variant_of(first, other) || is_variant_of(other, first) {
        return true;
    }
    let text = |product: &Map<String, Value>, name: &str| {
        product
            .get(name)
            .and_then(Value::as_str)
            .map(|text| text.trim().to_lowercase())
            .filter(|text| !text.is_empty())
    };
    let agree = |name: &str| text(first, name).zip(text(other, name)).map(|(one, two)| one == two);
    match (agree("@id"), agree("name")) {
        (Some(true), _) | (_, Some(true)) => true,
        (Some(false), _) | (_, Some(false)) => false,
        (None, None) => agree("url").or(agree("sku")).unwrap_or(true),
    }
}

fn is_variant_of(group: &Map<String, Value>, variant: &Map<String, Value>) -> bool {
    let holds =
        |part: &Value| one_or_many(part).any(|part| part.as_object().is_some_and(|part| std::ptr::eq(part, variant)));
    ["hasVariant", "isVariantOf"]
        .into_iter()
        .filter_map(|name| group.get(name))
        .any(holds)
}

/// Returns `None` if there are no ratings.
fn aggregate(node: &Value) -> Option<Rating> {
    let count = |name: &str| node.get(name).and_then(whole).filter(|count| *count > 0);
    let count = count("ratingCount").or_else(|| count("reviewCount"))?;
    Some(Rating {
        average: stars(node)?,
        count,
    })
}

fn review(node: &Value) -> Option<RawReview> {
    let rating = one_or_many(node.get("reviewRating")?).find_map(stars)?;
    let text = |name: &str| node.get(name).and_then(named).filter(|text| !text.trim().is_empty());
    let body = text("reviewBody").or_else(|| text("description")).unwrap_or_default();
    let title = text("headline").or_else(|| text("name"));
    Some(RawReview {
        rating,
        author: text("author"),
        title,
        body,
        date: text("datePublished").or_else(|| text("dateCreated")),
    })
}

/// Returns a text, or the name of the described object.
fn named(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Array(items) => return items.first().filter(|item| !item.is_array()).and_then(named),
        Value::Object(members) => members.get("name")?.as_str()?,
        _ => return None,
    };
    Some(text[..text.floor_char_boundary(REVIEW_BYTES_MAX)].to_owned())
}

/// Returns the rating of a node on a scale of five, or `None` if the value is outside of its own scale.
fn stars(node: &Value) -> Option<f32> {
    let value = decimal(node.get("ratingValue")?)?;
    let best = match node.get("bestRating") {
        Some(best) if !best.is_null() => decimal(best)?,
        _ => 5.0,
    };
    let on_scale = best > 0.0 && value >= 0.0 && value <= best;
    // If the scale is already five, the value stays exact.
    let stars = if (best - 5.0).abs() < f64::EPSILON {
        value
    } else {
        value / best * 5.0
    };
    on_scale.then_some(stars as f32)
}

/// Reads a number, also in the form of text (`"4.80"`, `"4,8"`).
fn decimal(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().replace(',', ".").parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// Reads an integer, also in the form of text (`"1,204"`).
fn whole(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => {
            let whole = number
                .as_u64()
                .or_else(|| number.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as u64))?;
            u32::try_from(whole).ok()
        }
        Value::String(text) => {
            let text = text.trim();
            let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
            digits.then(|| text.replace(',', "").parse().ok()).flatten()
        }
        _ => None,
    }
}
