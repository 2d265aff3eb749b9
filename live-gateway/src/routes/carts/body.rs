//! Parses request bodies of carts.

use api::{MembersReader, Rule};
use data_model::{Money, Pincode, VariantId};
use data_pincodes::{directory, province_named};
use iso_country::Country;

use crate::carts::Item;
use crate::checkout::quote::QuoteReader;
use crate::config::CartConfig;
use crate::rules::carts::record::ShownPrice;
use crate::rules::store_cart::CartAddress;

/// Maximum number of characters in an e-mail address (RFC 5321).
pub(in crate::routes) const EMAIL_CHARS_MAX: usize = 254;
const CODE_CHARS_MAX: usize = 64;
const BRAND_CHARS_MAX: usize = 300;

pub(super) fn items(
    reader: &mut MembersReader<'_>,
    quotes: &QuoteReader,
    config: &CartConfig,
    may_be_empty: bool,
) -> Vec<Item> {
    let items = reader.required("items").list(config.lines_max, |field| {
        let item = field.object(|reader| item(reader, quotes, config));
        item.flatten()
    });
    let items = items.unwrap_or_default();
    if items.is_empty() && !may_be_empty && !reader.refused("items") {
        reader.refuse("items", &Rule::Value("at least one item is required"), None);
    }
    items
}

fn item(reader: &mut MembersReader<'_>, quotes: &QuoteReader, config: &CartConfig) -> Option<Item> {
    let product = reader.required("product_id").parsed(api::product_ident);
    let variant = reader.optional("variant_id").parsed(variant);
    let quantity = reader.required("qty").integer(1..=i64::from(config.quantity_max));
    let quantity = quantity.and_then(|quantity| u32::try_from(quantity).ok());
    let stated = reader.optional("price_minor").minor(0..=Money::MINOR_MAX);
    let product = product?;
    let quote = reader.optional("quote");
    let quoted = quote.parsed(|text| quotes.read(text, product, variant).map_err(Rule::Value));
    let mut item = Item {
        product,
        variant,
        quantity: quantity?,
        shown: stated.map(|minor| ShownPrice {
            minor,
            ..ShownPrice::default()
        }),
    };
    if let Some(quoted) = quoted {
        if stated.is_some_and(|minor| minor != quoted.minor) {
            reader.refuse("price_minor", &Rule::Value("the quote states a different price"), None);
        }
        // The variant of a quote replaces the item's variant.
        item.variant = Some(quoted.variant);
        item.shown = Some(ShownPrice {
            minor: quoted.minor,
            currency: Some(quoted.currency),
            quote: Some(quoted.id),
            is_quote_over: quoted.is_over,
        });
    }
    Some(item)
}

/// Parses a platform id of a variant.
pub(in crate::routes) fn variant(text: &str) -> Result<VariantId, Rule> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = text.parse().ok().filter(|_| digits);
    id.map(VariantId).ok_or(Rule::StringPatternMismatch("^[0-9]{1,19}$"))
}

pub(super) fn quantity(reader: &mut MembersReader<'_>, config: &CartConfig) -> Option<u32> {
    let quantity = reader.required("qty").integer(1..=i64::from(config.quantity_max));
    quantity.and_then(|quantity| u32::try_from(quantity).ok())
}

/// Parses an e-mail address: text, `@`, text, without spaces.
pub(in crate::routes) fn email(text: &str) -> Result<String, Rule> {
    let (name, host) = text.split_once('@').unwrap_or_default();
    let is_clean = !text.chars().any(|char| char.is_control() || char.is_whitespace());
    let fits = !name.is_empty() && !host.is_empty() && !host.contains('@') && is_clean;
    if text.chars().count() > EMAIL_CHARS_MAX {
        Err(Rule::StringTooLong(EMAIL_CHARS_MAX))
    } else if fits {
        Ok(text.to_owned())
    } else {
        Err(Rule::Value("not an e-mail address"))
    }
}

/// Parses a discount code without the surrounding spaces.
pub(super) fn code(text: &str) -> Result<String, Rule> {
    let text = text.trim();
    if text.is_empty() {
        Err(Rule::StringTooShort(1))
    } else if text.chars().count() > CODE_CHARS_MAX {
        Err(Rule::StringTooLong(CODE_CHARS_MAX))
    } else if text.chars().any(char::is_control) {
        Err(Rule::Value("a code must not contain control characters"))
    } else {
        Ok(text.to_owned())
    }
}

