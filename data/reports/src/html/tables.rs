//! Tables of the report. On a narrow screen, each row becomes a block with a heading above every value.

use crate::figures::Field;
use crate::finding::Finding;
use crate::judge::told;
use crate::page::put;
use crate::page::text::{change, count, escape, percent};
use crate::report::{BrandQuality, QualityReport, UnfoundWords};

/// Maximum number of rows in a table. The table states the number of omitted rows.
const ROWS_MAX: usize = 2_000;

/// Heading of a column, and CSS class of its cells.
type Column = (&'static str, &'static str);

/// The cells must be safe markup.
fn table(page: &mut String, title: &str, columns: &[Column], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    put(page, format_args!("<h2>{title}</h2><table><thead><tr>"));
    for (heading, class) in columns {
        put(page, format_args!("<th class=\"{class}\">{heading}</th>"));
    }
    page.push_str("</tr></thead><tbody>");
    for row in rows.iter().take(ROWS_MAX) {
        page.push_str("<tr>");
        for ((heading, class), cell) in columns.iter().zip(row) {
            match *class {
                "t b" => put(page, format_args!("<td class=\"{class}\">{cell}</td>")),
                class => put(
                    page,
                    format_args!("<td class=\"{class}\" data-label=\"{heading}\">{cell}</td>"),
                ),
            }
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

pub(super) fn findings(page: &mut String, findings: &[Finding]) {
    const COLUMNS: &[Column] = &[
        ("Brand", "t b"),
        ("What", "t"),
        ("Figure", "n"),
        ("Threshold", "n"),
        ("Key", "t"),
    ];
    let row = |finding: &Finding| {
        let brand = finding.brand.as_ref().map_or("all brands", |brand| brand.as_str());
        vec![
            escape(brand),
            escape(&finding.detail),
            format!("<span class=\"worse\">{}</span>", finding.figure),
            finding.limit.to_string(),
            format!("<code>quality.{}</code>", finding.threshold),
        ]
    };
    let rows: Vec<_> = findings.iter().map(row).collect();
    table(page, "Beyond a threshold", COLUMNS, &rows);
}

pub(super) fn unfound(page: &mut String, unfound: &[UnfoundWords]) {
    const COLUMNS: &[Column] = &[
        ("Words", "t b"),
        ("Searches", "n"),
        ("Found nothing", "n"),
        ("Last day", "n"),
    ];
    let row = |one: &UnfoundWords| {
        vec![
            escape(&one.words),
            count(one.searches),
            count(one.without_hits),
            escape(&one.last_day),
        ]
    };
    let rows: Vec<_> = unfound.iter().map(row).collect();
    table(page, "Searches without results in the last week", COLUMNS, &rows);
}

pub(super) fn jumps(page: &mut String, brands: &[BrandQuality]) {
    const COLUMNS: &[Column] = &[("Brand", "t b"), ("Products", "n"), ("For example", "t")];
    let mut jumped: Vec<_> = brands
        .iter()
        .filter_map(|brand| Some((brand, brand.moves.as_ref().filter(|moves| moves.jumped > 0)?)))
        .collect();
    jumped.sort_by_key(|(_, moves)| std::cmp::Reverse(moves.jumped));
    let rows: Vec<_> = jumped
        .into_iter()
        .map(|(brand, moves)| {
            let examples = moves
                .examples
                .iter()
                .map(|jump| format!("<div>{}</div>", escape(&told(jump))));
            vec![escape(brand.slug.as_str()), count(moves.jumped), examples.collect()]
        })
        .collect();
    table(page, "Prices that jumped", COLUMNS, &rows);
}

/// Brands with findings come first, then stale ones, then the others by number of products.
pub(super) fn brands(page: &mut String, report: &QualityReport) {
    const COLUMNS: &[Column] = &[
        ("Brand", "t b"),
        ("Products", "n"),
        ("Changed", "n"),
        ("No title", "n"),
        ("No description", "n"),
        ("No picture", "n"),
        ("No price", "n"),
        ("With a category", "n"),
        ("Repeated", "n"),
        ("Prices moved", "n"),
        ("Currency", ""),
        ("Quarantined", "n"),
        ("Last good crawl", ""),
    ];
    let is_found = |brand: &BrandQuality| {
        report
            .findings
            .iter()
            .any(|finding| finding.brand.as_ref() == Some(&brand.slug))
    };
    let mut brands: Vec<_> = report.brands.iter().map(|brand| (is_found(brand), brand)).collect();
    brands.sort_by_key(|(is_found, brand)| {
        let products = brand.now.as_ref().map_or(0, |now| now.products);
        (!is_found, !brand.is_stale, std::cmp::Reverse(products))
    });
    let rows: Vec<_> = brands
        .into_iter()
        .map(|(is_found, brand)| row(is_found, brand))
        .collect();
    table(page, "Brands", COLUMNS, &rows);
}

fn row(is_found: bool, brand: &BrandQuality) -> Vec<String> {
    let slug = escape(brand.slug.as_str());
    let name = if is_found {
        format!("<span class=\"worse\">{slug}</span>")
    } else {
        slug
    };
    let good_at = escape(brand.good_at.to_string().get(..16).unwrap_or_default());
    // A line break is possible only between date and time.
    let good_at = good_at.replace('T', "</span> <span class=\"w\">");
    let good_at = format!("<span class=\"w\">{good_at}</span>");
    let good_at = if brand.is_stale {
        format!("<span class=\"worse\">{good_at}, stale</span>")
    } else {
        good_at
    };
    let Some(now) = &brand.now else {
        let mut cells = vec![name, "cannot be read".to_owned()];
        cells.resize(12, String::new());
        cells.push(good_at);
        return cells;
    };
    let lacks = |field| match now.without(field) {
        0 => "0".to_owned(),
        missing => escape(&percent(missing, now.products)),
    };
    let changed = brand
        .before
        .as_ref()
        .map(|before| change(before.products, now.products));
    let currencies: Vec<_> = now.currencies.keys().map(|currency| escape(currency)).collect();
    let repeated = now.duplicates;
    vec![
        name,
        count(now.products),
        changed.unwrap_or_else(|| "new".to_owned()),
        lacks(Field::Title),
        lacks(Field::Description),
        lacks(Field::Media),
        lacks(Field::Price),
        escape(&percent(
            now.products - now.without(Field::Category).min(now.products),
            now.products,
        )),
        count(repeated.ids.max(repeated.handles).max(repeated.titles)),
        brand
            .moves
            .as_ref()
            .map(|moves| count(moves.moved()))
            .unwrap_or_default(),
        currencies.join(", "),
        count(brand.quarantined),
        good_at,
    ]
}
