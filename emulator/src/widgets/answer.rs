//! Responses of each review app by path.

use data_model::ReviewWidget;
use serde_json::{Value, json};

use super::key;
use crate::ask::Ask;
use crate::generated::dice::fold;
use crate::generated::push_html;
use crate::market::Market;
use crate::reply::Reply;
use crate::reviews::{EmulatedReview, ReviewsTruth};
use crate::shop::Shop;

/// Maximum number of reviews in a Judge.me page, whatever page size is requested.
const JUDGEME_PAGE_MAX: usize = 23;

/// Returns the app's response, or 404 for an unknown shop or path.
pub(crate) fn answer(market: &Market, widget: ReviewWidget, ask: &Ask) -> Reply {
    if ask.path == "/robots.txt" {
        return Reply::text(200, robots(widget));
    }
    let uses = |shop: &&std::sync::Arc<Shop>| shop.widget == Some(widget) || shop.app() == Some(widget);
    let shops = market.shops.iter().filter(uses);
    let found = match widget {
        ReviewWidget::Judgeme => judgeme(shops, ask),
        ReviewWidget::Yotpo => yotpo(shops, ask),
        ReviewWidget::Stamped => stamped(shops, ask),
        ReviewWidget::Okendo => okendo(shops, ask),
    };
    found.unwrap_or_else(|| Reply::json_of(404, &json!({"status": {"code": 404, "message": "Not Found"}})))
}

fn robots(widget: ReviewWidget) -> &'static str {
    match widget {
        ReviewWidget::Judgeme => "User-agent: *\nDisallow: /api/\nDisallow: /admin\n",
        _ => "User-agent: *\nDisallow: /admin\n",
    }
}

/// Returns the shop of the key, with its reviews.
fn shop<'a>(
    mut shops: impl Iterator<Item = &'a std::sync::Arc<Shop>>,
    widget: ReviewWidget,
    wanted: &str,
) -> Option<ReviewsTruth> {
    let shop = shops.find(|shop| key(shop, widget) == wanted)?;
    Some(shop.reviews_at(widget))
}

/// Returns the product whose ratings are requested.
pub(super) fn product_of(widget: ReviewWidget, ask: &Ask) -> Option<u64> {
    let product = match widget {
        ReviewWidget::Judgeme => ask.parameter("product_id")?,
        ReviewWidget::Yotpo => {
            let rest = ask.path.strip_prefix("/products/")?.strip_suffix("/bottomline")?;
            rest.split_once('/')?.1.to_owned()
        }
        ReviewWidget::Stamped => ask.parameter("productId")?,
        ReviewWidget::Okendo => {
            let (_, rest) = ask.path.split_once("/products/shopify-")?;
            rest.split('/').next()?.to_owned()
        }
    };
    product.parse().ok()
}

/// Returns the response with another count of the shop's reviews.
pub(super) fn counting(widget: ReviewWidget, reply: Reply, total: u64) -> Reply {
    let place = match widget {
        ReviewWidget::Judgeme => "/total_count",
        ReviewWidget::Yotpo => "/response/pagination/total",
        ReviewWidget::Stamped => "/total",
        ReviewWidget::Okendo => "/reviewAggregate/reviewCount",
    };
    let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else {
        return reply;
    };
    if let Some(count) = body.pointer_mut(place) {
        *count = json!(total);
    }
    Reply {
        body: body.to_string().into(),
        etag: None,
        ..reply
    }
}

/// True if the response is an empty page of a list.
pub(super) fn is_behind_the_last(widget: ReviewWidget, reply: &Reply) -> bool {
    let place = match widget {
        ReviewWidget::Judgeme => "/html",
        ReviewWidget::Yotpo => "/response/reviews",
        ReviewWidget::Stamped => "/data",
        ReviewWidget::Okendo => return false,
    };
    let body = serde_json::from_slice::<Value>(&reply.body).unwrap_or_default();
    let shown = body.pointer(place);
    shown.is_some_and(|shown| *shown == json!("") || *shown == json!([]))
}

fn number(ask: &Ask, name: &str, default: usize) -> usize {
    let given = ask.parameter(name).and_then(|text| text.parse().ok());
    given.unwrap_or(default)
}

fn of_product(truth: &ReviewsTruth, product: u64) -> Vec<&EmulatedReview> {
    let of = truth.reviews.iter().filter(|review| review.product == product);
    of.collect()
}

fn paged<'a>(reviews: &[&'a EmulatedReview], page: usize, size: usize) -> Vec<&'a EmulatedReview> {
    let skipped = page.saturating_sub(1).saturating_mul(size);
    reviews.iter().skip(skipped).take(size).copied().collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    push_html(&mut out, text);
    out.replace('\'', "&#39;")
}

