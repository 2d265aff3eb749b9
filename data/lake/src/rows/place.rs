/// The place of a row among batches or pages of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    /// The number of the batch or page.
    pub batch: usize,
    /// The number of the row in it.
    pub row: usize,
}

/// The places as Arrow's kernels take them.
pub(crate) fn indices(places: &[RowPlace]) -> Vec<(usize, usize)> {
    places.iter().map(|place| (place.batch, place.row)).collect()
}