/// Parses a brand's slug.
pub(in crate::routes) fn brand(text: &str) -> Result<String, Rule> {
    named(text, BRAND_CHARS_MAX)
}

/// Parses a text that is neither empty nor longer than `chars_max`.
pub(super) fn named(text: &str, chars_max: usize) -> Result<String, Rule> {
    let text = text.trim();
    if text.is_empty() {
        Err(Rule::StringTooShort(1))
    } else if text.chars().count() > chars_max {
        Err(Rule::StringTooLong(chars_max))
    } else if text.chars().any(char::is_control) {
        Err(Rule::Value("a text must not contain control characters"))
    } else {
        Ok(text.to_owned())
    }
}

/// Reads the fields of an address.
pub(super) fn address(reader: &mut MembersReader<'_>, config: &CartConfig) -> CartAddress {
    let country = reader.optional("country").parsed(|text| {
        let fits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let code = text.to_ascii_uppercase();
        match fits {
            false => Err(Rule::StringPatternMismatch("^[A-Za-z]{2}$")),
            true if is_country(&code) => Ok(code),
            true => Err(Rule::Value("no country has this code (ISO 3166-1)")),
        }
    });
    let is_known = !reader.refused("country");
    let country = country.unwrap_or_else(|| config.country.clone());
    let zip = reader.optional("zip").parsed(|text| match country.as_str() {
        "IN" if is_known => pincode(text),
        _ => named(text, 16),
    });
    let province = reader.optional("province").parsed(|text| named(text, 64));
    let city = reader.optional("city").parsed(|text| named(text, 100));
    let province = match country.as_str() {
        "IN" => province_of_india(province, zip.as_deref()),
        _ => province,
    };
    CartAddress {
        zip,
        country,
        province,
        city,
    }
}

/// Normalises an Indian pincode to six digits. People also write `560 001`.
fn pincode(text: &str) -> Result<String, Rule> {
    let digits: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    let pincode = digits.parse::<Pincode>();
    pincode.map_err(|_| Rule::StringPatternMismatch("^[1-9][0-9]{5}$"))?;
    Ok(digits)
}

/// Returns the code that stores use for an Indian state: of the named state in any spelling, or else of the pincode's
/// state. An unknown name is returned unchanged. `None` means that the pincode is unknown.
fn province_of_india(named: Option<String>, zip: Option<&str>) -> Option<String> {
    let Some(named) = named else {
        let area = directory().area(zip?.parse().ok()?)?;
        return Some(directory().get(area)?.province_code()?.to_owned());
    };
    Some(province_named(&named).map_or(named, str::to_owned))
}

/// True for a country code that stores know: ISO 3166-1, and the additions in the platform's `CountryCode` (Ascension,
/// the Netherlands Antilles, Tristan da Cunha, Kosovo, and an unknown region).
fn is_country(code: &str) -> bool {
    matches!(code, "AC" | "AN" | "TA" | "XK" | "ZZ") || code.parse::<Country>().is_ok()
}

#[cfg(test)]
mod tests {
    use api::JsonObject;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pincode_or_the_name_of_its_state_gives_the_code_that_stores_know() {
        let province = |body: serde_json::Value| {
            let body = JsonObject(body.as_object().cloned().unwrap());
            let mut reader = MembersReader::new(&body);
            let config = CartConfig {
                country: "IN".to_owned(),
                ..CartConfig::default()
            };
            let address = address(&mut reader, &config);
            reader.finish(address).unwrap().province
        };
        for (body, code) in [
            (json!({ "zip": "560001" }), Some("KA")),
            (json!({ "zip": "560 001" }), Some("KA")),
            (json!({ "zip": "560001", "country": "in", "province": "" }), Some("KA")),
            (json!({ "zip": "560001", "province": "Maharashtra" }), Some("MH")),
            (json!({ "province": "jammu & kashmir" }), Some("JK")),
            (json!({ "province": "Elsewhere" }), Some("Elsewhere")),
            (json!({ "zip": "999999" }), None),
            (json!({ "zip": "560001", "country": "US" }), None),
            (json!({ "zip": "78701", "country": "US", "province": "TX" }), Some("TX")),
            (json!({}), None),
        ] {
            assert_eq!(province(body.clone()).as_deref(), code, "{body}");
        }
    }
}
