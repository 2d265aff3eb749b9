use std::ops::Range;

/// A word, a number or a sign of a query.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// The place in the text, in bytes.
    pub(super) at: Range<usize>,
    /// In lower case.
    pub(super) word: String,
    /// In hundredths, where it is a number.
    pub(super) number: Option<u64>,
    /// True where a hyphen stands before it and a space before that: `-black`.
    pub(super) is_minus: bool,
    /// True where it is joined to the token before: `mom-fit`.
    pub(super) is_joined: bool,
    /// The number of the quotation marks that it stands between.
    pub(super) quote: Option<usize>,
    /// True where it was read.
    pub(super) is_read: bool,
    /// True where it belongs to a name that is to be left alone.
    pub(super) is_name: bool,
}

impl Token {
    /// True where no rule has read it yet.
    pub(super) const fn is_free(&self) -> bool {
        !self.is_read && self.quote.is_none() && !self.is_name
    }

    pub(super) fn is_word(&self) -> bool {
        self.number.is_none() && self.word.chars().any(char::is_alphabetic)
    }
}
