//! Renders the report as one HTML file: see [`crate::page`].

mod tables;

use crate::figures::{Field, SIZES};
use crate::page::chart::{Bar, BarPart, ComparedShare, Share, bars, line, pairs, share_bar};
use crate::page::text::{change, count, escape, moment, percent};
use crate::page::{begin, end, put, tile};
use crate::report::QualityReport;

/// Renders a report as HTML.
#[must_use]
pub fn render(report: &QualityReport) -> String {
    let mut page = String::with_capacity(16 << 10);
    begin(&mut page, "Data quality");
    head(&mut page, report);
    tiles(&mut page, report);
    plots(&mut page, report);
    tables::findings(&mut page, &report.findings);
    tables::jumps(&mut page, &report.brands);
    tables::unfound(&mut page, &report.unfound);
    tables::brands(&mut page, report);
    end(&mut page);
    page
}

fn head(page: &mut String, report: &QualityReport) {
    let made_at = escape(&moment(&report.made_at.to_string()));
    put(page, format_args!("<h1>Data quality</h1><p class=\"soft\">{made_at}"));
    match &report.against {
        Some(against) => put(page, format_args!(" &middot; beside {}</p>", escape(against))),
        None => page.push_str(" &middot; there is nothing to compare with yet</p>"),
    }
    let found = report.findings.len() as u64;
    if found == 0 {
        page.push_str(
            "<p class=\"verdict\"><strong>Nothing is beyond a threshold.</strong> A release can be published.</p>",
        );
        return;
    }
    let figures = if found == 1 { "figure is" } else { "figures are" };
    if report.is_released {
        put(
            page,
            format_args!(
                "<p class=\"verdict held\"><strong>{} {figures} beyond a threshold.</strong>The current release was built from this \
                 data nevertheless.</p>",
                count(found)
            ),
        );
        return;
    }
    put(
        page,
        format_args!(
            "<div class=\"verdict held\"><strong>{} {figures} beyond a threshold: the brands below are held back.</strong>\
             A release keeps their previous data. If the new data of a brand is right, \
             <code>haat release build --accept-brand SLUG</code> publishes it. Section <code>quality</code> of the \
             configuration sets the thresholds.</div>",
            count(found)
        ),
    );
}

fn tiles(page: &mut String, report: &QualityReport) {
    let totals = &report.totals;
    let (now, before) = (&totals.now, totals.before.as_ref());
    page.push_str("<dl>");
    let changed = before.map(|before| format!(" <small>{}</small>", change(before.products, now.products)));
    tile(
        page,
        "Products",
        &format!("{}{}", count(now.products), changed.unwrap_or_default()),
    );
    tile(page, "Brands", &count(totals.brands));
    let categorised = now.products.saturating_sub(now.without(Field::Category));
    tile(page, "With a category", &escape(&percent(categorised, now.products)));
    match &totals.moves {
        Some(moves) => {
            tile(page, "Prices moved", &count(moves.moved()));
            tile(page, "Price jumps", &count(moves.jumped));
            tile(page, "Currency changed", &count(moves.currency_changed));
        }
        None => tile(page, "Prices moved", "not known"),
    }
    tile(page, "Repeated titles", &count(now.duplicates.titles));
    tile(
        page,
        "Repeated handles, ids",
        &count(now.duplicates.handles + now.duplicates.ids),
    );
    tile(page, "Quarantined", &count(totals.quarantined));
    tile(page, "Stale brands", &count(totals.brands_stale));
    if let Some(known) = &report.shipping_known {
        let told = known
            .named()
            .map(|(fact, brands)| format!("{fact} {}", percent(brands, totals.brands)));
        tile(page, "Brands that state shipping terms", &escape(&told.join(", ")));
    }
    if totals.brands_unread > 0 {
        tile(page, "Brands that cannot be read", &count(totals.brands_unread));
    }
    page.push_str("</dl>");
}

