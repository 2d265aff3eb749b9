use bytes::Bytes;
use data_model::WidgetRating;
use pipeline_widgets::{AnswerError, RejectedRecord, Summary, WidgetKey};
use storefront::{Accept, FetchOutcome, Store, StoreError};

use super::{Failure, PARTIAL, Reader};
use crate::landing::AppQuestion;
use crate::walk::{ReadingFinds, StoreListing, rating_subject};

#[derive(Debug)]
enum RateOutcome {
    /// Summary from the app with the raw bytes, which are empty if the app does not know the product.
    Told(Summary, Bytes),
    /// The answer is not valid, for this reason.
    Odd(String, Bytes),
    /// The app refuses an answer permanently.
    Refused(String),
    /// The app cannot be reached now.
    Failed(Failure),
}

impl Reader<'_> {
    /// Requests the rating summary of every product with changed reviews.
    pub(super) async fn rate(&mut self, app: &Store, key: &WidgetKey, found: &mut ReadingFinds) {
        let mut pending = std::mem::take(&mut self.read.state.pending);
        pending.extend(&found.products);
        let mut pending: Vec<u64> = pending.into_iter().collect();
        // Other products come before a product that fails repeatedly.
        let rated_to = self.read.state.rated_to;
        let behind = rated_to.map_or(0, |last| pending.partition_point(|product| *product <= last));
        pending.rotate_left(behind);
        let reviewed = found.reviewed();
        let most = self.context.widgets.config.products_max as usize;
        let mut failed: Option<Failure> = None;
        for (nth, product) in pending.into_iter().enumerate() {
            if nth >= most || failed.is_some() || self.is_over() {
                self.read.state.pending.insert(product);
                continue;
            }
            self.read.state.rated_to = Some(product);
            match self.ask_rating(app, key, product).await {
                RateOutcome::Told(_, bytes) if bytes.is_empty() && reviewed.contains(&product) => {
                    let reason = "the app does not know the product but shows reviews of it";
                    self.refuse_rating(found, key, product, reason.to_owned(), &bytes);
                }
                RateOutcome::Told(summary, bytes) => {
                    self.landing
                        .add(AppQuestion::Product(product), StoreListing::default(), &bytes);
                    found.understand(|| rating_subject(key.widget, product));
                    match summary.average {
                        Some(average) => self.read.changes.ratings.push(WidgetRating {
                            widget: key.widget,
                            product,
                            average,
                            count: summary.count,
                        }),
                        None => self.read.changes.ratings_gone.push((key.widget, product)),
                    }
                }
                RateOutcome::Odd(reason, bytes) => {
                    self.read.state.pending.insert(product);
                    self.refuse_rating(found, key, product, reason, &bytes);
                }
                // The rating is requested again after the next change of the product.
                RateOutcome::Refused(reason) => self.refuse_rating(found, key, product, reason, &Bytes::new()),
                RateOutcome::Failed(failure) => {
                    self.read.state.pending.insert(product);
                    failed = Some(failure);
                }
            }
        }
        match failed {
            Some(failure) => self.fail(&failure),
            None if !self.read.state.pending.is_empty() => self.read.outcome = PARTIAL,
            None => {}
        }
    }

    async fn ask_rating(&mut self, app: &Store, key: &WidgetKey, product: u64) -> RateOutcome {
        self.read.requests += 1;
        match app.get(&key.product(product), Accept::Json).await {
            Ok(FetchOutcome::Body(page)) => match key.read_product(&page.bytes) {
                Ok(summary) => RateOutcome::Told(summary, page.bytes),
                Err(error) => RateOutcome::Odd(error.to_string(), page.bytes),
            },
            Ok(FetchOutcome::NotModified) => RateOutcome::Odd(AnswerError::NotJson.to_string(), Bytes::new()),
            Err(StoreError::Status { status: 404 | 410 }) => RateOutcome::Told(Summary::default(), Bytes::new()),
            Err(error) => match &error {
                // 401 and 403 refuse this client, not a product.
                StoreError::Status { status } if !matches!(status, 401 | 403) && !error.is_transient() => {
                    RateOutcome::Refused(error.to_string())
                }
                StoreError::NotJson { .. } | StoreError::TooLarge { .. } | StoreError::Redirect { .. } => {
                    RateOutcome::Odd(error.to_string(), Bytes::new())
                }
                _ => RateOutcome::Failed(error.into()),
            },
        }
    }

    /// The product's rating stays unchanged.
    fn refuse_rating(
        &mut self,
        found: &mut ReadingFinds,
        key: &WidgetKey,
        product: u64,
        reason: String,
        bytes: &Bytes,
    ) {
        let refused = RejectedRecord {
            subject: format!("product {product}"),
            reason,
            excerpt: String::new(),
        };
        let refused = refused.with_excerpt(&String::from_utf8_lossy(bytes));
        found.refuse(rating_subject(key.widget, product), refused.clone());
        self.read.refused.push(refused);
    }
}
