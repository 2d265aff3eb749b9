//! Parses any bytes as the JSON of a store. A bad character must not lose the rest of the document, and valid JSON must
//! be read exactly.

use std::borrow::Cow;
use std::fmt::Debug;

use data_model::{mended, read_store_json};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum growth of one byte: a control character that becomes an escape sequence.
const BYTES_PER_BYTE_MAX: usize = 6;

/// Error texts of serde_json about characters in strings.
const FLAWS: [&str; 4] = ["surrogate", "hex escape", "control character", "unicode"];

pub(crate) fn check(bytes: &[u8]) {
    let text = mended(bytes);
    assert!(text.len() <= bytes.len() * BYTES_PER_BYTE_MAX);
    assert!(is_whole(text.as_bytes()), "mending is done once: {text:?}");
    if let Err(error) = read_store_json::<Value>(bytes) {
        let error = error.to_string();
        assert!(!FLAWS.iter().any(|flaw| error.contains(flaw)), "{error}: {text:?}");
    }
    if agrees::<Value>(bytes) {
        assert!(is_whole(bytes), "{text:?}");
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    matches!(mended(bytes), Cow::Borrowed(_))
}

/// Asserts that the lenient reader accepts what the strict one accepts, with the same result. Returns true if the
/// strict reader accepts the input.
pub(crate) fn agrees<T: DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Ok(strict) = serde_json::from_slice::<T>(bytes) else {
        return false;
    };
    assert_eq!(read_store_json::<T>(bytes).ok(), Some(strict));
    true
}
