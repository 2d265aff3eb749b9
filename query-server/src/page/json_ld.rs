use std::collections::HashSet;

use data_index::{BrandEntry, Part, RowAddress, taxonomy};
use data_model::{MediaKind, Money, ProductUid};
use serde::Serialize;

use super::markup::web_address;
use crate::render::json;
use crate::served::ReleaseView;

const CONTEXT: &str = "https://schema.org";

/// Maximum number of product pictures in JSON-LD.
const IMAGES_MAX: usize = 8;
/// Maximum number of offers listed individually.
const OFFERS_MAX: usize = 100;

/// Product in schema.org vocabulary.
#[derive(Serialize)]
struct Product<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "@id")]
    urn: String,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(rename = "productID")]
    uid: ProductUid,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    image: Vec<&'a str>,
    brand: Organization<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(rename = "aggregateRating", skip_serializing_if = "Option::is_none")]
    rating: Option<AggregateRating>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offers: Vec<Offer<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregateRating {
    #[serde(rename = "@type")]
    kind: &'static str,
    rating_value: f32,
    rating_count: u32,
    best_rating: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<&'a str>,
    price: String,
    price_currency: &'static str,
    availability: &'static str,
    url: String,
    seller: Organization<'a>,
}

/// Brand or its store in schema.org vocabulary.
#[derive(Serialize)]
struct Organization<'a> {
    #[serde(rename = "@context", skip_serializing_if = "Option::is_none")]
    context: Option<&'static str>,
    #[serde(rename = "@type")]
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logo: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
}

impl<'a> Organization<'a> {
    fn of(kind: &'static str, name: &'a str) -> Self {
        Self {
            context: None,
            kind,
            name,
            url: None,
            logo: None,
            description: None,
        }
    }
}

/// Returns the product as JSON-LD that is safe inside a `script` element.
pub(super) fn product(served: &ReleaseView, at: RowAddress) -> String {
    let Some(part) = served.release.part(at.part) else {
        return String::new();
    };
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let images = details.media().filter(|media| media.kind == MediaKind::Image);
    let images = cards.image(at.row).into_iter().chain(images.map(|media| media.url));
    let mut seen = HashSet::new();
    let images = images.filter_map(web_address).filter(|url| seen.insert(*url));
    let category = cards.category(at.row).and_then(taxonomy::by_id);
    let rating = part.rating(at.row).filter(|rating| rating.count > 0);
    let product = Product {
        context: CONTEXT,
        kind: "Product",
        urn: format!("urn:uuid:{}", cards.id(at.row)),
        name: cards.title(at.row),
        description: details.description(),
        uid: cards.uid(at.row),
        image: images.take(IMAGES_MAX).collect(),
        brand: Organization::of("Brand", &served.release.brand_of(at).facts.brand.name),
        category: category.map(|category| category.path),
        rating: rating.map(|rating| AggregateRating {
            kind: "AggregateRating",
            rating_value: rating.average,
            rating_count: rating.count,
            best_rating: 5,
        }),
        offers: offers(served, part, at),
    };
    inert(&json(2048, &product))
}

/// Returns an offer of the brand's store for each variant that has a price.
fn offers<'a>(served: &'a ReleaseView, part: &'a Part, at: RowAddress) -> Vec<Offer<'a>> {
    let details = part.details().row(at.row);
    let brand = &served.release.brand_of(at).facts.brand;
    let currency = part.cards().currency(at.row);
    let url = format!("{}/products/{}", brand.base_url, details.handle());
    let decimal = |minor| {
        let money = Money::from_minor(minor, currency)
            .ok()
            .filter(|money| money.minor() > 0)?;
        money.to_string().split(' ').next().map(str::to_owned)
    };
    let offers = details.variants().filter_map(|variant| {
        Some(Offer {
            kind: "Offer",
            sku: variant.sku,
            price: decimal(variant.price_minor)?,
            price_currency: currency.as_str(),
            availability: if variant.available {
                "https://schema.org/InStock"
            } else {
                "https://schema.org/OutOfStock"
            },
            url: url.clone(),
            seller: Organization {
                url: Some(&brand.base_url),
                ..Organization::of("Organization", &brand.name)
            },
        })
    });
    offers.take(OFFERS_MAX).collect()
}

/// Returns a brand's store as JSON-LD that is safe inside a `script` element.
pub(super) fn brand(entry: &BrandEntry) -> String {
    let brand = &entry.facts.brand;
    let store = Organization {
        context: Some(CONTEXT),
        url: Some(&brand.base_url),
        logo: brand.logo.as_deref().and_then(web_address),
        description: brand.description.as_deref(),
        ..Organization::of("OnlineStore", &brand.name)
    };
    inert(&json(512, &store))
}

/// Escapes JSON so that it can neither end nor start an HTML element (HTML standard, 13.2.5.4 on script data), nor
/// contain characters that older scripts treat as line ends. The JSON value stays the same.
fn inert(json: &[u8]) -> String {
    let json = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_made_inert_reads_the_same(text in any::<String>(), odd in "[<>&/!scriptSCRIPT\u{2028}-]{0,40}") {
            for text in [text, odd] {
                let json = serde_json::to_string(&text).unwrap();
                let written = inert(json.as_bytes());
                prop_assert!(!written.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{}", written);
                prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
            }
        }
    }
}
