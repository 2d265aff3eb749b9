use std::borrow::Cow;

use data_model::{Product, ProductKey, Timestamp};
use data_text::{escaped_line, html_to_text, is_hidden, stated_line};
use pipeline_parse::RawProduct;
use rustc_hash::FxHashSet;

use crate::attributes::attributes;
use crate::category::Reading;
use crate::context::StoreContext;
use crate::media::media;
use crate::variants::{BadVariant, named_apart, options, variants};

const TITLE_CHARS_MAX: usize = 1_000;
const WORDS_CHARS_MAX: usize = 255;
/// Half of the maximum size of a product in a release, because reviews are added later.
const PRODUCT_BYTES_MAX: usize = 8 << 20;

/// Maximum characters of a quarantine reason. A reason may quote the store's text.
pub const REASON_CHARS_MAX: usize = 500;

/// A product, and the unusable parts of its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalised {
    /// Product without the variants that could not be understood.
    pub product: Product,
    /// Omitted parts, each with the reason, such as `variant 123: price: missing`.
    pub left_out: Vec<String>,
    /// Category by the product's own texts. The store's other products may change it.
    pub(crate) reading: Reading,
}

/// Reason for making no product of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Shopify's id is zero, which identifies nothing.
    #[error("id: missing")]
    IdMissing,
    /// The title is missing or blank.
    #[error("title: blank")]
    TitleBlank,
    /// The record has more text than any genuine product.
    #[error("record: its text has {bytes} bytes, more than the maximum of {bytes_max}")]
    TooLarge {
        /// Size of the text in bytes.
        bytes: usize,
        /// Maximum size of the text in bytes.
        bytes_max: usize,
    },
    /// The record has no variants.
    #[error("variants: none")]
    NoVariants,
    /// No variant of the record could be understood.
    #[error("variants: none of {count} can be parsed; {first}")]
    NoGoodVariant {
        /// Number of variants.
        count: usize,
        /// Reason for the first variant.
        first: String,
    },
}

/// Converts one record to a product.
///
/// # Errors
/// [`Rejection`] if the record does not become a product.
pub fn normalise_product(raw: &RawProduct<'_>, context: &StoreContext) -> Result<Normalised, Rejection> {
    if raw.id == 0 {
        return Err(Rejection::IdMissing);
    }
    let title = stated_line(raw.title.as_deref(), TITLE_CHARS_MAX).ok_or(Rejection::TitleBlank)?;
    let tags = tags(raw);
    let product_type = stated_line(raw.product_type.as_deref(), WORDS_CHARS_MAX);
    let moment = |stated: Option<&str>| -> Option<Timestamp> { stated?.trim().parse().ok() };
    let mut reading = Reading::of(product_type.as_deref(), &title, &tags);
    let category = reading.category();
    let stated = options(raw);
    let attributes = attributes(&stated, &tags, &title, category);
    let options = named_apart(stated);
    let (good, bad) = variants(raw, &options, context);
    let left_out = left_out(raw, bad);
    if good.is_empty() {
        let first = left_out.into_iter().next().ok_or(Rejection::NoVariants)?;
        let count = raw.variants_stated.max(raw.variants.len());
        return Err(Rejection::NoGoodVariant { count, first });
    }
    let product = Product {
        key: ProductKey {
            store: context.store.clone(),
            platform_id: raw.id,
        },
        handle: handle(raw),
        description: raw.body_html.as_deref().map(html_to_text).unwrap_or_default(),
        vendor: stated_line(raw.vendor.as_deref(), WORDS_CHARS_MAX),
        category,
        attributes,
        media: media(raw, context),
        variants: good,
        currency: context.currency,
        rating: None,
        reviews: Vec::new(),
        created_at: moment(raw.created_at.as_deref()),
        published_at: moment(raw.published_at.as_deref()),
        updated_at: moment(raw.updated_at.as_deref()),
        title,
        product_type,
        tags,
        options,
    };
    let bytes = product.text_bytes();
    if bytes > PRODUCT_BYTES_MAX {
        let bytes_max = PRODUCT_BYTES_MAX;
        return Err(Rejection::TooLarge { bytes, bytes_max });
    }
    reading.note_kind(product.kind());
    Ok(Normalised {
        product,
        left_out,
        reading,
    })
}

