use data_index::RowAddress;
use data_model::{MediaKind, Money};

use super::markup::web_address;
use crate::render::json::{ObjectWriter, array, object, string};
use crate::served::Served;

/// Pictures of a product that are named.
const IMAGES_MAX: usize = 8;
/// Offers that are named one by one.
const OFFERS_MAX: usize = 100;

/// What the market knows of a product in the words of schema.org, for a `script` element: nothing in it ends that element.
pub(super) fn product(served: &Served, at: RowAddress) -> String {
    let mut out = Vec::with_capacity(2048);
    let Some(part) = served.release.part(at.part) else {
        return String::new();
    };
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let brand = &served.release.brand_of(at).facts.brand;
    object(&mut out, |object| {
        object.text("@context", "https://schema.org");
        object.text("@type", "Product");
        object.id("@id", format_args!("urn:uuid:{}", cards.id(at.row)));
        object.text("name", cards.title(at.row));
        if !details.description().is_empty() {
            object.text("description", details.description());
        }
        object.id("productID", cards.uid(at.row));
        let images = details.media().filter(|media| media.kind == MediaKind::Image);
        let media = images.map(|media| media.url);
        let mut images: Vec<&str> = cards
            .image(at.row)
            .into_iter()
            .chain(media)
            .filter_map(web_address)
            .collect();
        let mut seen = std::collections::HashSet::new();
        images.retain(|url| seen.insert(*url));
        if !images.is_empty() {
            object.array("image", images.into_iter().take(IMAGES_MAX), string);
        }
        object.object("brand", |object| {
            object.text("@type", "Brand");
            object.text("name", &brand.name);
        });
        if let Some(category) = cards.category(at.row).and_then(data_index::taxonomy::by_id) {
            object.text("category", category.path);
        }
        if let Some(rating) = part.rating(at.row).filter(|rating| rating.count > 0) {
            object.object("aggregateRating", |object| {
                object.text("@type", "AggregateRating");
                object.number_or_null("ratingValue", Some(rating.average));
                object.integer("ratingCount", rating.count);
                object.integer("bestRating", 5);
            });
        }
        offers(object, served, at);
    });
    inert(&String::from_utf8_lossy(&out))
}

/// An offer for each variant, sold by the brand's own store. What has no price is not offered.
fn offers(object: &mut ObjectWriter<'_>, served: &Served, at: RowAddress) {
    let Some(part) = served.release.part(at.part) else {
        return;
    };
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let brand = &served.release.brand_of(at).facts.brand;
    let currency = cards.currency(at.row);
    let url = format!("{}/products/{}", brand.base_url, details.handle());
    let decimal = |minor| {
        let money = Money::from_minor(minor, currency)
            .ok()
            .filter(|money| money.minor() > 0)?;
        money.to_string().split(' ').next().map(str::to_owned)
    };
    let priced = details
        .variants()
        .filter_map(|variant| Some((decimal(variant.price_minor)?, variant)));
    let offered: Vec<_> = priced.take(OFFERS_MAX).collect();
    if offered.is_empty() {
        return;
    }
    array(object.name("offers"), offered, |out, (price, variant)| {
        crate::render::json::object(out, |object| {
            object.text("@type", "Offer");
            if let Some(sku) = variant.sku {
                object.text("sku", sku);
            }
            object.text("price", &price);
            object.text("priceCurrency", currency.as_str());
            let stock = if variant.available { "InStock" } else { "OutOfStock" };
            object.id("availability", format_args!("https://schema.org/{stock}"));
            object.text("url", &url);
            object.object("seller", |object| {
                object.text("@type", "Organization");
                object.text("name", &brand.name);
                object.text("url", &brand.base_url);
            });
        });
    });
}

/// The store of a brand in the words of schema.org, for a `script` element.
pub(super) fn brand(entry: &data_index::BrandEntry) -> String {
    let brand = &entry.facts.brand;
    let mut out = Vec::with_capacity(512);
    object(&mut out, |object| {
        object.text("@context", "https://schema.org");
        object.text("@type", "OnlineStore");
        object.text("name", &brand.name);
        object.text("url", &brand.base_url);
        if let Some(logo) = brand.logo.as_deref().and_then(web_address) {
            object.text("logo", logo);
        }
        if let Some(description) = &brand.description {
            object.text("description", description);
        }
    });
    inert(&String::from_utf8_lossy(&out))
}

/// JSON that reads the same and holds nothing by which a browser ends or begins an element (HTML standard, 13.2.5.4 on
/// script data), or that older scripts take for the end of a line.
fn inert(json: &str) -> String {
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
                let written = inert(&json);
                prop_assert!(!written.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{}", written);
                prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
            }
        }
    }
}
