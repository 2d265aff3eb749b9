//! Pure functions for cursor pagination by the platform's rules.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::ops::Range;

use super::args::Args;

const PAGE_MAX: i64 = 250;

/// Requested page of a list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ask<'a> {
    first: Option<i64>,
    last: Option<i64>,
    after: Option<&'a str>,
    before: Option<&'a str>,
}

impl<'a> Ask<'a> {
    pub(super) fn of(args: Args<'a>) -> Self {
        Self {
            first: args.number("first"),
            last: args.number("last"),
            after: args.text("after"),
            before: args.text("before"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) range: Range<usize>,
    pub(super) has_next: bool,
    pub(super) has_previous: bool,
}

/// Returns the cursor of an item: its id, its sort key and its index.
pub(super) fn cursor(id: u64, value: &Value, place: usize) -> String {
    let text = json!({ "last_id": id, "last_value": value, "offset": place }).to_string();
    STANDARD.encode(text)
}

fn read(cursor: &str) -> Result<(u64, usize), String> {
    let read = || {
        let value: Value = serde_json::from_slice(&STANDARD.decode(cursor).ok()?).ok()?;
        let place = value["offset"].as_u64().and_then(|place| usize::try_from(place).ok());
        Some((value["last_id"].as_u64()?, place.unwrap_or(0)))
    };
    read().ok_or_else(|| format!("Invalid cursor for current pagination sort: {cursor}"))
}

/// Returns the requested range of a list with these ids. A removed item counts as being at its former index.
pub(super) fn cut(ids: &[u64], ask: Ask<'_>) -> Result<Page, String> {
    let count = |name: &str, number: i64| match number {
        0..=PAGE_MAX => usize::try_from(number).map_err(|error| error.to_string()),
        number if number < 0 => Err(format!("{name} cannot be negative")),
        _ => Err(format!("{name} cannot exceed {PAGE_MAX}")),
    };
    // A page can end or start at the indices before and after an item.
    let around = |cursor: &str| {
        let (id, place) = read(cursor)?;
        let found = ids.iter().position(|listed| *listed == id);
        Ok::<_, String>(found.map_or((place.min(ids.len()), place.min(ids.len())), |at| (at, at + 1)))
    };
    let start = ask.after.map(around).transpose()?.map_or(0, |(_, after)| after);
    let end = ask
        .before
        .map(around)
        .transpose()?
        .map_or(ids.len(), |(before, _)| before);
    let end = end.max(start);
    let range = match (ask.first, ask.last) {
        (Some(_), Some(_)) => return Err("providing both first and last is not supported".to_owned()),
        (None, None) => return Err("you must provide one of first or last".to_owned()),
        (Some(first), None) => start..end.min(start + count("first", first)?),
        (None, Some(last)) => start.max(end.saturating_sub(count("last", last)?))..end,
    };
    Ok(Page {
        has_next: range.end < ids.len(),
        has_previous: range.start > 0,
        range,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(first: i64, after: Option<&str>) -> Ask<'_> {
        Ask {
            first: Some(first),
            after,
            ..Ask::default()
        }
    }

    proptest! {
        #[test]
        fn pages_forward_and_backward_are_the_whole_list(length in 0usize..60, size in 1i64..12) {
            let ids: Vec<u64> = (0..length as u64).map(|id| id * 7 + 1).collect();
            let mark = |at: usize| cursor(ids[at], &Value::Null, at);
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = cut(&ids, first(size, after.as_deref())).unwrap();
                prop_assert_eq!(page.has_previous, !seen.is_empty() && !page.range.is_empty());
                seen.extend_from_slice(&ids[page.range.clone()]);
                if !page.has_next {
                    break;
                }
                after = Some(mark(page.range.end - 1));
            }
            prop_assert_eq!(&seen, &ids);
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let ask = Ask { last: Some(size), before: before.as_deref(), ..Ask::default() };
                let page = cut(&ids, ask).unwrap();
                seen.splice(0..0, ids[page.range.clone()].iter().copied());
                if !page.has_previous {
                    break;
                }
                before = Some(mark(page.range.start));
            }
            prop_assert_eq!(seen, ids);
        }

        #[test]
        fn no_cursor_breaks_it(text in ".*") {
            prop_assert!(cut(&[1, 2, 3], first(2, Some(&text))).is_err());
        }
    }

    #[test]
    fn a_page_needs_one_size_that_is_not_too_large() {
        assert!(cut(&[1], Ask::default()).is_err());
        assert!(cut(&[1], first(251, None)).is_err());
        assert!(cut(&[1], first(-1, None)).is_err());
        let both = Ask {
            last: Some(1),
            ..first(1, None)
        };
        assert!(cut(&[1], both).is_err());
    }

    #[test]
    fn a_cursor_of_an_item_that_is_gone_goes_on_where_it_was() {
        let gone = cursor(9, &Value::Null, 1);
        assert_eq!(cut(&[1, 2, 3], first(5, Some(&gone))).unwrap().range, 1..3);
    }
}
