use serde_json::{Value, json};

use super::announcement;
use crate::generated::dice::fold;
use crate::generated::push_html;
use crate::generated::reviews::{self, Ratings};
use crate::json::platform_bytes;
use crate::product::Product;
use crate::reply::Reply;
use crate::shop::Shop;
use crate::tokens::tokens;
use crate::widgets;

/// Returns the product's HTML page, with the structured data that themes and review apps add.
pub(crate) fn product_html(shop: &Shop, place: u64, product: &Product, currency: &str) -> Reply {
    let epoch = shop.epoch();
    let ratings = shop
        .catalogue
        .sketch(place, epoch)
        .and_then(|sketch| reviews::draw(&sketch));
    let mut blocks = vec![theme_block(shop, product, currency)];
    if let Some(ratings) = &ratings {
        // One store in three has its ratings in the theme's structured data. Elsewhere the review app adds a block of
        // its own.
        if shop.catalogue.persona().shop_id().is_multiple_of(3) {
            if let Some(block) = blocks[0].as_object_mut() {
                rate(block, ratings, shop);
            }
        } else {
            let mut block = serde_json::Map::new();
            block.insert("@context".into(), json!("http://schema.org/"));
            block.insert("@type".into(), json!("Product"));
            block.insert(
                "@id".into(),
                json!(format!("{}/products/{}#product", shop.address.base_url, product.handle)),
            );
            block.insert("name".into(), json!(product.title));
            rate(&mut block, ratings, shop);
            blocks.push(Value::Object(block));
        }
    }
    if fold(&[product.id]).is_multiple_of(11) {
        blocks = vec![json!({"@context": "https://schema.org", "@graph": blocks})];
    }
    let scripts: String = blocks
        .iter()
        .map(|block| {
            let text = platform_bytes(block.to_string().as_bytes());
            format!(
                "<script type=\"application/ld+json\">\n{}\n</script>\n",
                String::from_utf8_lossy(&text)
            )
        })
        .collect();
    let main = main(product, currency, ratings.as_ref());
    let page = page_in(shop, currency, &product.title, &scripts, &main);
    Reply::html(200, page).validated()
}

/// Returns a page of the store with the platform's identifying markup and these parts.
pub(crate) fn page(shop: &Shop, title: &str, head: &str, main: &str) -> String {
    page_in(shop, &shop.address.currency, title, head, main)
}

/// Returns a page that states this currency for its prices.
pub(super) fn page_in(shop: &Shop, currency: &str, title: &str, head: &str, main: &str) -> String {
    let (mut title_html, mut name_html) = (String::new(), String::new());
    push_html(&mut title_html, title);
    push_html(&mut name_html, &shop.address.name);
    let persona = shop.catalogue.persona();
    let (country, shop_id) = (persona.coin.country, persona.shop_id());
    let token = tokens(shop).public;
    let (bar, widget) = (announcement::bar(shop), widgets::tag(shop));
    format!(
        "<!doctype html>\n<html class=\"no-js\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title_html} &ndash; {name_html}</title>\n\
         <meta property=\"og:site_name\" content=\"{name_html}\">\n\
         <script>var Shopify = Shopify || {{}};\nShopify.shop = \"{shop_host}\";\nShopify.locale = \"en\";\n\
         Shopify.currency = {{\"active\":\"{currency}\",\"rate\":\"1.0\"}};\nShopify.country = \"{country}\";</script>\n\
         <script id=\"shopify-features\" type=\"application/json\">{{\"accessToken\":\"{token}\",\"shopId\":{shop_id}}}</script>\n\
         {widget}{head}</head>\n<body style=\"font-family:Georgia,serif;max-width:60rem;margin:2rem auto;padding:0 1rem\">\n\
         {bar}<header><a href=\"/\">{name_html}</a></header>\n<main>\n{main}\n</main>\n</body>\n</html>\n",
        shop_host = shop.address.myshopify_domain,
    )
}