fn judgeme<'a>(shops: impl Iterator<Item = &'a std::sync::Arc<Shop>>, ask: &Ask) -> Option<Reply> {
    let truth = shop(shops, ReviewWidget::Judgeme, &ask.parameter("shop_domain")?)?;
    let size = number(ask, "per_page", 5).clamp(1, JUDGEME_PAGE_MAX);
    let page = number(ask, "page", 1);
    match ask.path.as_str() {
        "/reviews/all_reviews_js_based" => {
            let all: Vec<&EmulatedReview> = truth.reviews.iter().collect();
            let html: String = paged(&all, page, size).into_iter().map(judgeme_html).collect();
            let body = json!({"html": html, "total_count": all.len(), "page": page});
            Some(Reply::json(body.to_string()).validated().conditional(ask))
        }
        "/reviews/reviews_for_widget" => {
            let product: u64 = ask.parameter("product_id")?.parse().ok()?;
            let reviews = of_product(&truth, product);
            let (count, mean) = truth.ratings.get(&product).copied().unwrap_or_default();
            let body = if ask.parameter("legacy_widget").is_some() {
                let html: String = paged(&reviews, page, size).into_iter().map(judgeme_html).collect();
                json!({"html": html, "total_count": count, "page": page})
            } else {
                json!({"number_of_reviews": count, "average_rating": format!("{mean:.2}"), "reviews": []})
            };
            Some(Reply::json(body.to_string()))
        }
        _ => None,
    }
}

fn judgeme_html(review: &EmulatedReview) -> String {
    let EmulatedReview {
        id,
        handle,
        stars,
        author,
        title,
        text,
        created_at,
        verified,
        ..
    } = review;
    let when = created_at.replace('T', " ").replace('Z', " UTC");
    let (author, title) = (escaped(author), escaped(title));
    let text = escaped(text).replace('\n', "<br />");
    format!(
        "<div class='jdgm-rev jdgm-divider-top' data-verified-buyer='{verified}' data-review-id='{id}' \
         data-thumb-up-count='0'> <div class='jdgm-rev__header'> <span class='jdgm-rev__rating' data-score='{stars}' \
         tabindex='0' aria-label='{stars} star review'><span class='jdgm-star jdgm--on'></span></span> \
         <span class='jdgm-rev__timestamp jdgm-spinner' data-content='{when}'></span> \
         <span class='jdgm-rev__author-wrapper'><span class='jdgm-rev__author'>{author}</span></span> </div> \
         <div class='jdgm-rev__content'> <b class='jdgm-rev__title'>{title}</b> \
         <div class='jdgm-rev__body'><p>{text}</p></div> </div> \
         <span class='jdgm-rev__prod-info-wrapper'> <a href='/products/{handle}#judgeme_product_reviews' \
         target='_blank' class='jdgm-rev__prod-link'>{handle}</a> </span> </div>"
    )
}

/// Returns the app's own id of a product.
fn yotpo_product(product: u64) -> u64 {
    fold(&[product, 0x796f]) >> 32
}

fn yotpo<'a>(shops: impl Iterator<Item = &'a std::sync::Arc<Shop>>, ask: &Ask) -> Option<Reply> {
    let ok = json!({"code": 200, "message": "OK"});
    if let Some(rest) = ask.path.strip_prefix("/products/") {
        let (key, product) = rest.strip_suffix("/bottomline")?.split_once('/')?;
        let truth = shop(shops, ReviewWidget::Yotpo, key)?;
        let (count, mean) = truth.ratings.get(&product.parse().ok()?).copied().unwrap_or_default();
        let line = json!({"average_score": mean, "total_reviews": count});
        return Some(Reply::json(
            json!({"status": ok, "response": {"bottomline": line}}).to_string(),
        ));
    }
    let rest = ask.path.strip_prefix("/v1/widget/")?;
    let (key, below) = rest.split_once('/')?;
    let truth = shop(shops, ReviewWidget::Yotpo, key)?;
    let reviews: Vec<&EmulatedReview> = match below.strip_prefix("products/") {
        None if below == "reviews.json" => truth.reviews.iter().collect(),
        Some(rest) => of_product(&truth, rest.strip_suffix("/reviews.json")?.parse().ok()?),
        None => return None,
    };
    let (page, size) = (number(ask, "page", 1), number(ask, "per_page", 5).clamp(1, 150));
    let shown = paged(&reviews, page, size);
    let mut products: Vec<u64> = shown.iter().map(|review| review.product).collect();
    products.sort_unstable();
    products.dedup();
    let products: Vec<Value> = products
        .into_iter()
        .map(|product| json!({"id": yotpo_product(product), "domain_key": product.to_string()}))
        .collect();
    let shown: Vec<Value> = shown
        .into_iter()
        .map(|review| {
            json!({
                "id": review.id.parse::<u64>().unwrap_or_default(), "score": review.stars, "votes_up": 0,
                "content": escaped(&review.text), "title": escaped(&review.title), "created_at": review.created_at,
                "verified_buyer": review.verified, "deleted": false, "product_id": yotpo_product(review.product),
                "user": {"display_name": review.author, "user_id": 1},
            })
        })
        .collect();
    let body = json!({"status": ok, "response": {
        "pagination": {"page": page, "per_page": size, "total": reviews.len()}, "products": products, "reviews": shown,
    }});
    Some(Reply::json(body.to_string()).validated().conditional(ask))
}

