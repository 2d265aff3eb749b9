use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use data_model::Rating;

use super::ReviewedColumns;
use crate::columns::Reviews;
use crate::columns::table::{Columns, number};

#[derive(Debug)]
pub(crate) struct ReviewTable(ReviewedColumns);

impl ReviewTable {
    /// An error is returned if the ids do not ascend.
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

    pub(crate) fn find(&self, product: u64) -> Option<u32> {
        let at = self.0.platform_id.values().binary_search(&product).ok()?;
        u32::try_from(at).ok()
    }

    pub(crate) fn source(&self, at: u32) -> &str {
        self.0.source.value(at as usize)
    }

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
