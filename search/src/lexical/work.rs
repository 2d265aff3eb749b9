/// The work that a search may still do. It bounds a query, whatever it is and however large the catalogue.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) steps_left: usize,
    /// See [`super::relaxed`].
    pub(super) postings_max: u64,
    pub(super) looked_up_max: usize,
    /// Postings that were decoded.
    pub(super) read: u64,
}

/// Candidates for products with every word that a query looks at, times its words; beyond, the hits so far are
/// answered.
pub(super) const STEPS_MAX: usize = 2_000_000;
/// Postings that decide which products with some words are looked at; beyond, the most common words are left out of it.
const POSTINGS_MAX: u64 = 25_000;
/// The number of products of each part, the best so far, for which the words that were left out are looked up.
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

    /// True where one more candidate may be looked at for this many words.
    #[inline]
    pub(super) fn step(&mut self, words: usize) -> bool {
        self.steps_left = self.steps_left.saturating_sub(words);
        self.steps_left > 0
    }
}