fn stamped<'a>(shops: impl Iterator<Item = &'a std::sync::Arc<Shop>>, ask: &Ask) -> Option<Reply> {
    if ask.path != "/api/widget/reviews" {
        return None;
    }
    ask.parameter("storeUrl").filter(|shop| !shop.is_empty())?;
    let truth = shop(shops, ReviewWidget::Stamped, &ask.parameter("apiKey")?)?;
    let (reviews, rating) = match ask.parameter("productId") {
        Some(product) => {
            let product = product.parse().ok()?;
            let rating = truth.ratings.get(&product).map_or(0.0, |(_, mean)| *mean);
            (of_product(&truth, product), rating)
        }
        None => (truth.reviews.iter().collect(), 4.7),
    };
    let (page, size) = (number(ask, "page", 1), number(ask, "take", 5).clamp(1, 100));
    let data: Vec<Value> = paged(&reviews, page, size)
        .into_iter()
        .map(|review| {
            json!({
                "id": review.id.parse::<u64>().unwrap_or_default(), "author": review.author,
                "reviewTitle": escaped(&review.title), "reviewMessage": escaped(&review.text),
                "reviewRating": review.stars, "reviewDate": "06/01/2026", "dateCreated": review.created_at,
                "reviewVerifiedType": if review.verified { 2 } else { 0 }, "productId": review.product,
                "productUrl": format!("/products/{}", review.handle),
            })
        })
        .collect();
    let (total, all) = (reviews.len(), truth.reviews.len());
    let body = json!({"page": page, "data": data, "total": total, "totalAll": all, "rating": rating});
    Some(Reply::json(body.to_string()))
}

fn okendo<'a>(shops: impl Iterator<Item = &'a std::sync::Arc<Shop>>, ask: &Ask) -> Option<Reply> {
    let rest = ask.path.strip_prefix("/v1/stores/")?;
    let (key, below) = rest.split_once('/')?;
    let truth = shop(shops, ReviewWidget::Okendo, key)?;
    let (reviews, view): (Vec<&EmulatedReview>, &str) = match below.strip_prefix("products/shopify-") {
        Some(rest) => {
            let (product, view) = rest.split_once('/')?;
            (of_product(&truth, product.parse().ok()?), view)
        }
        None => (truth.reviews.iter().collect(), below),
    };
    let stars: u64 = reviews.iter().map(|review| u64::from(review.stars)).sum();
    if view == "review_aggregate" {
        let sums = json!({"reviewCount": reviews.len(), "reviewRatingValuesTotal": stars});
        return Some(Reply::json(json!({"reviewAggregate": sums}).to_string()));
    }
    if view != "reviews" {
        return None;
    }
    let size = number(ask, "limit", 25).clamp(1, 100);
    let from = number(ask, "lastEvaluated", 0);
    let shown: Vec<Value> = reviews
        .iter()
        .skip(from)
        .take(size)
        .map(|review| {
            json!({
                "reviewId": review.id, "productId": format!("shopify-{}", review.product), "rating": review.stars,
                "title": escaped(&review.title), "body": escaped(&review.text), "dateCreated": review.created_at,
                "reviewer": {"displayName": review.author, "isVerified": review.verified},
            })
        })
        .collect();
    let mut body = json!({"reviews": shown});
    let to = from.saturating_add(size);
    if to < reviews.len() {
        // The URLs in Okendo's real responses leave out the API version.
        let path = ask.path.trim_start_matches("/v1");
        body["nextUrl"] = json!(format!("{path}?limit={size}&orderBy=date%20desc&lastEvaluated={to}"));
    }
    Some(Reply::json(body.to_string()))
}
