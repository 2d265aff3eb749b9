use data_model::{CurrencyCode, Product, ProductKey, StoreHost, Timestamp};
use pipeline_parse::RawProduct;
use rustc_hash::FxHashSet;

use crate::attributes::attributes;
use crate::category::categorise;
use crate::html::html_to_text;
use crate::media::media;
use crate::text;
use crate::variants::{options, variants};

const TITLE_CHARS_MAX: usize = 1_000;
const WORDS_CHARS_MAX: usize = 255;

/// What is known of the store that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreContext {
    /// Its permanent host.
    pub store: StoreHost,
    /// The currency that its prices are stated in.
    pub currency: CurrencyCode,
    /// Its base URL without a slash at the end.
    pub base_url: String,
}

/// A product, and what of its record could not be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalised {
    /// The product, without the variants that could not be understood.
    pub product: Product,
    /// Why variants were left out: `variant 123: price: missing`.
    pub left_out: Vec<String>,
}

/// Why a record makes no product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The platform's id is zero: nothing can be told apart by it.
    #[error("id: missing")]
    IdMissing,
    /// No title, or a blank one.
    #[error("title: blank")]
    TitleBlank,
    /// No variants at all.
    #[error("variants: none")]
    NoVariants,
    /// Variants, but none that can be understood; with the first one's reason.
    #[error("variants: none of {count} can be understood; {first}")]
    NoGoodVariant {
        /// How many there are.
        count: usize,
        /// Why the first was refused.
        first: String,
    },
}

/// Gives one record one meaning.
///
/// # Errors
/// [`Rejection`] says why the record makes no product.
pub fn normalise_product(raw: &RawProduct<'_>, context: &StoreContext) -> Result<Normalised, Rejection> {
    if raw.id == 0 {
        return Err(Rejection::IdMissing);
    }
    let title = text::stated(raw.title.as_deref(), TITLE_CHARS_MAX).ok_or(Rejection::TitleBlank)?;
    let options = options(raw);
    let (good, bad) = variants(raw, &options, context);
    let left_out: Vec<String> = bad
        .iter()
        .map(|bad| format!("variant {}: {}", bad.id, bad.reason))
        .collect();
    if good.is_empty() {
        let first = left_out.into_iter().next().ok_or(Rejection::NoVariants)?;
        return Err(Rejection::NoGoodVariant {
            count: bad.len(),
            first,
        });
    }
    let tags = tags(raw);
    let product_type = text::stated(raw.product_type.as_deref(), WORDS_CHARS_MAX);
    let moment = |stated: Option<&str>| -> Option<Timestamp> { stated?.trim().parse().ok() };
    let product = Product {
        key: ProductKey {
            store: context.store.clone(),
            platform_id: raw.id,
        },
        handle: text::stated(raw.handle.as_deref(), WORDS_CHARS_MAX).unwrap_or_else(|| raw.id.to_string()),
        description: raw.body_html.as_deref().map(html_to_text).unwrap_or_default(),
        vendor: text::stated(raw.vendor.as_deref(), WORDS_CHARS_MAX),
        category: categorise(product_type.as_deref(), &title, &tags),
        attributes: attributes(&options, &tags, &title),
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
    Ok(Normalised { product, left_out })
}

fn tags(raw: &RawProduct<'_>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let lines = raw
        .tags
        .iter()
        .filter_map(|tag| text::stated(Some(tag), WORDS_CHARS_MAX));
    lines.filter(|tag| seen.insert(tag.clone())).collect()
}
