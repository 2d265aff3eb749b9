use std::ops::Range;

/// Word of a text, folded, with its position.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) offsets: Range<usize>,
}
