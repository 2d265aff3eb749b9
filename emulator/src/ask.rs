use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, HeaderName, IF_NONE_MATCH};
use http::request::Parts;
use percent_encoding::percent_decode_str;

/// Parts of an HTTP request that determine the emulator's response.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Percent-decoded path.
    pub(crate) path: String,
    query: String,
    pub(crate) if_none_match: Option<String>,
    accept_encoding: String,
    content_type: String,
    /// Storefront access token of the client.
    pub(crate) token: Option<String>,
    /// Decoded cookies of the request.
    pub(crate) cookies: Vec<FormField>,
    /// Body of the request; empty unless it was read.
    pub(crate) body: Bytes,
}

/// Name and value in a form, a query string or the cookies of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormField {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
}

impl Ask {
    pub(crate) fn of(parts: &Parts) -> Self {
        let header = |name: HeaderName| {
            parts
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        Self {
            path: decode(parts.uri.path()),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            if_none_match: header(IF_NONE_MATCH),
            accept_encoding: header(ACCEPT_ENCODING).unwrap_or_default(),
            content_type: header(CONTENT_TYPE).unwrap_or_default(),
            token: header(HeaderName::from_static("x-shopify-storefront-access-token"))
                .or_else(|| header(HeaderName::from_static("shopify-storefront-private-token"))),
            cookies: header(COOKIE).map_or_else(Vec::new, |text| cookies(&text)),
            body: Bytes::new(),
        }
    }

    /// Returns this request without the validator `If-None-Match`.
    pub(crate) fn unconditional(&self) -> Self {
        Self {
            if_none_match: None,
            ..self.clone()
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        let kind = self.content_type.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    }

    /// Returns the decoded value of a query parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.parameters()
            .into_iter()
            .find(|field| field.name == name)
            .map(|field| field.value)
    }

    /// Returns all query parameters, decoded, in their order.
    pub(crate) fn parameters(&self) -> Vec<FormField> {
        form(&self.query)
    }

    fn number(&self, name: &str) -> Option<u32> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .rev()
            .find(|(key, _)| *key == name)?
            .1
            .parse()
            .ok()
            .filter(|number| *number > 0)
    }

    /// Returns the page size, 30 by default and at most 250.
    pub(crate) fn limit(&self) -> u64 {
        u64::from(self.number("limit").unwrap_or(30).min(250))
    }

    /// Returns the page number, counted from 1.
    pub(crate) fn page(&self) -> u32 {
        self.number("page").unwrap_or(1)
    }

    /// True if the client already has the version with this `ETag`. The comparison is weak, as RFC 9110 requires for
    /// `If-None-Match`.
    pub(crate) fn has(&self, etag: &str) -> bool {
        let given = self.if_none_match.as_deref().unwrap_or_default();
        given
            .split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    }

    /// Returns the content coding that the client prefers, or gzip if the client has no preference.
    pub(crate) fn coding(&self) -> Option<Coding> {
        let quality = |name: &str| {
            let mut codings = self.accept_encoding.split(',').map(str::trim);
            let found = codings.find_map(|coding| {
                let (coding, rest) = coding.split_once(';').unwrap_or((coding, ""));
                (coding.trim().eq_ignore_ascii_case(name)).then_some(rest)
            })?;
            let quality: f32 = found
                .trim()
                .strip_prefix("q=")
                .map_or(1.0, |number| number.parse().unwrap_or(0.0));
            (quality > 0.0).then_some(quality)
        };
        match (quality("gzip"), quality("br")) {
            (Some(gzip), Some(brotli)) if brotli > gzip => Some(Coding::Brotli),
            (Some(_), _) => Some(Coding::Gzip),
            (None, Some(_)) => Some(Coding::Brotli),
            (None, None) => None,
        }
    }
}

fn cookies(text: &str) -> Vec<FormField> {
    let pairs = text.split(';').filter_map(|pair| pair.trim().split_once('='));
    let field = |(name, value): (&str, &str)| FormField {
        name: name.to_owned(),
        value: decode(value),
    };
    pairs.map(field).collect()
}

/// Decodes the fields of a form or a query string.
pub(crate) fn form(text: &str) -> Vec<FormField> {
    let plain = |part: &str| decode(&part.replace('+', " "));
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            FormField {
                name: plain(name),
                value: plain(value),
            }
        })
        .collect()
}

/// Percent-decodes a path. Invalid escapes and paths that are not UTF-8 stay unchanged.
fn decode(path: &str) -> String {
    percent_decode_str(path)
        .decode_utf8()
        .map_or_else(|_| path.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use proptest::prelude::*;

    use super::*;

    fn ask(uri: &str, headers: &[(HeaderName, &str)]) -> Ask {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        Ask::of(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn limits_are_clamped_and_nonsense_is_the_default() {
        let of = |query: &str| {
            let ask = ask(&format!("/products.json?{query}"), &[]);
            (ask.limit(), ask.page())
        };
        assert_eq!(of(""), (30, 1));
        assert_eq!(of("limit=9999&page=3&fields=id"), (250, 3));
        assert_eq!(of("limit=0&page=-1"), (30, 1));
        assert_eq!(of("limit=ten&page=4294967295"), (30, u32::MAX));
    }

    #[test]
    fn validators_compare_weakly() {
        let has = |given| ask("/", &[(IF_NONE_MATCH, given)]).has("\"a\"");
        assert!(has("\"a\"") && has("W/\"a\"") && has("\"b\", \"a\"") && has("*"));
        assert!(!has("\"b\"") && !has("a"));
    }

    #[test]
    fn codings_follow_the_clients_preference() {
        let coding = |accepts| ask("/", &[(ACCEPT_ENCODING, accepts)]).coding();
        assert_eq!(coding("gzip, br"), Some(Coding::Gzip));
        assert_eq!(coding("gzip;q=0.5, br;q=0.9"), Some(Coding::Brotli));
        assert_eq!(coding("br"), Some(Coding::Brotli));
        assert_eq!(coding("gzip;q=0"), None);
        assert_eq!(coding("identity"), None);
    }

    #[test]
    fn handles_of_any_script_arrive() {
        assert_eq!(
            ask("/products/%E0%A4%9A%E0%A4%BE%E0%A4%AF.js", &[]).path,
            "/products/चाय.js"
        );
        assert_eq!(ask("/a%2", &[]).path, "/a%2");
    }

    proptest! {
        #[test]
        fn no_path_breaks_it(path in "[ -~]*") {
            decode(&path);
        }
    }
}
