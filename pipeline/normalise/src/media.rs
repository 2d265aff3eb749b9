use data_model::{Media, MediaKind};
use pipeline_parse::{RawImage, RawProduct};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::product::StoreContext;
use crate::text;

/// Longest address that is kept.
const URL_BYTES_MAX: usize = 2_048;
const ALT_CHARS_MAX: usize = 512;

/// An absolute `https` address of what a store states as the address of a picture; `http` only for a store that is
/// reached by `http` itself (one on this machine). `None` for whatever no browser should be pointed at.
pub(crate) fn address(stated: &str, context: &StoreContext) -> Option<String> {
    // Browsers encode spaces too.
    let stated = &*stated.trim().replace(' ', "%20");
    let printable = stated
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'`'));
    if stated.is_empty() || stated.len() > URL_BYTES_MAX || !printable && stated.is_ascii() {
        return None;
    }
    if !stated.is_ascii()
        && stated
            .chars()
            .any(|character| character.is_whitespace() || text::is_hidden(character))
    {
        return None;
    }
    let plain_http = context.base_url.starts_with("http://");
    let begins = |prefix: &str| {
        stated
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if begins("https://") && stated.len() > "https://".len() {
        Some(stated.to_owned())
    } else if begins("http://") && stated.len() > "http://".len() {
        let rest = &stated["http://".len()..];
        Some(if plain_http {
            stated.to_owned()
        } else {
            format!("https://{rest}")
        })
    } else if let Some(rest) = stated.strip_prefix("//").filter(|rest| !rest.is_empty()) {
        Some(format!("{}//{rest}", if plain_http { "http:" } else { "https:" }))
    } else if stated.starts_with('/') {
        Some(format!("{}{stated}", context.base_url))
    } else {
        None
    }
}

/// The product's pictures in display order, each address once.
pub(crate) fn media(raw: &RawProduct<'_>, context: &StoreContext) -> Vec<Media> {
    let featured = raw
        .variants
        .iter()
        .filter_map(|variant| variant.featured_image.as_deref());
    let alts: FxHashMap<&str, &str> = featured
        .filter_map(|image| Some((image.src.as_deref()?, image.alt.as_deref()?)))
        .collect();
    let mut images: Vec<&RawImage<'_>> = raw.images.iter().collect();
    // Stable: pictures without a place stay where they stood.
    images.sort_by_key(|image| image.position.unwrap_or(u64::MAX));
    let mut seen = FxHashSet::default();
    let mut media = Vec::with_capacity(images.len());
    for image in images {
        let Some(url) = image.src.as_deref().and_then(|src| address(src, context)) else {
            continue;
        };
        if !seen.insert(url.clone()) {
            continue;
        }
        let alt = image
            .alt
            .as_deref()
            .or_else(|| alts.get(image.src.as_deref()?).copied());
        let pixels = |stated: Option<u64>| {
            stated
                .and_then(|pixels| u32::try_from(pixels).ok())
                .filter(|pixels| *pixels > 0)
        };
        media.push(Media {
            url,
            kind: MediaKind::Image,
            alt: text::stated(alt, ALT_CHARS_MAX),
            width: pixels(image.width),
            height: pixels(image.height),
        });
    }
    media
}
