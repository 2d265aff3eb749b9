use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use data_model::Rating;

use super::ReviewedColumns;
use crate::columns::Reviews;
use crate::columns::table::{Columns, number};

/// Ratings and reviews from the review app of a brand, by product, read in place.
#[derive(Debug)]
pub(crate) struct ReviewTable(ReviewedColumns);

impl ReviewTable {
    /// Reads the columns from the only batch of the file. `Err` when the ids do not ascend.
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let columns = ReviewedColumns::of(batch)?;
        if columns.platform_id.values().windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(Self(columns))
        } else {
            Err(ArrowError::InvalidArgumentError(
                "products are not in ascending order".to_owned(),
            ))
        }
    }

    /// Returns the row of a product.
    pub(crate) fn find(&self, product: u64) -> Option<u32> {
        let at = self.0.platform_id.values().binary_search(&product).ok()?;
        u32::try_from(at).ok()
    }

    pub(crate) fn source(&self, at: u32) -> &str {
        self.0.source.value(at as usize)
    }

    /// Returns the rating of the product in this row, if the app states one.
    pub(crate) fn rating(&self, at: u32) -> Option<Rating> {
        let at = at as usize;
        let (average, count) = (&self.0.rating, &self.0.rating_count);
        number(average, at)
            .zip(number(count, at))
            .map(|(average, count)| Rating { average, count })
    }

    pub(crate) fn reviews(&self) -> &Reviews {
        &self.0.reviews
    }
}
