use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that need no escape in a path segment (RFC 3986, section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text as a URL path segment.
pub fn segment(text: &str) -> impl fmt::Display + '_ {
    utf8_percent_encode(text, SEGMENT)
}
