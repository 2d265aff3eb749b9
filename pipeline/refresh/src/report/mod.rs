//! A run as one HTML file: no script, no font, no picture from elsewhere; it reads on a phone and in the dark.

mod chart;
mod spread;
mod tables;
mod text;

use std::fmt::Write;

use data_model::Timestamp;

use crate::summary::RunReport;
use chart::{Bar, bars, columns, share_bar};
use text::{bytes, count, duration, escape};

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c2024;--soft:#6b7280;--line:#d9dee3;--paper:#fff;--changed:#1f7a4d;--unchanged:#8aa0b4;--held:#b7791f;--failed:#b3261e;--skipped:#c3c8ce;--plot:#33658a}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa4ae;--line:#343a40;--paper:#16191c;--changed:#52b788;--unchanged:#7890a5;--held:#e0a84a;--failed:#ef7a72;--skipped:#565d64;--plot:#7fb3d8}}
*{box-sizing:border-box}body{margin:0 auto;max-width:64rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:.2rem 0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.3rem 0}.soft{color:var(--soft)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.5rem;margin:1rem 0}dl div{border:1px solid var(--line);border-radius:.5rem;padding:.4rem .6rem}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
figure{margin:1rem 0}.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem}figcaption{font-weight:600;margin-bottom:.3rem}svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:11px system-ui,sans-serif}svg .soft{fill:var(--soft)}svg line{stroke:var(--line)}
.changed{fill:var(--changed);color:var(--changed)}.unchanged{fill:var(--unchanged);color:var(--unchanged)}.held_back{fill:var(--held);color:var(--held)}.failed{fill:var(--failed);color:var(--failed)}.skipped{fill:var(--skipped);color:var(--skipped)}.plot{fill:var(--plot)}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600;overflow-wrap:normal}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}td div+div{margin-top:.2rem}
@media(max-width:44rem){table,tbody{display:block}thead{display:none}tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(6.5rem,1fr));gap:.2rem .8rem;border-bottom:1px solid var(--line);padding:.5rem 0}td,td.n{border:0;padding:0;text-align:left;white-space:normal}td:empty{display:none}td.t{grid-column:1/-1}td.b{font-weight:600}td[data-label]::before{content:attr(data-label);display:block;color:var(--soft);font-size:.75rem;font-weight:400}}
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
    tables::held_back(&mut page, &report.stores);
    tables::troubles(&mut page, &report.stores);
    tables::changes(&mut page, &report.stores);
    if !report.stores.is_empty() {
        tables::stores(&mut page, &report.stores);
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
        notes.push(format!("Resumed after {} interruptions.", report.resumed));
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
    tile(page, "Products added", count(totals.products_added));
    tile(page, "Products removed", count(totals.products_removed));
    tile(page, "Prices changed", count(totals.prices_changed));
    tile(page, "Variants read", count(totals.variants));
    tile(page, "Quarantined", count(totals.quarantined));
    tile(page, "Requests", count(totals.requests));
    tile(page, "Received", bytes(totals.bytes));
    tile(page, "Commits", count(report.commits));
    if !totals.live.is_none() {
        tile(page, "Seen live", count(totals.live.folded));
        tile(page, "Price history rows of these", count(totals.live.price_changes));
    }
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

#[cfg(test)]
mod tests;
