//! Reads Okendo's JSON, which is under the store's subscriber id. Its list continues by links, and its ratings are
//! sums.

use serde_json::Value;

use crate::answer::{
    AnswerError, FeedPage, FeedReview, Next, Overview, ProductRef, RejectedRecord, Summary, json, summary,
};
use crate::detect::WidgetKey;
use crate::value::{Parts, id, number, refused, text, whole};

pub(crate) fn feed(key: &WidgetKey) -> String {
    format!("{}reviews?limit=100&orderBy=date%20desc", root(key))
}

pub(crate) fn totals(key: &WidgetKey) -> String {
    format!("{}review_aggregate", root(key))
}

pub(crate) fn product(key: &WidgetKey, product: u64) -> String {
    format!("{}products/shopify-{product}/review_aggregate", root(key))
}

fn root(key: &WidgetKey) -> String {
    format!("/v1/stores/{}/", key.key)
}

pub(crate) fn read_feed(key: &WidgetKey, bytes: &[u8]) -> Result<FeedPage, AnswerError> {
    let answer = json(bytes)?;
    let reviews = answer.get("reviews").and_then(Value::as_array);
    let reviews = reviews.ok_or(AnswerError::Member("reviews"))?;
    let mut page = FeedPage {
        next: text(&answer, "nextUrl").and_then(|link| next(key, link)),
        ..FeedPage::default()
    };
    for (place, review) in reviews.iter().enumerate() {
        page.take(read_review(review, place).map_err(|refused| refused.showing(review)));
    }
    Ok(page)
}

/// The link of the next page may lack the version of the API, and must be below the subscriber's own path.
fn next(key: &WidgetKey, link: &str) -> Option<Next> {
    let path = match link.split_once("://") {
        Some((_, rest)) => rest.find('/').map(|at| &rest[at..])?,
        None => link,
    };
    let path = if path.starts_with("/v1/") {
        path.to_owned()
    } else {
        format!("/v1{path}")
    };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'#');
    let stays = path.starts_with(&format!("{}reviews?", root(key))) && path.bytes().all(is_plain);
    stays.then_some(Next::Link(path))
}

fn read_review(review: &Value, place: usize) -> Result<FeedReview, RejectedRecord> {
    let id = review.get("reviewId").and_then(id);
    let id = id.ok_or_else(|| refused(&format!("review {place}"), "the review has no usable id"))?;
    let reviewer = review.get("reviewer");
    let parts = Parts {
        stars: review.get("rating").and_then(number),
        author: reviewer.and_then(|reviewer| text(reviewer, "displayName")),
        title: text(review, "title"),
        body: text(review, "body"),
        created_at: text(review, "dateCreated"),
    };
    let product = text(review, "productId").and_then(|id| id.strip_prefix("shopify-"));
    let product = product.and_then(|id| id.parse().ok());
    let bought = reviewer.and_then(|reviewer| reviewer.get("isVerified"));
    Ok(FeedReview {
        review: parts.review().map_err(|reason| refused(&id, reason))?,
        id,
        product: product.map_or(ProductRef::Unknown, ProductRef::Id),
        is_verified: bought.and_then(Value::as_bool),
    })
}

fn aggregate(bytes: &[u8]) -> Result<(u64, f64), AnswerError> {
    let answer = json(bytes)?;
    let sums = answer.get("reviewAggregate");
    let sums = sums.ok_or(AnswerError::Member("reviewAggregate"))?;
    let count = sums.get("reviewCount").and_then(whole);
    let count = count.ok_or(AnswerError::Member("reviewAggregate.reviewCount"))?;
    let stars = match sums.get("reviewRatingValuesTotal") {
        None | Some(Value::Null) if count == 0 => Some(0.0),
        stars => stars.and_then(number),
    };
    let stars = stars.ok_or(AnswerError::Member("reviewAggregate.reviewRatingValuesTotal"))?;
    Ok((count, stars))
}

pub(crate) fn read_totals(bytes: &[u8]) -> Result<Overview, AnswerError> {
    let (count, stars) = aggregate(bytes)?;
    Ok(Overview::Totals { count, stars })
}

pub(crate) fn read_product(bytes: &[u8]) -> Result<Summary, AnswerError> {
    let (count, stars) = aggregate(bytes)?;
    summary(count, (count > 0).then(|| stars / count as f64))
}
