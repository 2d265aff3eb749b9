//! Changes to a product's record, made in its bytes so that everything else stays unchanged.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::generated::push_moment;

/// Maximum number of a product's variants in `products.json` and in the `.js` and `.json` views.
pub(crate) const LISTED_VARIANTS_MAX: usize = 250;

/// A change to the prices of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Price<'a> {
    Same,
    /// The price becomes this percentage of the old one.
    Percent(u64),
    Exact(&'a str),
}

/// Change to the `available` field of each variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stock {
    Same,
    Flip,
    Set(bool),
}

/// Changes to a product's record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit<'a> {
    pub(crate) price: Price<'a>,
    pub(crate) stock: Stock,
    /// New value of `updated_at`: seconds since 1970 by the shop's own clock.
    pub(crate) updated_s: u64,
}

/// Id of a variant, and the byte range of its object in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) id: u64,
    pub(crate) range: Range<usize>,
}

/// Returns the variants of a record that have an id, in their order.
pub(crate) fn variants(record: &[u8]) -> Vec<Span> {
    #[derive(Deserialize)]
    struct Variants<'a> {
        #[serde(borrow, default)]
        variants: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct RawVariantId {
        id: u64,
    }
    let Ok(read) = serde_json::from_slice::<Variants<'_>>(record) else {
        return Vec::new();
    };
    let spans = read.variants.into_iter().filter_map(|raw| {
        let text = raw.get();
        // The raw value borrows from the record, so the difference of the two pointers is its offset in the record.
        let start = (text.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
        let RawVariantId { id } = serde_json::from_str(text).ok()?;
        Some(Span {
            id,
            range: start..start + text.len(),
        })
    });
    spans.collect()
}

pub(crate) fn variant_ids(record: &[u8]) -> impl Iterator<Item = u64> + use<> {
    variants(record).into_iter().map(|variant| variant.id)
}

/// Removes the variants that the platform's listings omit from the record that starts at `start`.
pub(crate) fn cut_variants(start: usize, out: &mut Vec<u8>) {
    // A shorter record cannot have that many variants.
    if out.len() - start < LISTED_VARIANTS_MAX * r#"{"id":1},"#.len() {
        return;
    }
    let spans = variants(&out[start..]);
    if let (Some(kept), Some(last)) = (spans.get(LISTED_VARIANTS_MAX - 1), spans.last()) {
        out.drain(start + kept.range.end..start + last.range.end);
    }
}

/// Appends the record with the edit applied.
pub(crate) fn push_edited(record: &[u8], edit: &Edit<'_>, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < record.len() {
        let Some(key) = next_key(record, at) else { break };
        out.extend_from_slice(&record[at..key.value]);
        at = key.value;
        match key.name {
            b"price" => at = push_price(record, at, edit.price, out),
            b"available" => at = push_stock(record, at, edit.stock, out),
            b"updated_at" => at = push_updated(record, at, edit.updated_s, out),
            _ => {}
        }
    }
    out.extend_from_slice(&record[at..]);
}

/// Appends the record with each price scaled to `pct` percent.
pub(crate) fn push_converted(record: &[u8], pct: u64, out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(key) = next_key(record, at) {
        out.extend_from_slice(&record[at..key.value]);
        at = key.value;
        if matches!(key.name, b"price" | b"compare_at_price") {
            at = push_price(record, at, Price::Percent(pct), out);
        }
    }
    out.extend_from_slice(&record[at..]);
}

struct Key<'a> {
    name: &'a [u8],
    /// Byte offset at which the value of the key starts.
    value: usize,
}

/// Returns the next object key at or after offset `at`, which must be outside any string.
fn next_key(record: &[u8], mut at: usize) -> Option<Key<'_>> {
    loop {
        let open = at + record.get(at..)?.iter().position(|byte| *byte == b'"')?;
        let close = string_end(record, open)?;
        let colon = close
            + record
                .get(close..)?
                .iter()
                .position(|byte| !byte.is_ascii_whitespace())?;
        if record.get(colon) == Some(&b':') {
            let value = colon + 1;
            let space = record
                .get(value..)?
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            return Some(Key {
                name: &record[open + 1..close - 1],
                value: value + space,
            });
        }
        at = close;
    }
}

