use arrow::array::{Array, Float32Array, ListArray, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::error::ArrowError;
use data_model::Rating;

use crate::columns::Reviews;
use crate::columns::ipc::column;

/// Ratings and reviews from the review app of a brand, by product, read in place.
#[derive(Debug)]
pub(crate) struct ReviewTable {
    platform_id: UInt64Array,
    source: StringArray,
    rating: Float32Array,
    rating_count: UInt32Array,
    reviews: Reviews,
}

impl ReviewTable {
    /// Reads the columns from the only batch of the file. `Err` when the ids do not ascend.
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let lists: ListArray = column(batch, "reviews")?;
        let table = Self {
            platform_id: column(batch, "platform_id")?,
            source: column(batch, "source")?,
            rating: column(batch, "rating")?,
            rating_count: column(batch, "rating_count")?,
            reviews: Reviews::of(&lists)?,
        };
        if table.platform_id.values().windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(table)
        } else {
            Err(ArrowError::InvalidArgumentError(
                "products are not in ascending order".to_owned(),
            ))
        }
    }

    /// Returns the row of a product.
    pub(crate) fn find(&self, product: u64) -> Option<u32> {
        let at = self.platform_id.values().binary_search(&product).ok()?;
        u32::try_from(at).ok()
    }

    pub(crate) fn source(&self, at: u32) -> &str {
        self.source.value(at as usize)
    }

    /// Returns the rating of the product in this row, if the app states one.
    pub(crate) fn rating(&self, at: u32) -> Option<Rating> {
        let at = at as usize;
        (self.rating.is_valid(at) && self.rating_count.is_valid(at)).then(|| Rating {
            average: self.rating.value(at),
            count: self.rating_count.value(at),
        })
    }

    pub(crate) fn reviews(&self) -> &Reviews {
        &self.reviews
    }
}
