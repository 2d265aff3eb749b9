//! Lists of words and phrases to search for.

/// Words and phrases, separated by commas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(pub(crate) &'static str);

impl Words {
    pub(crate) fn has(self, phrase: &str) -> bool {
        // Most words are not in the list, so that a cheap substring test comes first.
        !phrase.is_empty() && self.0.contains(phrase) && self.0.split(',').any(|one| one.trim() == phrase)
    }
}
