//! Colour, size, gender, age and the like of a variant, as its store states them.

use std::borrow::Cow;

use data_model::{Product, Variant};

use crate::text::{line, short};

/// Values that one attribute may name, with a slash between.
const VALUES_MAX: usize = 3;

/// Names of options and attributes, each with the name that the catalogue has for it.
const ALIASES: &str = include_str!("../../reference/attributes.tsv");

/// The name that the catalogue has for what a store calls so.
fn plain(name: &str) -> Cow<'static, str> {
    let lower = name.trim().trim_end_matches(':').trim_end().to_lowercase();
    let known = ALIASES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .find(|(alias, _)| *alias == lower);
    known.map_or(Cow::Owned(lower), |(_, name)| Cow::Borrowed(name))
}

/// The name of an option.
#[derive(Debug)]
pub(crate) struct OptionName<'a> {
    /// As the store states it.
    stated: &'a str,
    /// As the catalogue has it.
    plain: Cow<'static, str>,
}

/// Most characters of an attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeBounds {
    /// Of one value.
    pub(crate) each_chars_max: usize,
    /// Of all values together.
    pub(crate) all_chars_max: usize,
}

/// The names of a product's options; made once a product.
pub(crate) fn option_names(product: &Product) -> Vec<OptionName<'_>> {
    let names = product.options.iter().map(|option| option.name.as_str());
    let name = |stated| OptionName {
        stated,
        plain: plain(stated),
    };
    names.map(name).collect()
}

/// The values that the variant itself states.
fn of_variant<'a>(variant: &'a Variant, names: &[OptionName<'_>], wanted: &str) -> Option<&'a str> {
    let is_wanted = |option: &str| names.iter().any(|name| name.stated == option && name.plain == wanted);
    let mut found = variant.options.iter().filter(|option| is_wanted(&option.name));
    found.next().map(|option| option.value.as_str())
}

/// The values that the product states of all of its variants.
fn of_product<'a>(product: &'a Product, wanted: &str) -> &'a [String] {
    let found = product.attributes.iter().find(|attribute| attribute.name == wanted);
    found.map_or(&[], |attribute| attribute.values.as_slice())
}

/// An attribute that a variant has one value of, and a product several at once: colour, material, pattern. `None` where
/// nothing is stated, where an option of that name leaves the variant open, or where it does not fit.
pub(crate) fn several(
    product: &Product,
    variant: &Variant,
    names: &[OptionName<'_>],
    wanted: &str,
    bounds: AttributeBounds,
) -> Option<String> {
    if let Some(own) = of_variant(variant, names, wanted) {
        return short(own, bounds.each_chars_max);
    }
    // Values of an option are of one variant each, not of all.
    if names.iter().any(|name| name.plain == wanted) {
        return None;
    }
    let values = of_product(product, wanted);
    if values.is_empty() || values.len() > VALUES_MAX {
        return None;
    }
    let lines = values.iter().map(|value| short(value, bounds.each_chars_max));
    let all = lines.collect::<Option<Vec<_>>>()?.join("/");
    (all.chars().count() <= bounds.all_chars_max).then_some(all)
}

/// The size of a variant, or the only one that its product states.
pub(crate) fn size(product: &Product, variant: &Variant, names: &[OptionName<'_>]) -> Option<String> {
    const CHARS_MAX: usize = 100;
    if let Some(own) = of_variant(variant, names, "size") {
        return short(own, CHARS_MAX);
    }
    match of_product(product, "size") {
        [one] if !names.iter().any(|name| name.plain == "size") => short(one, CHARS_MAX),
        _ => None,
    }
}

/// The gender that a product is for: `None` where that is not stated, or in words that are not known.
pub(crate) fn gender(product: &Product) -> Option<&'static str> {
    let (mut male, mut female) = (false, false);
    for value in of_product(product, "gender") {
        let value = line(value)?.to_lowercase().replace('’', "'");
        match value.as_str() {
            "men" | "man" | "mens" | "men's" | "male" | "boy" | "boys" | "boy's" => male = true,
            "women" | "woman" | "womens" | "women's" | "ladies" | "female" | "girl" | "girls" | "girl's" => {
                female = true
            }
            "unisex" => (male, female) = (true, true),
            _ => return None,
        }
    }
    match (male, female) {
        (true, true) => Some("unisex"),
        (true, false) => Some("male"),
        (false, true) => Some("female"),
        (false, false) => None,
    }
}

/// The age group of a product, where it is stated in a word that the specification has.
pub(crate) fn age_group(product: &Product) -> Option<&'static str> {
    let [stated] = of_product(product, "age_group") else {
        return None;
    };
    let stated = line(stated)?.to_lowercase();
    let known = ["newborn", "infant", "toddler", "kids", "adult"];
    known.into_iter().find(|word| *word == stated)
}
