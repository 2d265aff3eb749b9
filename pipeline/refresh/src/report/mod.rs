//! Renders the report of a run as a single HTML file without scripts, fonts or external images. It supports phones and
//! dark mode.

mod spread;
mod tables;

use data_reports::page::chart::{Bar, BarPart, bars, columns, share_bar};
use data_reports::page::text::{bytes, count, duration, escape, moment};
use data_reports::page::{self, put, tile};

use self::spread::TimedAmount;
use crate::summary::RunReport;

/// Renders the report of a run as HTML.
#[must_use]
pub fn render_html(report: &RunReport) -> String {
    let mut page = String::with_capacity(16 << 10);
    page::begin(&mut page, &format!("Crawl {}", report.run));
    head(&mut page, report);
    tiles(&mut page, report);
    plots(&mut page, report);
    tables::held_back(&mut page, &report.stores);
    tables::troubles(&mut page, &report.stores);
    tables::changes(&mut page, &report.stores);
    if !report.stores.is_empty() {
        tables::stores(&mut page, &report.stores);
    }
    page::end(&mut page);
    page
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
            escape(&moment(&report.started_at.to_string())),
            duration(u64::try_from(took).unwrap_or(0))
        ),
    );
    let mut notes = Vec::new();
    if report.dry_run {
        notes.push("This is a dry run: nothing was written to the lake.".to_owned());
    }
    if report.force {
        notes.push("All pages were read again.".to_owned());
    }
    if let Some(only) = &report.only {
        notes.push(format!("Limited to {} brands.", only.len()));
    }
    if report.resumed > 0 {
        notes.push(format!(
            "The run was resumed after {} interruptions; {} pages from before were not requested again.",
            report.resumed, report.totals.reused_pages
        ));
    }
    if !notes.is_empty() {
        put(page, format_args!("<p>{}</p>", notes.join(" ")));
    }
}

fn tiles(page: &mut String, report: &RunReport) {
    let totals = &report.totals;
    page.push_str("<dl>");
    tile(page, "Stores", &count(totals.stores));
    tile(page, "Products", &count(totals.products));
    tile(page, "Products added", &count(totals.products_added));
    tile(page, "Products removed", &count(totals.products_removed));
    tile(page, "Prices changed", &count(totals.prices_changed));
    tile(page, "Variants read", &count(totals.variants));
    tile(page, "Quarantined", &count(totals.quarantined));
    tile(page, "Requests", &count(totals.requests));
    tile(page, "Received", &bytes(totals.bytes));
    tile(page, "Commits", &count(report.commits));
    if !totals.live.is_none() {
        tile(page, "Seen live", &count(totals.live.folded));
        tile(
            page,
            "Price history rows from live answers",
            &count(totals.live.price_changes),
        );
    }
    page.push_str("</dl>");
}

/// On a wide screen, the plots are side by side, so that they fill the width and keep their text size.
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
    let part = |class, name, value| BarPart { class, name, value };
    let shares = [
        part("changed", "changed", totals.changed),
        part("unchanged", "unchanged", totals.unchanged),
        part("held_back", "held back", totals.held_back),
        part("failed", "failed", totals.failed),
        part("skipped", "skipped", totals.skipped),
    ];
    page.push_str(&share_bar("Outcomes", &shares));
}

fn throughput(page: &mut String, report: &RunReport) {
    let ended = report.stores.iter().map(|store| TimedAmount {
        at: store.ended_at,
        amount: store.bytes,
    });
    let ended: Vec<TimedAmount> = ended.collect();
    let (step_ms, received) = spread::over_time(report.started_at, report.ended_at, &ended);
    let title = format!("Received, per {}", duration(step_ms));
    let received: Vec<Bar> = received
        .iter()
        .enumerate()
        .map(|(step, size)| Bar {
            label: duration(step as u64 * step_ms),
            value: *size,
        })
        .collect();
    page.push_str(&columns(&title, &received, bytes));
}

#[cfg(test)]
mod tests;
