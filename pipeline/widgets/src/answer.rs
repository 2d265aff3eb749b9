use data_model::Review;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const PAGE_REVIEWS_MAX: usize = 1_000;
const EXCERPT_BYTES_MAX: usize = 4_096;
/// Position at which the list continues.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Page number, starting at 1.
    Page(u32),
    /// Path and query from the previous answer.
    Link(String),
}

/// Product of a review, as the app identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProductRef {
    /// Shopify's id of the product.
    Id(u64),
    /// Handle in the URL of the product's page.
    Handle(String),
    /// The app gives no identifier that Shopify knows.
    Unknown,
}

/// A review in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedReview {
    /// Id of the review in the app.
    pub id: String,
    /// Product of the review.
    pub product: ProductRef,
    /// Text and rating of the review.
    pub review: Review,
    /// True if the app states that the writer bought the product.
    pub is_verified: Option<bool>,
}

/// A record that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRecord {
    /// The app's id of the record if usable, or else its position on its page.
    pub subject: String,
    /// Reason why the record was refused.
    pub reason: String,
    /// The record verbatim, truncated to 4 KiB. Reports do not contain it.
    #[serde(skip)]
    pub excerpt: String,
}

impl RejectedRecord {
    /// Sets the excerpt to this record.
    #[must_use]
    pub fn showing(self, record: &Value) -> Self {
        self.with_excerpt(&record.to_string())
    }

    /// Sets the excerpt to this text.
    #[must_use]
    pub fn with_excerpt(self, text: &str) -> Self {
        let excerpt = text[..text.floor_char_boundary(EXCERPT_BYTES_MAX)].to_owned();
        Self { excerpt, ..self }
    }
}

/// A page of the list of a shop's reviews.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedPage {
    /// Total number of reviews in the list, if the app states it.
    pub total: Option<u64>,
    /// Reviews of the page, newest first.
    pub reviews: Vec<FeedReview>,
    /// Records of the page that could not be parsed.
    pub refused: Vec<RejectedRecord>,
    /// Position at which the list continues. `None` at its end.
    pub next: Option<Next>,
}

impl FeedPage {
    /// Number of records on the page.
    #[must_use]
    pub fn records(&self) -> usize {
        self.reviews.len() + self.refused.len()
    }

    pub(crate) fn take(&mut self, record: Result<FeedReview, RejectedRecord>) {
        if self.records() >= PAGE_REVIEWS_MAX {
            return;
        }
        match record {
            Ok(review) => self.reviews.push(review),
            Err(refused) => self.refused.push(refused),
        }
    }
}

/// Answer that shows with one request if a shop's reviews changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Overview {
    /// First page of the list.
    Page(FeedPage),
    /// Total number of reviews, and the sum of their stars.
    Totals {
        /// Number of reviews.
        count: u64,
        /// Sum of the stars.
        stars: f64,
    },
}

/// Rating summary of a product from an app.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Number of ratings, which is 0 if there are none.
    pub count: u32,
    /// Average rating as the app states it. `None` if there are no ratings.
    pub average: Option<f64>,
}

/// Reason why an answer is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The answer is not JSON.
    #[error("the answer is not JSON")]
    NotJson,
    /// A field is missing or has another type.
    #[error("the answer's field `{0}` is missing or has an unexpected type")]
    Member(&'static str),
    /// The rating values are impossible.
    #[error("the answer states {0}")]
    Rating(String),
}

pub(crate) fn json(bytes: &[u8]) -> Result<Value, AnswerError> {
    data_model::read_store_json(bytes).map_err(|_| AnswerError::NotJson)
}

/// Returns an error if the numbers are not plausible.
pub(crate) fn summary(count: u64, average: Option<f64>) -> Result<Summary, AnswerError> {
    if count == 0 {
        return Ok(Summary::default());
    }
    let wrong = |text: String| AnswerError::Rating(text);
    let count = u32::try_from(count).map_err(|_| wrong(format!("{count} ratings")))?;
    match average {
        Some(average) if (0.0..=5.0).contains(&average) => Ok(Summary {
            count,
            average: Some(average),
        }),
        Some(average) => Err(wrong(format!("the average of {average} stars is out of range"))),
        None => Err(AnswerError::Member("average")),
    }
}
