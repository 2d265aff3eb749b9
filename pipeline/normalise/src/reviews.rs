use data_model::{Rating, Review};
use data_text::{html_to_text, stated_line};
use pipeline_parse::PageFacts;

/// Maximum number of reviews per product.
const REVIEWS_MAX: usize = 50;
const NAME_CHARS_MAX: usize = 255;
const BODY_CHARS_MAX: usize = 4_000;

/// Returns the ratings and reviews of a product page, with plain texts and the newest review first. A review without
/// text or with a rating outside of zero to five is left out.
#[must_use]
pub fn normalise_page_facts(facts: PageFacts) -> (Option<Rating>, Vec<Review>) {
    let in_scale = |stars: f32| (0.0..=5.0).contains(&stars);
    let rating = facts
        .rating
        .filter(|rating| rating.count > 0 && in_scale(rating.average));
    let stated = facts
        .reviews
        .into_iter()
        .take(REVIEWS_MAX)
        .filter(|review| in_scale(review.rating));
    let reviews = stated.filter_map(|review| {
        let line = |words: Option<String>| stated_line(words.as_deref().map(html_to_text).as_deref(), NAME_CHARS_MAX);
        let body: String = html_to_text(&review.body).chars().take(BODY_CHARS_MAX).collect();
        let created_at = review.date.and_then(|date| moment(&date));
        let (author, title) = (line(review.author), line(review.title));
        (!body.is_empty()).then_some(Review {
            rating: review.rating,
            author,
            title,
            body,
            created_at,
        })
    });
    let mut reviews: Vec<Review> = reviews.collect();
    reviews.sort_by_key(|review| std::cmp::Reverse(review.created_at));
    (rating, reviews)
}

/// A date counts as its midnight in UTC.
fn moment(text: &str) -> Option<data_model::Timestamp> {
    let text = text.trim();
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
}
