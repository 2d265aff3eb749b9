use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// URL of a product page as people copy it: with or without a scheme, below a language or collection path, with a
/// variant or campaign parameters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageAddress<'a> {
    /// Host, with the port unless it is the scheme's default.
    pub(super) host: &'a str,
    /// Handle of the product: the decoded path segment after `products/`.
    pub(super) handle: Cow<'a, str>,
}

impl<'a> PageAddress<'a> {
    /// Parses the URL; `None` if it is not of a product page.
    pub(super) fn read(url: &'a str) -> Option<Self> {
        let url = url.trim();
        let (scheme, rest) = match url.split_once("://") {
            // The query string may contain another `://`.
            Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => (scheme, rest),
            _ => ("https", url.trim_start_matches('/')),
        };
        if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        let rest = rest.split(['?', '#']).next()?;
        let (authority, path) = rest.split_once('/')?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let own_port = if scheme.eq_ignore_ascii_case("http") {
            ":80"
        } else {
            ":443"
        };
        let host = host.strip_suffix(own_port).unwrap_or(host);
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let pairs = segments.windows(2).rev();
        let mut handles = pairs.filter(|pair| pair[0].eq_ignore_ascii_case("products"));
        let handle = percent_decode_str(handles.next()?.get(1)?).decode_utf8().ok()?;
        (!host.is_empty()).then_some(Self { host, handle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_however_it_was_copied() {
        for url in [
            "https://tea.example/products/caf%C3%A9-mug",
            "http://tea.example/products/café-mug/",
            "HTTPS://tea.example:443/products/café-mug?variant=42&utm_source=a://b",
            "//tea.example/collections/all/products/café-mug#reviews",
            "tea.example/en-in/collections/mugs/products/café-mug",
            " https://shopper@tea.example/fr/products/café-mug ",
        ] {
            let read = PageAddress::read(url);
            assert_eq!(read.as_ref().map(|read| read.host), Some("tea.example"), "{url}");
            assert_eq!(
                read.map(|read| read.handle.into_owned()).as_deref(),
                Some("café-mug"),
                "{url}"
            );
        }
        for url in [
            "",
            "tea.example",
            "https://tea.example/products/",
            "https://tea.example/collections/mugs",
            "ftp://tea.example/products/mug",
            "https:///products/mug",
            "https://tea.example/pages/products?x=/products/mug",
        ] {
            assert_eq!(PageAddress::read(url), None, "{url}");
        }
        let products = PageAddress::read("https://tea.example/products/products").map(|read| read.handle.into_owned());
        assert_eq!(products.as_deref(), Some("products"));
    }
}
