use std::ops::Range;

/// A word as found, folded.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) offsets: Range<usize>,
}
