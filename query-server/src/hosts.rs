//! Lookup of brands by host name.

use std::borrow::Cow;

use data_index::Release;
use rustc_hash::FxHashMap;

/// Normalises a host for comparison: lowercase, without a leading `www.` or a trailing dot. A port stays.
pub(crate) fn host_key(host: &str) -> Cow<'_, str> {
    let host = host.trim().trim_end_matches('.');
    let bare = match host.get(..4) {
        Some(begin) if begin.eq_ignore_ascii_case("www.") => &host[4..],
        _ => host,
    };
    if bare.bytes().any(|byte| byte.is_ascii_uppercase()) || !bare.is_ascii() {
        Cow::Owned(bare.to_lowercase())
    } else {
        Cow::Borrowed(bare)
    }
}

/// Returns the positions of brands by host: by public domain, or else by permanent host. If two brands have the same
/// host, the first in `order` gets it.
pub(crate) fn of(release: &Release, order: &[usize]) -> FxHashMap<String, usize> {
    let brands = || {
        let entry = |at: &usize| release.brands().get(*at).map(|entry| (*at, &entry.facts.brand));
        order.iter().filter_map(entry)
    };
    let domains = brands().map(|(at, brand)| (brand.domain.as_str(), at));
    let stores = brands().map(|(at, brand)| (brand.store.as_str(), at));
    let mut brand_of_host = FxHashMap::default();
    for (host, at) in domains.chain(stores) {
        brand_of_host.entry(host_key(host).into_owned()).or_insert(at);
    }
    brand_of_host
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_host_is_the_same_however_it_is_written() {
        for host in [
            "blue-tokai.example",
            "WWW.Blue-Tokai.example",
            "www.blue-tokai.EXAMPLE.",
        ] {
            assert_eq!(host_key(host), "blue-tokai.example", "{host}");
        }
        assert_eq!(host_key("www.tea.example:8443"), "tea.example:8443");
        assert_ne!(host_key("tea.example:8443"), host_key("tea.example"));
        assert_eq!(host_key("wwwx.example"), "wwwx.example");
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_itself_but_for_another_www(host in "[a-zA-Z0-9.-]{0,30}") {
            let key = host_key(&host).into_owned();
            if !key.starts_with("www.") {
                prop_assert_eq!(host_key(&key), key.as_str());
            }
        }
    }
}