/// Returns the reasons for omitted variants, which could not be parsed or are invalid. The last entry counts variants
/// without an individual reason.
fn left_out(raw: &RawProduct<'_>, bad: Vec<BadVariant>) -> Vec<String> {
    let why = |reason: &str| escaped_line(reason, REASON_CHARS_MAX);
    let unread = raw.bad_variants.iter().map(|bad| match bad.id {
        Some(id) => format!("variant {id}: {}", why(&bad.reason)),
        None => format!("variant at place {}: {}", bad.position, why(&bad.reason)),
    });
    let mut left_out: Vec<String> = unread.collect();
    left_out.extend(
        bad.iter()
            .map(|bad| format!("variant {}: {}", bad.id, why(&bad.reason))),
    );
    let told = raw.variants.len() + raw.bad_variants.len();
    if raw.variants_stated > told {
        left_out.push(format!(
            "variants: {} of {} are omitted without a report on each",
            raw.variants_stated - told,
            raw.variants_stated
        ));
    }
    left_out
}

/// Stores may percent-encode the handle. Returns Shopify's id if the handle is not a valid single path segment.
fn handle(raw: &RawProduct<'_>) -> String {
    let stated = raw.handle.as_deref().map(str::trim).unwrap_or_default();
    let stated = &*percent_decoded(stated);
    let plain = |character: char| {
        let reserved = matches!(
            character,
            '/' | '\\' | '?' | '#' | '%' | ':' | '&' | '"' | '\'' | '<' | '>' | '`' | '{' | '}' | '|' | '^'
        );
        !reserved && !character.is_whitespace() && !is_hidden(character)
    };
    let is_segment = !stated.is_empty() && stated != "." && !stated.contains("..") && stated.chars().all(plain);
    if is_segment && stated.chars().count() <= WORDS_CHARS_MAX {
        stated.to_owned()
    } else {
        raw.id.to_string()
    }
}

/// Decodes once. Returns the text unchanged if the result is not valid text.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = |offset: usize| char::from(*bytes.get(at + offset)?).to_digit(16);
        let encoded = (*byte == b'%').then(|| hex(1).zip(hex(2))).flatten();
        let value = encoded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        decoded.push(value.unwrap_or(*byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    match String::from_utf8(decoded) {
        Ok(decoded) if decoded != text => Cow::Owned(decoded),
        _ => Cow::Borrowed(text),
    }
}

fn tags(raw: &RawProduct<'_>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let lines = raw
        .tags
        .iter()
        .filter_map(|tag| stated_line(Some(tag), WORDS_CHARS_MAX));
    lines.filter(|tag| seen.insert(tag.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_is_no_plain_segment_of_a_path_gives_way_to_the_id() {
        let handle_of = |stated: &str| {
            handle(&RawProduct {
                id: 7,
                handle: Some(stated.to_owned().into()),
                ..RawProduct::default()
            })
        };
        for good in ["linen-shirt_2", "isodec®-pir", "чай", "a.b", "चाय"] {
            assert_eq!(handle_of(&format!(" {good}\n")), good);
        }
        assert_eq!(handle_of("%E0%A4%9A%e0%a4%be%E0%A4%AF-1"), "चाय-1");
        let long = "x".repeat(256);
        for bad in [
            "",
            " ",
            ".",
            "..",
            "a/../b",
            "a..b",
            "../../cart",
            "a/b",
            "a\\b",
            "javascript:alert(1)",
            "//evil.example",
            "a?b=1",
            "a#b",
            "a%2fb",
            "a%252fb",
            "100%",
            "%e0%a4",
            "a%00b",
            "a b",
            "a\u{0}b",
            "a\tb",
            "a\u{202e}b",
            "\"><script>",
            &long,
        ] {
            assert_eq!(handle_of(bad), "7", "{bad:?}");
        }
        assert_eq!(
            handle(&RawProduct {
                id: 8,
                ..RawProduct::default()
            }),
            "8"
        );
    }
}
