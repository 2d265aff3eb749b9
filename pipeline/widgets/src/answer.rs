use data_model::Review;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most reviews of one page that are read.
const PAGE_REVIEWS_MAX: usize = 1_000;
/// Most bytes that are shown of a refused record.
const EXCERPT_BYTES_MAX: usize = 4_096;
/// The place where the list goes on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The page of this number, from 1.
    Page(u32),
    /// The address that the answer before names: a path with its query.
    Link(String),
}

/// The product that a review is of, as the app names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProductRef {
    /// By the platform's id.
    Id(u64),
    /// By the handle in the address of its page.
    Handle(String),
    /// By nothing that the platform knows.
    Unknown,
}

/// One review of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedReview {
    /// The app's own id.
    pub id: String,
    /// Its product.
    pub product: ProductRef,
    /// Its text and rating.
    pub review: Review,
    /// The app's word on whether the writer bought the product.
    pub is_verified: Option<bool>,
}

/// A record that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRecord {
    /// The app's id of it where it has a usable one, or its place on its page.
    pub subject: String,
    /// The reason.
    pub reason: String,
    /// The record as answered, cut to 4 KiB. Reports leave it out.
    #[serde(skip)]
    pub excerpt: String,
}

impl RejectedRecord {
    /// With the record that it is of.
    #[must_use]
    pub fn showing(self, record: &Value) -> Self {
        self.with_excerpt(&record.to_string())
    }

    /// With the text that it is of.
    #[must_use]
    pub fn with_excerpt(self, text: &str) -> Self {
        let excerpt = text[..text.floor_char_boundary(EXCERPT_BYTES_MAX)].to_owned();
        Self { excerpt, ..self }
    }
}

/// One page of the list of a shop's reviews.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedPage {
    /// Reviews that the list has in all, where the app says so.
    pub total: Option<u64>,
    /// Its reviews, newest first.
    pub reviews: Vec<FeedReview>,
    /// Records of it that cannot be understood.
    pub refused: Vec<RejectedRecord>,
    /// The place where it goes on; `None` at its end.
    pub next: Option<Next>,
}

impl FeedPage {
    /// The number of records that the page held.
    #[must_use]
    pub fn records(&self) -> usize {
        self.reviews.len() + self.refused.len()
    }

    /// Adds a record, or the reason why it is none.
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

/// An answer that shows with one request whether anything of a shop's reviews changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Overview {
    /// The first page of the list.
    Page(FeedPage),
    /// Totals: how many reviews there are, and the sum of their stars.
    Totals {
        /// Reviews.
        count: u64,
        /// Sum of stars.
        stars: f64,
    },
}

/// An app's word on all ratings of a product.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Their number; 0 where nobody rated it.
    pub count: u32,
    /// Their mean as the app states it; `None` where there are none.
    pub average: Option<f64>,
}

/// An answer that is not the app's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It is no JSON.
    #[error("the answer is no JSON")]
    NotJson,
    /// It lacks a member, or has it with another type.
    #[error("the answer's `{0}` is missing or not of its type")]
    Member(&'static str),
    /// Ratings that cannot be.
    #[error("the answer states {0}")]
    Rating(String),
}

/// The JSON of an answer.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, AnswerError> {
    data_model::read_store_json(bytes).map_err(|_| AnswerError::NotJson)
}

/// A summary, where the numbers can be one.
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
        Some(average) => Err(wrong(format!("a mean of {average} stars"))),
        None => Err(AnswerError::Member("average")),
    }
}
