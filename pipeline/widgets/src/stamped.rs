//! Reads Stamped's JSON, which is under the store's public key. The lists of a shop and of a product use the same
//! endpoint.

use serde_json::Value;

use crate::answer::{AnswerError, FeedPage, FeedReview, ProductRef, RejectedRecord, Summary, json, summary};
use crate::detect::WidgetKey;
use crate::value::{Parts, id, number, refused, text, whole};

pub(crate) fn feed(key: &WidgetKey, page: u32) -> String {
    let WidgetKey { key, shop, .. } = key;
    format!("/api/widget/reviews?apiKey={key}&storeUrl={shop}&page={page}&take=100&sortReviews=recent")
}

pub(crate) fn product(key: &WidgetKey, product: u64) -> String {
    let WidgetKey { key, shop, .. } = key;
    format!("/api/widget/reviews?productId={product}&apiKey={key}&storeUrl={shop}&page=1&take=1")
}

pub(crate) fn read_feed(bytes: &[u8]) -> Result<FeedPage, AnswerError> {
    let answer = json(bytes)?;
    let reviews = answer.get("data").and_then(Value::as_array);
    let reviews = reviews.ok_or(AnswerError::Member("data"))?;
    let mut page = FeedPage {
        total: answer.get("total").and_then(whole),
        ..FeedPage::default()
    };
    for (place, review) in reviews.iter().enumerate() {
        page.take(read_review(review, place).map_err(|refused| refused.showing(review)));
    }
    Ok(page)
}

fn read_review(review: &Value, place: usize) -> Result<FeedReview, RejectedRecord> {
    let id = review.get("id").and_then(id);
    let id = id.ok_or_else(|| refused(&format!("review {place}"), "the review has no usable id"))?;
    let parts = Parts {
        stars: review.get("reviewRating").and_then(number),
        author: text(review, "author"),
        title: text(review, "reviewTitle"),
        body: text(review, "reviewMessage"),
        created_at: text(review, "dateCreated"),
    };
    let product = review.get("productId").and_then(whole);
    let bought = review.get("reviewVerifiedType").and_then(whole);
    Ok(FeedReview {
        review: parts.review().map_err(|reason| refused(&id, reason))?,
        id,
        product: product.map_or(ProductRef::Unknown, ProductRef::Id),
        is_verified: bought.map(|kind| kind > 0),
    })
}

pub(crate) fn read_product(bytes: &[u8]) -> Result<Summary, AnswerError> {
    let answer = json(bytes)?;
    let count = answer.get("total").and_then(whole);
    let count = count.ok_or(AnswerError::Member("total"))?;
    summary(count, answer.get("rating").and_then(number))
}
