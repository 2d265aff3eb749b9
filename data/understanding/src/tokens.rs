use std::ops::Range;

/// Word, number or sign of a query.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// Byte range in the text.
    pub(super) at: Range<usize>,
    /// Text of the token in lowercase.
    pub(super) word: String,
    /// Value in hundredths, if the token is a number.
    pub(super) number: Option<u64>,
    /// True if a hyphen precedes the token and a space precedes the hyphen: `-black`.
    pub(super) is_minus: bool,
    /// True if the token is joined to the previous one: `mom-fit`.
    pub(super) is_joined: bool,
    /// Number of the quoted phrase that contains the token.
    pub(super) quote: Option<usize>,
    /// True if a rule has read the token.
    pub(super) is_read: bool,
    /// True if the token is part of a name, which the rules must not read.
    pub(super) is_name: bool,
}

impl Token {
    /// Returns true if no rule has read the token yet.
    pub(super) const fn is_free(&self) -> bool {
        !self.is_read && self.quote.is_none() && !self.is_name
    }

    pub(super) fn is_word(&self) -> bool {
        self.number.is_none() && self.word.chars().any(char::is_alphabetic)
    }
}
