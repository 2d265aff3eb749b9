//! Any bytes as the JSON of a store: nothing is lost for the sake of a character, and what is JSON is read as it is.

use std::borrow::Cow;
use std::fmt::Debug;

use data_model::{mended, read_store_json};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The longest form of a byte: a control character that is written out.
const BYTES_PER_BYTE_MAX: usize = 6;

/// Errors of serde_json about characters of texts.
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

/// The forgiving reader reads what the strict one accepts, and reads the same; `true` where the strict one accepts it.
pub(crate) fn agrees<T: DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Ok(strict) = serde_json::from_slice::<T>(bytes) else {
        return false;
    };
    assert_eq!(read_store_json::<T>(bytes).ok(), Some(strict));
    true
}
