use data_model::{Media, MediaKind};
use data_text::stated_line;
use pipeline_parse::{RawImage, RawProduct};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::address;
use crate::context::StoreContext;

const ALT_CHARS_MAX: usize = 512;

/// Returns the images in display order, without duplicate URLs.
pub(crate) fn media(raw: &RawProduct<'_>, context: &StoreContext) -> Vec<Media> {
    let featured = raw
        .variants
        .iter()
        .filter_map(|variant| variant.featured_image.as_deref());
    let alts: FxHashMap<&str, &str> = featured
        .filter_map(|image| Some((image.src.as_deref()?, image.alt.as_deref()?)))
        .collect();
    let mut images: Vec<&RawImage<'_>> = raw.images.iter().collect();
    // The sort is stable, so that images without a position keep their order.
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
            alt: stated_line(alt, ALT_CHARS_MAX),
            width: pixels(image.width),
            height: pixels(image.height),
        });
    }
    media
}