fn main(product: &Product, currency: &str, ratings: Option<&Ratings>) -> String {
    let mut title = String::new();
    push_html(&mut title, &product.title);
    let mut out = format!("<h1 class=\"product__title\">{title}</h1>\n");
    for image in product.images.iter().take(4) {
        let mut src = String::new();
        push_html(&mut src, &image.src);
        out.push_str(&format!(
            "<img src=\"{src}\" alt=\"{title}\" width=\"280\" height=\"280\" loading=\"lazy\">\n"
        ));
    }
    if let Some(first) = product.variants.first() {
        out.push_str(&format!("<p class=\"price\">{} {}</p>\n", currency, first.price));
    }
    if let Some(ratings) = ratings {
        let stars = ratings.mean_hundredths as f64 / 100.0;
        out.push_str(&format!(
            "<div class='jdgm-prev-badge' data-average-rating='{stars:.2}' data-number-of-reviews='{}'></div>\n",
            ratings.count
        ));
    }
    out.push_str(product.body_html.as_deref().unwrap_or_default());
    out
}

/// Returns the theme's structured data: one product with its offers, or a product group with variants, as in newer
/// themes.
fn theme_block(shop: &Shop, product: &Product, currency: &str) -> Value {
    let base = &shop.address.base_url;
    let url = format!("{base}/products/{}", product.handle);
    let is_group = shop.catalogue.persona().shop_id().is_multiple_of(2) && product.variants.len() > 1;
    let offers: Vec<Value> = product
        .variants
        .iter()
        .map(|variant| {
            let stock = if variant.available { "InStock" } else { "OutOfStock" };
            let mut offer = json!({
                "@type": "Offer",
                "availability": format!("http://schema.org/{stock}"),
                "price": variant.price,
                "priceCurrency": currency,
                "sku": variant.sku,
                "url": format!("{url}?variant={}", variant.id),
            });
            if let (Some(barcode), Some(members), false) = (&variant.barcode, offer.as_object_mut(), is_group) {
                // Themes write a barcode as a number, not as a string.
                if let Some(number) = barcode.parse::<u64>().ok().filter(|_| barcode.len() == 13) {
                    members.insert("gtin13".into(), json!(number));
                }
            }
            offer
        })
        .collect();
    let images: Vec<&str> = product.images.iter().map(|image| image.src.as_str()).collect();
    if is_group {
        let variants: Vec<Value> = product
            .variants
            .iter()
            .zip(offers)
            .map(|(variant, offer)| {
                let mut part = json!({
                    "@type": "Product",
                    "@id": format!("{url}?variant={}#variant", variant.id),
                    "name": format!("{} - {}", product.title, variant.title),
                    "offers": offer,
                });
                if let (Some(barcode), Some(members)) = (&variant.barcode, part.as_object_mut()) {
                    members.insert("gtin".into(), json!(barcode));
                }
                part
            })
            .collect();
        return json!({
            "@context": "http://schema.org/", "@type": "ProductGroup", "@id": format!("{url}#product"), "name": product.title,
            "brand": {"@type": "Brand", "name": product.vendor}, "productGroupID": product.id.to_string(),
            "url": url, "hasVariant": variants,
        });
    }
    json!({
        "@context": "http://schema.org/", "@type": "Product", "@id": format!("{url}#product"), "name": product.title,
        "brand": {"@type": "Brand", "name": product.vendor}, "description": product.body_html, "image": images, "url": url,
        "offers": offers,
    })
}

/// Adds the ratings to a block of structured data, in the forms that review apps use.
fn rate(block: &mut serde_json::Map<String, Value>, ratings: &Ratings, shop: &Shop) {
    let mean = ratings.mean_hundredths as f64 / 100.0;
    let texts = shop.catalogue.persona().shop_id() % 5 < 3;
    let (value, count) = if texts {
        (json!(format!("{mean:.2}")), json!(ratings.count.to_string()))
    } else {
        (json!(mean), json!(ratings.count))
    };
    let counted = if texts { "reviewCount" } else { "ratingCount" };
    block.insert(
        "aggregateRating".into(),
        json!({"@type": "AggregateRating", "ratingValue": value, counted: count, "bestRating": "5", "worstRating": "1"}),
    );
    let reviews: Vec<Value> = ratings
        .latest
        .iter()
        .map(|review| {
            json!({
                "@type": "Review",
                "author": {"@type": "Person", "name": review.author},
                "datePublished": review.date,
                "name": review.title,
                "reviewBody": review.text,
                "reviewRating": {"@type": "Rating", "ratingValue": review.stars, "bestRating": 5, "worstRating": 1},
            })
        })
        .collect();
    block.insert("review".into(), Value::Array(reviews));
}
