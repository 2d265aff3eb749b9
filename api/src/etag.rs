use std::hash::{Hash, Hasher};

use http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};

/// A weak entity tag, shared by every coding (plain, gzip, br) of one response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTag(HeaderValue);

impl EntityTag {
    /// Derives a tag from all inputs of a response. The inputs are separated, so `["ab", "c"]` and `["a", "bc"]` give
    /// different tags.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self::spell(digest)
    }

    /// Derives a tag from `parts` and a parsed request. Requests with equal values get the same tag, even if their
    /// texts differ. Identical builds of the program derive the same tag.
    #[must_use]
    pub fn following(parts: &[&[u8]], request: &impl Hash) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut hasher = DigestHasher(digest);
        request.hash(&mut hasher);
        Self::spell(hasher.0)
    }

    fn spell(digest: Sha256) -> Self {
        let digest = digest.finalize();
        let mut text = *b"W/\"????????????????????????\"";
        let hex = b"0123456789abcdef";
        for (index, byte) in digest.iter().take(12).enumerate() {
            text[3 + index * 2] = hex[usize::from(byte >> 4)];
            text[4 + index * 2] = hex[usize::from(byte & 15)];
        }
        Self(HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// Returns the tag as a header value.
    #[must_use]
    pub fn header(&self) -> &HeaderValue {
        &self.0
    }

    fn opaque(&self) -> &[u8] {
        opaque(self.0.as_bytes())
    }
}

/// Digest of the bytes that a value's `Hash` writes. `Hash` itself separates consecutive values.
struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        // This method of hashers is unused, because the full digest is read.
        0
    }
}

/// Removes the mark of a weak tag, for weak comparison (RFC 9110, 8.8.3.2).
fn opaque(tag: &[u8]) -> &[u8] {
    let tag = tag.trim_ascii();
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// True if `If-None-Match` contains `tag`, so that the response is 304. The header is a list of tags or `*`, compared
/// weakly.
#[must_use]
pub fn if_none_match(headers: &HeaderMap, tag: &EntityTag) -> bool {
    let wanted = tag.opaque();
    headers.get_all(header::IF_NONE_MATCH).iter().any(|list| {
        // This server's tags have no comma, so a foreign tag with a comma cannot equal one of them.
        list.as_bytes()
            .split(|byte| *byte == b',')
            .any(|one| one.trim_ascii() == b"*" || opaque(one) == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_matches_itself_weak_or_strong_in_a_list_or_as_a_star() {
        let tag = EntityTag::of(&[b"r1", b"/v1/stats"]);
        let matches = |value: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_str(value).unwrap())]);
            if_none_match(&headers, &tag)
        };
        let own = tag.header().to_str().unwrap();
        assert!(
            own.starts_with("W/\"") && own.ends_with('"') && own.len() == 28,
            "{own}"
        );
        assert!(matches(own) && matches(own.trim_start_matches("W/")) && matches("*"));
        assert!(matches(&format!("\"a\", W/\"b\",{own}")));
        assert!(!matches("\"a\"") && !matches("") && !matches(&own[4..]));
        assert!(!if_none_match(&HeaderMap::new(), &tag));
    }

    #[test]
    fn equal_requests_share_a_tag_and_others_do_not() {
        let of = |text: &str, limit: u16| EntityTag::following(&[b"r1"], &(text, Some(limit)));
        assert_eq!(of("tea", 1), of("tea", 1));
        assert_ne!(of("tea", 1), of("tea", 2));
        assert_ne!(of("tea", 1), of("teas", 1));
        assert_ne!(
            EntityTag::following(&[b"r1"], &("ab", "c")),
            EntityTag::following(&[b"r1"], &("a", "bc"))
        );
        assert_ne!(of("tea", 1), EntityTag::following(&[b"r2"], &("tea", Some(1_u16))));
    }

    #[test]
    fn parts_are_told_apart() {
        assert_ne!(EntityTag::of(&[b"ab", b"c"]), EntityTag::of(&[b"a", b"bc"]));
    }
}
