//! Changes to a recorded product at later epochs, made in its bytes so that all else stays as recorded.

use crate::generated::{epoch_s, push_moment};

/// What changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// New price in percent of the recorded one.
    pub(crate) price_pct: u64,
    /// Whether each variant's `available` is the opposite.
    pub(crate) flip_stock: bool,
    /// The epoch that `updated_at` of the product tells.
    pub(crate) updated_epoch: u64,
}

/// Appends the record with the edit.
pub(crate) fn push_edited(record: &[u8], edit: &Edit, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < record.len() {
        let Some(key) = next_key(record, at) else { break };
        out.extend_from_slice(&record[at..key.value]);
        at = key.value;
        match key.name {
            b"price" if edit.price_pct != 100 => at = push_price(record, at, edit.price_pct, out),
            b"available" if edit.flip_stock => at = push_flipped(record, at, out),
            b"updated_at" => at = push_updated(record, at, edit.updated_epoch, out),
            _ => {}
        }
    }
    out.extend_from_slice(&record[at..]);
}

struct Key<'a> {
    name: &'a [u8],
    /// Where its value starts.
    value: usize,
}

/// The next object key at or after `at`, which must lie outside of any string.
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

/// One past the closing quote of the string that opens at `open`.
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

/// Writes the price at `at` anew; answers where the recorded one ends. A price that is no decimal text stays.
fn push_price(record: &[u8], at: usize, pct: u64, out: &mut Vec<u8>) -> usize {
    let Some(end) = (record.get(at) == Some(&b'"'))
        .then(|| string_end(record, at))
        .flatten()
    else {
        return at;
    };
    let Some(price) = std::str::from_utf8(&record[at + 1..end - 1])
        .ok()
        .and_then(|text| scaled(text, pct))
    else {
        return at;
    };
    out.push(b'"');
    out.extend_from_slice(price.as_bytes());
    out.push(b'"');
    end
}

/// A decimal text times `pct` percent, with as many decimals.
fn scaled(text: &str, pct: u64) -> Option<String> {
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

fn push_flipped(record: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    for (from, to) in [(&b"true"[..], &b"false"[..]), (b"false", b"true")] {
        if record[at..].starts_with(from) {
            out.extend_from_slice(to);
            return at + from.len();
        }
    }
    at
}

fn push_updated(record: &[u8], at: usize, epoch: u64, out: &mut Vec<u8>) -> usize {
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
    push_moment(out, epoch_s(epoch, 36_000), offset);
    out.push(b'"');
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edited(record: &str, edit: Edit) -> String {
        let mut out = Vec::new();
        push_edited(record.as_bytes(), &edit, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_prices_stock_and_dates_change() {
        let record = r#"{"title":"\"price\":\"1.00\"","updated_at":"2025-01-01T00:00:00+05:30","variants":[
            {"price": "499.00","compare_at_price":"600.00","available": true,"option1":"price","sku":"available"}]}"#;
        insta::assert_snapshot!(edited(record, Edit { price_pct: 90, flip_stock: true, updated_epoch: 3 }), @r#"
{"title":"\"price\":\"1.00\"","updated_at":"2026-09-04T10:00:00+05:30","variants":[
            {"price": "449.10","compare_at_price":"600.00","available": false,"option1":"price","sku":"available"}]}
"#);
    }

    proptest! {
        #[test]
        fn no_bytes_are_lost_where_nothing_is_to_change(text in ".*", pct in 1u64..300) {
            let record = serde_json::json!({"a": text, "b": [text, {"price": text}], "available": null}).to_string();
            let changed = edited(&record, Edit { price_pct: pct, flip_stock: true, updated_epoch: 1 });
            prop_assert!(serde_json::from_str::<serde_json::Value>(&changed).is_ok());
            prop_assert_eq!(edited(&record, Edit { price_pct: 100, flip_stock: false, updated_epoch: 1 }), record);
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            push_edited(&bytes, &Edit { price_pct: 50, flip_stock: true, updated_epoch: 1 }, &mut Vec::new());
        }
    }
}
