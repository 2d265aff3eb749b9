/// Position of a row in a sequence of record batches or pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    /// Index of the record batch or page.
    pub batch: usize,
    /// Index of the row within the record batch or page.
    pub row: usize,
}

/// Converts positions to the form that Arrow's kernels take.
pub(crate) fn indices(places: &[RowPlace]) -> Vec<(usize, usize)> {
    places.iter().map(|place| (place.batch, place.row)).collect()
}
