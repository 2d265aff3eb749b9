use std::borrow::Cow;

use crate::cursor::{Cursor, CursorResult};
use crate::error::{ParseError, excerpt};
use crate::page::trimmed;

const META_BYTES_MAX: usize = 1 << 20;
const COUNTRIES_MAX: usize = 300;

/// Self-description of a store (`/meta.json`). A field that is missing, blank or of an unknown form is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreMeta {
    /// Shopify's id of the store.
    pub id: Option<u64>,
    /// Name of the store.
    pub name: Option<String>,
    /// Domain that shoppers see.
    pub domain: Option<String>,
    /// Base URL of the store.
    pub url: Option<String>,
    /// Permanent host of the store at Shopify.
    pub myshopify_domain: Option<String>,
    /// Currency of the store's prices, as stated.
    pub currency: Option<String>,
    /// Country of the store, as stated.
    pub country: Option<String>,
    /// Province of the store, as stated.
    pub province: Option<String>,
    /// City of the store, as stated.
    pub city: Option<String>,
    /// Description that the store gives of itself.
    pub description: Option<String>,
    /// Countries to which the store ships.
    pub ships_to_countries: Vec<String>,
    /// Template with which the store formats amounts.
    pub money_format: Option<String>,
    /// Number of published products.
    pub published_products_count: Option<u64>,
    /// Number of published collections.
    pub published_collections_count: Option<u64>,
}

/// Parses `/meta.json`.
///
/// # Errors
/// [`ParseError`] if the body is not a JSON object, or contains no data about a store, as an error message does.
pub fn parse_meta(bytes: &[u8]) -> Result<StoreMeta, ParseError> {
    let body = trimmed(bytes);
    if body.len() > META_BYTES_MAX {
        return Err(ParseError::TooLarge {
            what: "bytes",
            found: body.len(),
            limit: META_BYTES_MAX,
        });
    }
    let text = String::from_utf8_lossy(body);
    let mut cursor = Cursor::new(&text);
    let begins_with = excerpt(body, 80);
    match cursor.peek() {
        None => return Err(ParseError::Empty),
        Some(b'{' | b'[') => {}
        Some(_) => return Err(ParseError::NotJson { begins_with }),
    }
    let mut meta = StoreMeta::default();
    let read = cursor.members(|cursor, name| {
        // A field of the wrong form counts as missing.
        let mut value = cursor.clone();
        cursor.skip()?;
        member(&mut meta, name, &mut value).or(Ok(()))
    });
    if read.is_err() && cursor.peek().is_none() {
        return Err(ParseError::Truncated { bytes: body.len() });
    }
    let known = meta.id.is_some() || meta.name.is_some() || meta.domain.is_some() || meta.myshopify_domain.is_some();
    if read.is_ok() && known {
        Ok(meta)
    } else {
        Err(ParseError::NoStore { begins_with })
    }
}

fn member(meta: &mut StoreMeta, name: &str, value: &mut Cursor<'_>) -> CursorResult<()> {
    match name {
        "id" => meta.id = Some(value.id()?),
        "name" => meta.name = filled(value.text()?),
        "domain" => meta.domain = filled(value.text()?),
        "url" => meta.url = filled(value.text()?),
        "myshopify_domain" => meta.myshopify_domain = filled(value.text()?),
        "currency" => meta.currency = filled(value.text()?),
        "country" => meta.country = filled(value.text()?),
        "province" => meta.province = filled(value.text()?),
        "city" => meta.city = filled(value.text()?),
        "description" => meta.description = filled(value.text()?),
        "money_format" => meta.money_format = filled(value.text()?),
        "published_products_count" => meta.published_products_count = value.count()?,
        "published_collections_count" => meta.published_collections_count = value.count()?,
        "ships_to_countries" => {
            let mut countries = Vec::new();
            value.items(|value, index| {
                let country = filled(value.text()?);
                countries.extend(country.filter(|_| index < COUNTRIES_MAX));
                Ok(())
            })?;
            meta.ships_to_countries = countries;
        }
        _ => {}
    }
    Ok(())
}

fn filled(text: Option<Cow<'_, str>>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
