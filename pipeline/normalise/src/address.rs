//! Checks the URLs of stores before they go to browsers, clients and files.

// Only the address types are used: `core` has no sockets.
use core::net::{Ipv4Addr, Ipv6Addr};

use data_text::is_hidden;
use url::{Host, Url};

use crate::context::StoreContext;

const URL_BYTES_MAX: usize = 2_048;

/// Top-level names that only private networks resolve, from RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`, and
/// custom.
const PRIVATE_SUFFIXES: [&str; 11] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "arpa",
    "onion",
];

/// Returns the absolute, normalised `https` URL, or `http` for a store on this machine that is itself reached by
/// `http`. Returns `None` for a URL that is unsafe for a browser: another scheme, credentials, quotes or markup, hidden
/// characters, a host on a private network other than the store's own, or too many bytes.
pub(crate) fn address(stated: &str, context: &StoreContext) -> Option<String> {
    let stated = stated.trim();
    if stated.is_empty() || stated.len() > URL_BYTES_MAX {
        return None;
    }
    // Nearly all URLs are already normalised, and this check is faster than the parser.
    if is_normal(stated, &context.base_url) {
        return Some(stated.to_owned());
    }
    normalised(stated, context)
}

fn normalised(stated: &str, context: &StoreContext) -> Option<String> {
    let refused = |character: char| {
        matches!(character, '"' | '<' | '>' | '\\' | '`')
            || (character != ' ' && character.is_whitespace())
            || is_hidden(character)
    };
    if stated.chars().any(refused) {
        return None;
    }
    let plain_http = context.base_url.starts_with("http://");
    let begins = |prefix: &str| {
        stated
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let mut url = if begins("https://") || begins("http://") {
        Url::parse(stated)
    } else if stated.starts_with("//") {
        Url::parse(&format!("{}{stated}", if plain_http { "http:" } else { "https:" }))
    } else if stated.starts_with('/') {
        Url::parse(&format!("{}{stated}", context.base_url))
    } else {
        return None;
    }
    .ok()?;
    if url.scheme() == "http" && !plain_http {
        url.set_scheme("https").ok()?;
    }
    let is_bare = url.username().is_empty() && url.password().is_none();
    let is_reachable = url.host().is_some_and(is_public) || is_own(&url, &context.base_url);
    // The parser decodes percent-encoded hosts, so that the checks are repeated.
    let is_plain = !url.as_str().chars().any(refused);
    (is_bare && is_reachable && is_plain && url.as_str().len() <= URL_BYTES_MAX).then(|| url.into())
}

/// The operator registered the store's own host, which may be on any network.
fn is_own(url: &Url, base_url: &str) -> bool {
    Url::parse(base_url).is_ok_and(|base| base.host() == url.host())
}

/// Returns true if the host's name or IP address is public. The parser has already normalised every spelling of an IPv4
/// address (decimal, octal, hexadecimal, short, percent-encoded, full-width).
fn is_public(host: Host<&str>) -> bool {
    match host {
        Host::Ipv4(ip) => is_public_v4(ip),
        Host::Ipv6(ip) => is_public_v6(ip),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name.rsplit_once('.')
                .is_some_and(|(_, suffix)| !PRIVATE_SUFFIXES.contains(&suffix))
        }
    }
}

/// Applies the IANA IPv4 special-purpose registry.
fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Accepts global unicast (2000::/3), except documentation and benchmark addresses. If an IPv6 address embeds a whole
/// IPv4 address (IPv4-mapped, NAT64), the IPv4 address decides. Other embeddings (6to4, Teredo) are refused.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Returns `true` if the URL is acceptable and already in the parser's normal form. With `false`, the parser decides.
fn is_normal(stated: &str, base_url: &str) -> bool {
    let rest = stated.strip_prefix("https://").and_then(|rest| {
        let (host, _) = rest.split_once('/')?;
        is_plain_host(host).then(|| &rest[host.len()..])
    });
    let rest = rest.or_else(|| stated.strip_prefix(base_url).filter(|rest| rest.starts_with('/')));
    rest.is_some_and(is_plain_path)
}

/// Accepts lowercase names with at least two labels. The last label must not be a number or belong to a private
/// network. Internationalised labels are refused.
fn is_plain_host(host: &str) -> bool {
    let is_plain = |label: &str| {
        let bytes = label.as_bytes();
        let ends = [bytes.first(), bytes.last()];
        let ends_well = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
        bytes.len() <= 63
            && ends.into_iter().all(ends_well)
            && !label.contains("--")
            && bytes
                .iter()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    let Some((_, last)) = host.rsplit_once('.') else {
        return false;
    };
    let is_number = !last.starts_with(|first: char| first.is_ascii_lowercase());
    host.len() <= 253 && host.split('.').all(is_plain) && !is_number && !PRIVATE_SUFFIXES.contains(&last)
}

/// Accepts characters that are never percent-encoded, without the segments `.` and `..`.
fn is_plain_path(rest: &str) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_~!$&()*+,;=:@%/.".contains(byte);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    path.as_bytes().iter().all(is_plain)
        && query.as_bytes().iter().all(|byte| is_plain(byte) || *byte == b'?')
        // The parser resolves dot segments, including percent-encoded ones.
        && !path.contains("/.")
        && !path.contains("/%2")
}

#[cfg(test)]
mod tests;
