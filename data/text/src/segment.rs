use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that stand for themselves in a segment of a path (RFC 3986, section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Text of an address for a segment of a path, escaped where it must be.
pub fn segment(text: &str) -> impl fmt::Display + '_ {
    utf8_percent_encode(text, SEGMENT)
}
