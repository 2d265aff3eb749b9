//! Renders the tables of a report. On a narrow screen, each row becomes a block with the column heading above each
//! value.

use data_model::{CurrencyCode, Money};

use super::put;
use crate::collapse::{Changes, Example};
use crate::summary::{Outcome, StoreSummary};
use data_reports::page::text::{EscapedText, bytes, count, duration, escape};

/// Further rows are only counted.
const ROWS_MAX: usize = 2_000;

/// Heading of a column and the kind of its cells.
type Column = (&'static str, Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Name of a brand, and the heading of the row's block on a narrow screen.
    Brand,
    Number,
    /// One or two words.
    Word,
    /// Text of any length, over the full screen width.
    Text,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Self::Brand => "t b",
            Self::Number => "n",
            Self::Word => "",
            Self::Text => "t",
        }
    }
}

/// Safe HTML, and a CSS class in addition to that of the column.
type Cell = (String, &'static str);

fn plain(text: &str) -> Cell {
    (escape(text), "")
}

fn number(number: Option<u64>) -> Cell {
    (number.map(count).unwrap_or_default(), "")
}

fn table(page: &mut String, title: &str, columns: &[Column], rows: &[Vec<Cell>]) {
    if rows.is_empty() {
        return;
    }
    put(page, format_args!("<h2>{title}</h2><table><thead><tr>"));
    for (heading, kind) in columns {
        put(page, format_args!("<th class=\"{}\">{heading}</th>", kind.class()));
    }
    page.push_str("</tr></thead><tbody>");
    for row in rows.iter().take(ROWS_MAX) {
        page.push_str("<tr>");
        for ((heading, kind), (cell, class)) in columns.iter().zip(row) {
            let label = match kind {
                Kind::Brand => String::new(),
                _ => format!(" data-label=\"{heading}\""),
            };
            let class = format!("{} {class}", kind.class());
            put(page, format_args!("<td class=\"{}\"{label}>{cell}</td>", class.trim()));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table>");
    if let Some(more) = rows.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        put(
            page,
            format_args!("<p class=\"soft\">and {} more.</p>", count(more as u64)),
        );
    }
}

fn brand(store: &StoreSummary) -> Cell {
    plain(store.slug.as_str())
}

/// Renders the held-back crawls, and the data that stays in the lake meanwhile.
pub(super) fn held_back(page: &mut String, stores: &[StoreSummary]) {
    const COLUMNS: &[Column] = &[
        ("Brand", Kind::Brand),
        ("Why", Kind::Text),
        ("Products in the lake", Kind::Number),
        ("Products found", Kind::Number),
        ("Would be added", Kind::Number),
        ("Would be removed", Kind::Number),
        ("Prices would change", Kind::Number),
        ("To accept it", Kind::Text),
    ];
    let row = |store: &StoreSummary| {
        let Outcome::HeldBack {
            products_before,
            products_found,
            ..
        } = &store.outcome
        else {
            return None;
        };
        let of = |part: fn(&Changes) -> u64| number(store.changes.as_ref().map(part));
        let slug = escape(store.slug.as_str());
        Some(vec![
            brand(store),
            (
                EscapedText(&store.outcome.detail().unwrap_or_default()).to_string(),
                "held_back",
            ),
            number(Some(*products_before)),
            number(Some(*products_found)),
            of(|changes| changes.products_added),
            of(|changes| changes.products_removed),
            of(|changes| changes.prices_changed),
            (
                format!(
                    "<code>haat crawl <span class=\"w\">--brand {slug}</span> <span class=\"w\">--confirm {slug}</span></code>"
                ),
                "",
            ),
        ])
    };
    let rows: Vec<_> = stores.iter().filter_map(row).collect();
    table(page, "Held back: the lake keeps the previous data", COLUMNS, &rows);
}

pub(super) fn troubles(page: &mut String, stores: &[StoreSummary]) {
    const COLUMNS: &[Column] = &[("Brand", Kind::Brand), ("What", Kind::Word), ("Detail", Kind::Text)];
    let row = |store: &StoreSummary| {
        let (what, detail) = match &store.outcome {
            Outcome::Failed { code, reason } => (code.replace('_', " "), reason.clone()),
            Outcome::HeldBack { .. } => return None,
            _ if store.truncated => (
                "incomplete".to_owned(),
                "the catalogue is longer than the store can list".to_owned(),
            ),
            _ => match store.quarantined {
                Some(records @ 1..) => ("quarantine".to_owned(), format!("{} records", count(records))),
                _ => return None,
            },
        };
        Some(trouble(store, &what, &detail))
    };
    let foreign = |store: &StoreSummary| {
        let prices = store.foreign_prices?;
        Some(trouble(store, "currency", &prices.to_string()))
    };
    let rows = stores.iter().filter_map(row);
    let rows: Vec<_> = rows.chain(stores.iter().filter_map(foreign)).collect();
    table(page, "What needs a look", COLUMNS, &rows);
}

fn trouble(store: &StoreSummary, what: &str, detail: &str) -> Vec<Cell> {
    vec![brand(store), (escape(what), store.outcome.as_str()), plain(detail)]
}

/// Renders the products added and removed and the prices changed in the lake by this run.
pub(super) fn changes(page: &mut String, stores: &[StoreSummary]) {
    const COLUMNS: &[Column] = &[
        ("Brand", Kind::Brand),
        ("Products added", Kind::Number),
        ("Products removed", Kind::Number),
        ("Prices changed", Kind::Number),
        ("For example", Kind::Text),
    ];
    let row = |store: &StoreSummary| {
        let changes = store.changes.as_ref().filter(|_| store.outcome == Outcome::Changed)?;
        let examples: String = changes.examples.iter().map(example).collect();
        Some(vec![
            brand(store),
            number(Some(changes.products_added)),
            number(Some(changes.products_removed)),
            number(Some(changes.prices_changed)),
            (examples, ""),
        ])
    };
    let rows: Vec<_> = stores.iter().filter_map(row).collect();
    table(page, "What changed", COLUMNS, &rows);
}

fn example(example: &Example) -> String {
    let text = match example {
        Example::Added { title } => format!("+ {}", escape(title)),
        Example::Removed { title } => format!("&minus; {}", escape(title)),
        Example::Price {
            title,
            before_minor,
            now_minor,
            currency,
        } => {
            let (before, now) = (amount(*before_minor, *currency), amount(*now_minor, *currency));
            format!("{}: {before} &rarr; {now}", escape(title))
        }
    };
    format!("<div>{text}</div>")
}

fn amount(minor: i64, currency: CurrencyCode) -> String {
    Money::from_minor(minor, currency).map_or_else(|_| minor.to_string(), |money| money.to_string())
}

pub(super) fn stores(page: &mut String, stores: &[StoreSummary]) {
    const COLUMNS: &[Column] = &[
        ("Brand", Kind::Brand),
        ("Outcome", Kind::Word),
        ("Products in the lake", Kind::Number),
        ("Products found", Kind::Number),
        ("Variants found", Kind::Number),
        ("Pages", Kind::Number),
        ("Received", Kind::Number),
        ("Time", Kind::Number),
    ];
    let row = |store: &StoreSummary| {
        let outcome = store.outcome.as_str();
        let found = match &store.outcome {
            Outcome::HeldBack { products_found, .. } => Some(*products_found),
            Outcome::Changed | Outcome::Unchanged => Some(store.products),
            Outcome::Failed { .. } | Outcome::Skipped => None,
        };
        vec![
            brand(store),
            (outcome.replace('_', " "), outcome),
            number(Some(store.products)),
            number(found),
            number(store.variants),
            number(Some(u64::from(store.pages))),
            (bytes(store.bytes), ""),
            (duration(store.duration_ms), ""),
        ]
    };
    let rows: Vec<_> = stores.iter().map(row).collect();
    table(page, "Stores", COLUMNS, &rows);
}
