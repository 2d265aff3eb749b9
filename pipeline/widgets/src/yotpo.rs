//! Reads Yotpo's JSON, which is under the store's app key. Reviews name products by the app's own ids, which the same
//! answer maps to Shopify's.

use std::collections::HashMap;

use serde_json::Value;

use crate::answer::{AnswerError, FeedPage, FeedReview, ProductRef, RejectedRecord, Summary, json, summary};
use crate::detect::WidgetKey;
use crate::value::{Parts, id, number, refused, text, whole};

pub(crate) fn feed(key: &WidgetKey, page: u32) -> String {
    let key = &key.key;
    format!("/v1/widget/{key}/reviews.json?per_page=100&page={page}&sort=date&direction=desc")
}

pub(crate) fn product(key: &WidgetKey, product: u64) -> String {
    format!("/products/{}/{product}/bottomline", key.key)
}

pub(crate) fn read_feed(bytes: &[u8]) -> Result<FeedPage, AnswerError> {
    let answer = json(bytes)?;
    let response = answer.get("response").ok_or(AnswerError::Member("response"))?;
    let reviews = response.get("reviews").and_then(Value::as_array);
    let reviews = reviews.ok_or(AnswerError::Member("response.reviews"))?;
    let products = response.get("products").and_then(Value::as_array);
    let named = products.into_iter().flatten().take(10_000);
    let products: HashMap<u64, u64> = named
        .filter_map(|product| Some((whole(product.get("id")?)?, whole(product.get("domain_key")?)?)))
        .collect();
    let mut page = FeedPage {
        total: response.pointer("/pagination/total").and_then(whole),
        ..FeedPage::default()
    };
    for (place, review) in reviews.iter().enumerate() {
        page.take(read_review(review, place, &products).map_err(|refused| refused.showing(review)));
    }
    Ok(page)
}

fn read_review(review: &Value, place: usize, products: &HashMap<u64, u64>) -> Result<FeedReview, RejectedRecord> {
    let id = review.get("id").and_then(id);
    let id = id.ok_or_else(|| refused(&format!("review {place}"), "the review has no usable id"))?;
    let parts = Parts {
        stars: review.get("score").and_then(number),
        author: review.pointer("/user/display_name").and_then(Value::as_str),
        title: text(review, "title"),
        body: text(review, "content"),
        created_at: text(review, "created_at"),
    };
    let product = review.get("product_id").and_then(whole);
    let product = product.and_then(|product| products.get(&product).copied());
    Ok(FeedReview {
        review: parts.review().map_err(|reason| refused(&id, reason))?,
        id,
        product: product.map_or(ProductRef::Unknown, ProductRef::Id),
        is_verified: review.get("verified_buyer").and_then(Value::as_bool),
    })
}

pub(crate) fn read_product(bytes: &[u8]) -> Result<Summary, AnswerError> {
    let answer = json(bytes)?;
    let line = answer.pointer("/response/bottomline");
    let line = line.ok_or(AnswerError::Member("response.bottomline"))?;
    let count = line.get("total_reviews").or_else(|| line.get("total_review"));
    let count = count
        .and_then(whole)
        .ok_or(AnswerError::Member("response.bottomline.total_reviews"))?;
    summary(count, line.get("average_score").and_then(number))
}