fn plots(page: &mut String, report: &QualityReport) {
    let totals = &report.totals;
    page.push_str("<div class=\"plots\">");
    if totals.now.products > 0 {
        page.push_str("<div>");
        lacks(page, report);
        page.push_str("</div>");
    }
    if let Some(moves) = totals.moves.as_ref().filter(|moves| moves.moved() > 0) {
        let sizes = SIZES.iter().zip(moves.by_size).enumerate();
        let moved: Vec<Bar> = sizes
            .filter(|(size, _)| *size != crate::figures::UNMOVED)
            .map(|(size, (name, products))| {
                let way = if size < crate::figures::UNMOVED {
                    "\u{2193}"
                } else {
                    "\u{2191}"
                };
                Bar {
                    label: format!("{way} {}", short(name)),
                    value: products,
                }
            })
            .collect();
        page.push_str(&bars("Prices that moved", "products", &moved));
    }
    coverage(page, report);
    currencies(page, report);
    if report.trend.len() > 1 {
        let points = |value: fn(&crate::report::Point) -> u64| -> Vec<Bar> {
            let points = report.trend.iter();
            points
                .map(|point| Bar {
                    label: day(&point.made_at.to_string()),
                    value: value(point),
                })
                .collect()
        };
        page.push_str(&line(
            "Number of products per run",
            &points(|point| point.products),
            count,
        ));
        page.push_str(&line(
            "Missing titles, descriptions, pictures, prices",
            &points(|point| point.missing),
            count,
        ));
    }
    page.push_str("</div>");
}

fn short(size: &str) -> &str {
    match size {
        "to a tenth or less" => "\u{f7} 10 and more",
        "to a half or less" => "\u{f7} 2 and more",
        "by a fifth or more" => "20 % and more",
        "less" => "under 20 %",
        "more" => "under 25 %",
        "by a quarter or more" => "25 % and more",
        "to twice or more" => "\u{d7} 2 and more",
        _ => "\u{d7} 10 and more",
    }
}

/// Formats a timestamp as `11-23 06:30`.
fn day(moment: &str) -> String {
    moment.get(5..16).unwrap_or(moment).replace('T', " ")
}

fn lacks(page: &mut String, report: &QualityReport) {
    let totals = &report.totals;
    let of = |figures: &crate::figures::BrandFigures, field| Share {
        part: figures.without(field),
        whole: figures.products,
    };
    let before = totals.before.as_ref().filter(|before| before.products > 0);
    let lacks: Vec<_> = Field::ALL
        .into_iter()
        .map(|field| ComparedShare {
            label: field.as_str().to_owned(),
            now: of(&totals.now, field),
            before: before.map(|before| of(before, field)),
        })
        .collect();
    page.push_str(&pairs("Products without \u{2026}", &lacks));
    if before.is_some() {
        page.push_str("<p class=\"soft\"><span class=\"key\"></span>now<span class=\"key was\"></span>before</p>");
    }
}

/// Lists the brands with the smallest share of products that have a category.
fn coverage(page: &mut String, report: &QualityReport) {
    const BRANDS_MAX: usize = 8;
    let covered = |figures: &crate::figures::BrandFigures| Share {
        part: figures.products - figures.without(Field::Category).min(figures.products),
        whole: figures.products,
    };
    let read = report
        .brands
        .iter()
        .filter_map(|brand| Some((brand, brand.now.as_ref()?)));
    let mut brands: Vec<_> = read
        .filter(|(_, now)| now.products > 0)
        .map(|(brand, now)| {
            let was = brand.before.as_ref().filter(|before| before.products > 0);
            ComparedShare {
                label: cut(brand.slug.as_str()),
                now: covered(now),
                before: was.map(covered),
            }
        })
        .collect();
    // Shares are compared without division, the smallest first.
    brands.sort_by(|one, other| {
        let left = u128::from(one.now.part) * u128::from(other.now.whole);
        left.cmp(&(u128::from(other.now.part) * u128::from(one.now.whole)))
    });
    brands.truncate(BRANDS_MAX);
    if !brands.is_empty() {
        page.push_str(&pairs("Products with a category: the brands with the fewest", &brands));
    }
}

fn cut(slug: &str) -> String {
    const CHARS_MAX: usize = 16;
    match slug.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", slug.get(..end).unwrap_or(slug)),
        None => slug.to_owned(),
    }
}

fn currencies(page: &mut String, report: &QualityReport) {
    const CLASSES: [&str; 5] = ["plot", "changed", "held_back", "unchanged", "skipped"];
    let mut currencies: Vec<_> = report.totals.now.currencies.iter().collect();
    currencies.sort_by_key(|(_, products)| std::cmp::Reverse(**products));
    let rest: u64 = currencies
        .iter()
        .skip(CLASSES.len() - 1)
        .map(|(_, products)| **products)
        .sum();
    let mut shares: Vec<BarPart<'_>> = currencies
        .iter()
        .zip(CLASSES)
        .take(CLASSES.len() - 1)
        .map(|((currency, products), class)| BarPart {
            class,
            name: currency.as_str(),
            value: **products,
        })
        .collect();
    shares.push(BarPart {
        class: CLASSES[CLASSES.len() - 1],
        name: "in others",
        value: rest,
    });
    if !currencies.is_empty() {
        page.push_str(&share_bar("Currencies of products", &shares));
    }
}

#[cfg(test)]
mod tests;