/// Returns the offset after the closing quote of the string that opens at `open`.
fn string_end(record: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match record.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Appends the new price for the price at offset `at`, and returns the end offset of the old one. A price that is no
/// decimal text stays unchanged.
fn push_price(record: &[u8], at: usize, change: Price<'_>, out: &mut Vec<u8>) -> usize {
    let Some(end) = (record.get(at) == Some(&b'"'))
        .then(|| string_end(record, at))
        .flatten()
    else {
        return at;
    };
    let Some(price) = std::str::from_utf8(&record[at + 1..end - 1])
        .ok()
        .and_then(|text| match change {
            Price::Same => None,
            Price::Percent(pct) => scaled(text, pct),
            Price::Exact(price) => Some(price.to_owned()),
        })
    else {
        return at;
    };
    out.push(b'"');
    out.extend_from_slice(price.as_bytes());
    out.push(b'"');
    end
}

/// Returns `pct` percent of a decimal text, with the same number of decimals.
pub(crate) fn scaled(text: &str, pct: u64) -> Option<String> {
    let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.len());
    let minor: u64 = text.replacen('.', "", 1).parse().ok()?;
    let mut out = Vec::new();
    crate::json::push_amount(
        &mut out,
        minor.checked_mul(pct)? / 100,
        u32::try_from(decimals).ok().filter(|n| *n <= 4)?,
    );
    String::from_utf8(out).ok()
}

fn push_stock(record: &[u8], at: usize, change: Stock, out: &mut Vec<u8>) -> usize {
    for (was, text) in [(true, &b"true"[..]), (false, b"false")] {
        if record[at..].starts_with(text) {
            let is = match change {
                Stock::Same => was,
                Stock::Flip => !was,
                Stock::Set(is) => is,
            };
            crate::json::push_bool(out, is);
            return at + text.len();
        }
    }
    at
}

fn push_updated(record: &[u8], at: usize, updated_s: u64, out: &mut Vec<u8>) -> usize {
    let Some(end) = (record.get(at) == Some(&b'"'))
        .then(|| string_end(record, at))
        .flatten()
    else {
        return at;
    };
    let offset = std::str::from_utf8(&record[at + 1..end - 1])
        .ok()
        .and_then(|text| text.get(19..))
        .unwrap_or("+00:00");
    out.push(b'"');
    push_moment(out, updated_s, offset);
    out.push(b'"');
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::epoch_s;
    use proptest::prelude::*;

    fn edited(record: &str, edit: Edit<'_>) -> String {
        let mut out = Vec::new();
        push_edited(record.as_bytes(), &edit, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_prices_stock_and_dates_change() {
        let record = r#"{"title":"\"price\":\"1.00\"","updated_at":"2025-01-01T00:00:00+05:30","variants":[
            {"price": "499.00","compare_at_price":"600.00","available": true,"option1":"price","sku":"available"}]}"#;
        insta::assert_snapshot!(edited(record, Edit { price: Price::Percent(90), stock: Stock::Flip, updated_s: epoch_s(3, 36_000) }), @r#"
{"title":"\"price\":\"1.00\"","updated_at":"2026-09-04T10:00:00+05:30","variants":[
            {"price": "449.10","compare_at_price":"600.00","available": false,"option1":"price","sku":"available"}]}
"#);
    }

    proptest! {
        #[test]
        fn no_bytes_are_lost_where_nothing_is_to_change(text in ".*", pct in 1u64..300) {
            let record = serde_json::json!({"a": text, "b": [text, {"price": text}], "available": null}).to_string();
            let changed = edited(&record, Edit { price: Price::Percent(pct), stock: Stock::Flip, updated_s: 0 });
            prop_assert!(serde_json::from_str::<serde_json::Value>(&changed).is_ok());
            prop_assert_eq!(edited(&record, Edit { price: Price::Same, stock: Stock::Same, updated_s: 0 }), record);
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            push_edited(&bytes, &Edit { price: Price::Exact("1.00"), stock: Stock::Set(true), updated_s: 0 }, &mut Vec::new());
        }
    }
}
