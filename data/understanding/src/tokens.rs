use std::ops::Range;

/// Word, number or sign.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) at: Range<usize>,
    /// Text of the token in lowercase.
    pub(super) word: String,
    /// Value of a number in thousandths.
    pub(super) number: Option<u64>,
    /// True after a hyphen with a space before it, as in `-black`.
    pub(super) is_minus: bool,
    /// True if a hyphen joins the token to the previous one, as in `mom-fit`.
    pub(super) is_joined: bool,
    /// Number of the quoted phrase around the token.
    pub(super) quote: Option<usize>,
    pub(super) is_read: bool,
    /// True for a part of a name, which the rules must not read.
    pub(super) is_name: bool,
}

impl Token {
    pub(super) const fn is_free(&self) -> bool {
        !self.is_read && self.quote.is_none() && !self.is_name
    }

    pub(super) fn is_word(&self) -> bool {
        self.number.is_none() && self.word.chars().any(char::is_alphabetic)
    }
}
