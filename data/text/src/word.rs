use std::ops::Range;

#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) offsets: Range<usize>,
}
