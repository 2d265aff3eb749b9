use std::cell::RefCell;

use http::{HeaderMap, HeaderName, HeaderValue};
use rand::{RngCore, SeedableRng, rngs::SmallRng};

/// The id of one request, used in its response and in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of an id that a client sends.
const CHARS_MAX: usize = 128;

thread_local! {
    // An id must be unique but not secret. A generator per thread saves a system call for each request.
    static RANDOM: RefCell<SmallRng> = RefCell::new(SmallRng::from_seed(seed()));
}

fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    seed[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    seed
}

impl RequestId {
    /// Returns the client's own id if it is valid (1 to 128 visible ASCII characters), else a new UUID.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(HEADER).filter(|id| {
            let bytes = id.as_bytes();
            (1..=CHARS_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
        });
        sent.map_or_else(Self::random, |id| Self(id.clone()))
    }

    fn random() -> Self {
        let mut bytes = [0; 16];
        RANDOM.with_borrow_mut(|random| random.fill_bytes(&mut bytes));
        let uuid = uuid::Builder::from_random_bytes(bytes).into_uuid();
        let mut text = uuid::Uuid::encode_buffer();
        let text = uuid.hyphenated().encode_lower(&mut text);
        // The text of a UUID is always a valid header value.
        Self(HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("-")))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    pub(crate) fn into_header(self) -> HeaderValue {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(sent: &[u8]) -> String {
        let headers = HeaderMap::from_iter([(HEADER, HeaderValue::from_bytes(sent).unwrap())]);
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn a_valid_id_is_kept_and_any_other_replaced_by_a_uuid() {
        assert_eq!(id(b"order-42/try_1"), "order-42/try_1");
        assert_eq!(id(&[b'x'; 128]).len(), 128);
        for wrong in [&b""[..], b"a b", b"caf\xc3\xa9", &[b'x'; 129]] {
            assert_eq!(id(wrong).parse::<uuid::Uuid>().unwrap().get_version_num(), 4);
        }
        assert_ne!(id(b""), id(b""));
    }
}
