//! A run as one HTML file: no script, no font, no picture from elsewhere; it reads on a phone and in the dark.

mod chart;
mod spread;
mod text;

use std::fmt::Write;

use data_model::Timestamp;

use crate::summary::{Outcome, RunReport, StoreSummary};
use chart::{Bar, bars, columns, share_bar};
use text::{Escaped, bytes, count, duration, escape};

/// Rows of the table of stores; what is beyond is counted.
const ROWS_MAX: usize = 2_000;

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c2024;--soft:#6b7280;--line:#d9dee3;--paper:#fff;--changed:#1f7a4d;--unchanged:#8aa0b4;--held:#b7791f;--failed:#b3261e;--skipped:#c3c8ce;--plot:#33658a}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa4ae;--line:#343a40;--paper:#16191c;--changed:#52b788;--unchanged:#7890a5;--held:#e0a84a;--failed:#ef7a72;--skipped:#565d64;--plot:#7fb3d8}}
*{box-sizing:border-box}body{margin:0 auto;max-width:64rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:.2rem 0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.3rem 0}.soft{color:var(--soft)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.5rem;margin:1rem 0}dl div{border:1px solid var(--line);border-radius:.5rem;padding:.4rem .6rem}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
figure{margin:1rem 0}.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem}figcaption{font-weight:600;margin-bottom:.3rem}svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:11px system-ui,sans-serif}svg .soft{fill:var(--soft)}svg line{stroke:var(--line)}
.changed{fill:var(--changed);color:var(--changed)}.unchanged{fill:var(--unchanged);color:var(--unchanged)}.held_back{fill:var(--held);color:var(--held)}.failed{fill:var(--failed);color:var(--failed)}.skipped{fill:var(--skipped);color:var(--skipped)}.plot{fill:var(--plot)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
";

/// Renders the report of a run.
#[must_use]
pub fn render_html(report: &RunReport) -> String {
    let mut page = String::with_capacity(16 << 10);
    let run = escape(report.run.as_str());
    page.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    page.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
    );
    put(
        &mut page,
        format_args!("<title>Crawl {run}</title><style>{STYLE}</style></head><body>"),
    );
    head(&mut page, report);
    tiles(&mut page, report);
    plots(&mut page, report);
    troubles(&mut page, report);
    if !report.stores.is_empty() {
        stores(&mut page, &report.stores);
    }
    page.push_str("</body></html>\n");
    page
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = page.write_fmt(text);
}

fn head(page: &mut String, report: &RunReport) {
    let state = match report.state {
        crate::RunState::Running => "running",
        crate::RunState::Interrupted => "interrupted",
        crate::RunState::Finished => "finished",
        crate::RunState::Abandoned => "abandoned",
    };
    let took = report.ended_at.millis_since(report.started_at);
    put(page, format_args!("<h1>Crawl {}</h1>", escape(report.run.as_str())));
    put(
        page,
        format_args!(
            "<p class=\"soft\">{state} &middot; began {} &middot; took {}</p>",
            escape(&report.started_at.to_string()),
            duration(u64::try_from(took).unwrap_or(0))
        ),
    );
    let mut notes = Vec::new();
    if report.dry_run {
        notes.push("A dry run: nothing was written to the lake.".to_owned());
    }
    if report.force {
        notes.push("Everything was read anew.".to_owned());
    }
    if let Some(only) = &report.only {
        notes.push(format!("Limited to {} brands.", only.len()));
    }
    if report.resumed > 0 {
        notes.push(format!("Gone on with after {} interruptions.", report.resumed));
    }
    if !notes.is_empty() {
        put(page, format_args!("<p>{}</p>", notes.join(" ")));
    }
}

fn tiles(page: &mut String, report: &RunReport) {
    let totals = &report.totals;
    let tile = |page: &mut String, name: &str, value: String| {
        put(page, format_args!("<div><dt>{name}</dt><dd>{value}</dd></div>"));
    };
    page.push_str("<dl>");
    tile(page, "Stores", count(totals.stores));
    tile(page, "Products", count(totals.products));
    tile(page, "Variants read", count(totals.variants));
    tile(page, "Quarantined", count(totals.quarantined));
    tile(page, "Requests", count(totals.requests));
    tile(page, "Received", bytes(totals.bytes));
    tile(page, "Commits", count(report.commits));
    page.push_str("</dl>");
}

