//! Reads colour, size, gender, age group and similar attributes of a variant, as its store states them.

use std::borrow::Cow;

use data_model::{Product, Variant};

use crate::text::{line, short};

/// Maximum number of values of one attribute, separated by slashes.
const VALUES_MAX: usize = 3;

/// Alternative names of options and attributes, with the catalogue's name for each.
const ALIASES: &str = include_str!("../../reference/attributes.tsv");

fn plain(name: &str) -> Cow<'static, str> {
    let lower = name.trim().trim_end_matches(':').trim_end().to_lowercase();
    let known = ALIASES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .find(|(alias, _)| *alias == lower);
    known.map_or(Cow::Owned(lower), |(_, name)| Cow::Borrowed(name))
}

#[derive(Debug)]
pub(crate) struct OptionName<'a> {
    /// Name as the store states it.
    stated: &'a str,
    /// Name as the catalogue uses it.
    plain: Cow<'static, str>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeBounds {
    /// Maximum length of one value.
    pub(crate) each_chars_max: usize,
    /// Maximum length of all values together.
    pub(crate) all_chars_max: usize,
}

/// The names are computed once per product.
pub(crate) fn option_names(product: &Product) -> Vec<OptionName<'_>> {
    let names = product.options.iter().map(|option| option.name.as_str());
    let name = |stated| OptionName {
        stated,
        plain: plain(stated),
    };
    names.map(name).collect()
}

fn of_variant<'a>(variant: &'a Variant, names: &[OptionName<'_>], wanted: &str) -> Option<&'a str> {
    let is_wanted = |option: &str| names.iter().any(|name| name.stated == option && name.plain == wanted);
    let mut found = variant.options.iter().filter(|option| is_wanted(&option.name));
    found.next().map(|option| option.value.as_str())
}

fn of_product<'a>(product: &'a Product, wanted: &str) -> &'a [String] {
    let found = product.attributes.iter().find(|attribute| attribute.name == wanted);
    found.map_or(&[], |attribute| attribute.values.as_slice())
}

/// Returns an attribute that has one value per variant or several values per product: colour, material or pattern.
/// Returns `None` if no value is stated, the option leaves the variant open, or the value is too long.
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
    // Each value of an option applies to one variant only, not to all.
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

/// Returns the size of a variant, or the only size that its product states.
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

/// Returns `None` if no gender is stated or the wording is unknown.
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

/// Returns the age group of a product, if it is stated in a word of the specification.
pub(crate) fn age_group(product: &Product) -> Option<&'static str> {
    let [stated] = of_product(product, "age_group") else {
        return None;
    };
    let stated = line(stated)?.to_lowercase();
    let known = ["newborn", "infant", "toddler", "kids", "adult"];
    known.into_iter().find(|word| *word == stated)
}
