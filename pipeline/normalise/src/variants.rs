use data_model::{Money, MoneyError, OptionValue, ProductOption, Size, SizeSystem, Variant, VariantId};
use data_text::{stated_code, stated_line};
use pipeline_parse::{RawImage, RawOption, RawProduct, RawVariant};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::address;
use crate::attributes::sizes_of;
use crate::context::StoreContext;

const NAME_CHARS_MAX: usize = 255;
/// The longest product barcodes have 14 digits.
const BARCODE_CHARS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadVariant {
    pub(crate) id: u64,
    pub(crate) reason: String,
}

/// Shopify gives a product without options one option `Title` with the single value `Default Title`.
fn is_default(raw: &RawProduct<'_>) -> bool {
    let [variant] = raw.variants.as_slice() else {
        return false;
    };
    let named_title = match raw.options.as_slice() {
        [] => true,
        [option] => option
            .name
            .as_deref()
            .is_none_or(|name| name.trim().eq_ignore_ascii_case("title")),
        _ => false,
    };
    let value = variant.options[0]
        .as_deref()
        .or(variant.title.as_deref())
        .unwrap_or("Default Title")
        .trim();
    named_title && value.eq_ignore_ascii_case("default title") && variant.options[1..].iter().all(Option::is_none)
}

/// Returns no options for a product with only the default variant.
pub(crate) fn options(raw: &RawProduct<'_>) -> Vec<ProductOption> {
    if is_default(raw) {
        return Vec::new();
    }
    let mut stated: Vec<&RawOption<'_>> = raw.options.iter().collect();
    stated.sort_by_key(|option| option.position.unwrap_or(u64::MAX));
    let used = raw
        .variants
        .iter()
        .filter_map(|variant| variant.options.iter().rposition(Option::is_some))
        .max();
    let count = stated.len().max(used.map_or(0, |last| last + 1));
    let mut options = Vec::with_capacity(count);
    for place in 0..count {
        let option = stated.get(place);
        let name = stated_line(option.and_then(|option| option.name.as_deref()), NAME_CHARS_MAX);
        let mut seen = FxHashSet::default();
        let own = option
            .into_iter()
            .flat_map(|option| option.values.iter().map(AsRef::as_ref));
        let of_variants = raw
            .variants
            .iter()
            .filter_map(|variant| variant.options.get(place)?.as_deref());
        let values = own
            .chain(of_variants)
            .filter_map(|value| stated_line(Some(value), NAME_CHARS_MAX));
        let values: Vec<String> = values.filter(|value| seen.insert(value.clone())).collect();
        options.push(ProductOption {
            name: name.unwrap_or_else(|| format!("Option {}", place + 1)),
            values,
        });
    }
    options
}

/// Numbers equal option names, because the name identifies the option of a value.
pub(crate) fn named_apart(mut options: Vec<ProductOption>) -> Vec<ProductOption> {
    for place in 1..options.len() {
        let is_taken = |name: &str| {
            options
                .iter()
                .enumerate()
                .any(|(other, option)| other != place && option.name == name)
        };
        let (before, name) = (&options[..place], &options[place].name);
        if before.iter().all(|option| option.name != *name) {
            continue;
        }
        let numbered = (2..).map(|number: usize| format!("{name} {number}"));
        if let Some(free) = numbered.into_iter().find(|name| !is_taken(name)) {
            options[place].name = free;
        }
    }
    options
}

/// Returns the variants that could be understood, in the store's order and with unique ids, and those that could not.
pub(crate) fn variants(
    raw: &RawProduct<'_>,
    options: &[ProductOption],
    context: &StoreContext,
) -> (Vec<Variant>, Vec<BadVariant>) {
    let pictures: FxHashMap<u64, &RawImage<'_>> = raw
        .images
        .iter()
        .flat_map(|image| image.variant_ids.iter().map(move |id| (*id, image)))
        .collect();
    let mut order: Vec<&RawVariant<'_>> = raw.variants.iter().collect();
    order.sort_by_key(|variant| variant.position.unwrap_or(u64::MAX));
    let sizes: Vec<Option<SizeSystem>> = options.iter().map(|option| sizes_of(&option.name)).collect();
    let mut seen = FxHashSet::default();
    let (mut good, mut bad) = (Vec::with_capacity(order.len()), Vec::new());
    for stated in order {
        if !seen.insert(stated.id) {
            continue;
        }
        match variant(stated, options, &sizes, pictures.get(&stated.id).copied(), context) {
            Ok(variant) => good.push(variant),
            Err(reason) => bad.push(BadVariant { id: stated.id, reason }),
        }
    }
    (good, bad)
}

fn variant(
    raw: &RawVariant<'_>,
    options: &[ProductOption],
    sizes: &[Option<SizeSystem>],
    picture: Option<&RawImage<'_>>,
    context: &StoreContext,
) -> Result<Variant, String> {
    let price = raw
        .price
        .as_deref()
        .filter(|price| !price.trim().is_empty())
        .ok_or("price: missing")?;
    let price = Money::parse_decimal(price, context.currency).map_err(|error| why("price", &error))?;
    // An unreadable list price is ignored. A list price that is not above the price is not a markdown (platform notes,
    // 1.1).
    let list = raw
        .compare_at_price
        .as_deref()
        .and_then(|list| Money::parse_decimal(list, context.currency).ok());
    let values = options.iter().zip(&raw.options).filter_map(|(option, value)| {
        let value = stated_line(value.as_deref(), NAME_CHARS_MAX)?;
        Some(OptionValue {
            name: option.name.clone(),
            value,
        })
    });
    let options_of_sizes = sizes.iter().zip(&raw.options);
    let size = options_of_sizes
        .filter_map(|(says, value)| Size::read(value.as_deref()?, (*says)?))
        .next();
    let image = raw.featured_image.as_deref().or(picture);
    let title = if options.is_empty() {
        None
    } else {
        stated_line(raw.title.as_deref(), NAME_CHARS_MAX)
    };
    Ok(Variant {
        id: VariantId(raw.id),
        title: title.unwrap_or_default(),
        sku: stated_code(raw.sku.as_deref(), NAME_CHARS_MAX),
        barcode: stated_line(raw.barcode.as_deref(), BARCODE_CHARS_MAX),
        size,
        options: values.collect(),
        price_minor: price.minor(),
        compare_at_minor: list.map(Money::minor).filter(|list| *list > price.minor()),
        // A variant is unavailable unless the store calls it available.
        available: raw.available.unwrap_or(false),
        grams: raw
            .grams
            .and_then(|grams| u32::try_from(grams).ok())
            .filter(|grams| *grams > 0),
        image: image
            .and_then(|image| image.src.as_deref())
            .and_then(|src| address(src, context)),
    })
}

fn why(field: &str, error: &MoneyError) -> String {
    format!("{field}: {error}")
}