/// Side by side where there is room, so that together they fill the width and their texts stay of a size.
fn plots(page: &mut String, report: &RunReport) {
    page.push_str("<div class=\"plots\">");
    outcomes(page, report);
    if !report.stores.is_empty() {
        throughput(page, report);
        page.push_str(&bars("Products per store", "stores", &spread::products(&report.stores)));
        page.push_str(&bars("Time per store", "stores", &spread::durations(&report.stores)));
    }
    page.push_str("</div>");
}

fn outcomes(page: &mut String, report: &RunReport) {
    let totals = &report.totals;
    let shares = [
        ("changed", "changed", totals.changed),
        ("unchanged", "unchanged", totals.unchanged),
        ("held_back", "held back", totals.held_back),
        ("failed", "failed", totals.failed),
        ("skipped", "skipped", totals.skipped),
    ];
    page.push_str(&share_bar("Outcomes", &shares));
}

fn troubles(page: &mut String, report: &RunReport) {
    let mut rows = String::new();
    for store in &report.stores {
        let (what, detail) = match &store.outcome {
            Outcome::Failed { code, reason } => (code.replace('_', " "), reason.clone()),
            held @ Outcome::HeldBack { .. } => ("held back".to_owned(), held.detail().unwrap_or_default()),
            _ if store.truncated => (
                "incomplete".to_owned(),
                "the catalogue goes on beyond what can be listed".to_owned(),
            ),
            _ => match store.quarantined {
                Some(records @ 1..) => ("quarantine".to_owned(), format!("{} records", count(records))),
                _ => continue,
            },
        };
        put(
            &mut rows,
            format_args!(
                "<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>",
                escape(store.slug.as_str()),
                store.outcome.as_str(),
                escape(&what),
                Escaped(&detail)
            ),
        );
    }
    if !rows.is_empty() {
        page.push_str("<h2>What needs a look</h2><div class=\"wide\"><table><thead><tr><th>Brand</th><th>What</th>");
        put(
            page,
            format_args!("<th>Detail</th></tr></thead><tbody>{rows}</tbody></table></div>"),
        );
    }
}

fn throughput(page: &mut String, report: &RunReport) {
    let ended: Vec<(Timestamp, u64)> = report
        .stores
        .iter()
        .map(|store| (store.ended_at, store.bytes))
        .collect();
    let (step_ms, received) = spread::over_time(report.started_at, report.ended_at, &ended);
    let title = format!("Received, per {}", duration(step_ms));
    let received: Vec<Bar> = received
        .iter()
        .enumerate()
        .map(|(step, size)| (duration(step as u64 * step_ms), *size))
        .collect();
    page.push_str(&columns(&title, &received, bytes));
}

fn stores(page: &mut String, stores: &[StoreSummary]) {
    page.push_str("<h2>Stores</h2><div class=\"wide\"><table><thead><tr><th>Brand</th><th>Outcome</th>");
    page.push_str("<th class=\"n\">Products</th><th class=\"n\">Variants</th><th class=\"n\">Pages</th>");
    page.push_str("<th class=\"n\">Received</th><th class=\"n\">Time</th></tr></thead><tbody>");
    for store in stores.iter().take(ROWS_MAX) {
        let outcome = store.outcome.as_str();
        put(
            page,
            format_args!(
                "<tr><td>{}</td><td class=\"{outcome}\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escape(store.slug.as_str()),
                outcome.replace('_', " "),
                count(store.products),
                store.variants.map(count).unwrap_or_default(),
                store.pages,
                bytes(store.bytes),
                duration(store.duration_ms),
            ),
        );
    }
    page.push_str("</tbody></table></div>");
    if let Some(more) = stores.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        put(page, format_args!("<p class=\"soft\">and {more} more.</p>"));
    }
}

#[cfg(test)]
mod tests;
