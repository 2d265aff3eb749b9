//! Lists of words and phrases that something looks for.

/// Words and phrases, parted by commas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(pub(crate) &'static str);

impl Words {
    pub(crate) fn has(self, phrase: &str) -> bool {
        // Most are nowhere in it.
        !phrase.is_empty() && self.0.contains(phrase) && self.0.split(',').any(|one| one.trim() == phrase)
    }
}
