/// Remaining work of a search, which limits the cost of a query for any catalogue size.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) steps_left: usize,
    /// Maximum number of postings that are read for products with some words. See [`super::relaxed`].
    pub(super) postings_max: u64,
    pub(super) looked_up_max: usize,
    /// Number of postings decoded so far.
    pub(super) read: u64,
}

/// Maximum number of candidates with every word times the number of words. After that, the hits so far are returned.
pub(super) const STEPS_MAX: usize = 2_000_000;
/// Maximum number of postings that select the products with some words. The most common words beyond that are not used.
const POSTINGS_MAX: u64 = 25_000;
/// Number of best products of each part for which the other words are looked up.
const LOOKED_UP_MAX: usize = 512;

impl Work {
    pub(super) const fn new() -> Self {
        Self {
            steps_left: STEPS_MAX,
            postings_max: POSTINGS_MAX,
            looked_up_max: LOOKED_UP_MAX,
            read: 0,
        }
    }

    /// Uses the steps for one more candidate with this many words. Returns false when no steps are left.
    #[inline]
    pub(super) fn step(&mut self, words: usize) -> bool {
        self.steps_left = self.steps_left.saturating_sub(words);
        self.steps_left > 0
    }
}
