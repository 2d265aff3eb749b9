use crate::collapse::{Affected, Changes, Example, HoldReason};
use crate::summary::{Outcome, RunReport, RunState, StoreSummary, Totals};

use super::*;

fn store(slug: &str, outcome: Outcome, products: u64) -> StoreSummary {
    StoreSummary {
        slug: slug.parse().unwrap(),
        store: "tea.example".parse().unwrap(),
        outcome,
        products,
        variants: Some(products * 3),
        quarantined: Some(0),
        pages: 2,
        requests: 3,
        bytes: 123_456,
        truncated: false,
        foreign_prices: None,
        codes: None,
        changes: None,
        reused_pages: 0,
        read_since: None,
        read_at: None,
        ended_at: "2026-11-21T01:30:00Z".parse().unwrap(),
        duration_ms: 4_200,
    }
}

fn report(stores: Vec<StoreSummary>) -> RunReport {
    RunReport {
        run: "20261121T012725Z-3f9a".parse().unwrap(),
        state: RunState::Finished,
        only: None,
        force: false,
        dry_run: false,
        queued: false,
        resumed: 0,
        started_at: "2026-11-21T01:27:25Z".parse().unwrap(),
        ended_at: "2026-11-21T01:37:25Z".parse().unwrap(),
        commits: 1,
        totals: Totals::of(&stores),
        memory: None,
        stores,
    }
}

#[test]
fn what_a_store_says_cannot_become_markup() {
    let reason = "<script>alert('x')</script> & \"quoted\" \u{202e}gpj.exe\u{7}".to_owned();
    let html = render_html(&report(vec![store(
        "tea",
        Outcome::Failed {
            code: "not_json".into(),
            reason,
        },
        0,
    )]));
    assert!(
        html.contains(
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot; \u{fffd}gpj.exe\u{fffd}"
        )
    );
    assert!(!html.contains("<script"));
}

#[test]
fn the_report_needs_nothing_from_elsewhere_and_its_tags_are_balanced() {
    let held = Outcome::HeldBack {
        products_before: 100,
        products_found: 3,
        doubt: Some(HoldReason::Shrank),
        affected: None,
        currencies: None,
    };
    let stores = vec![
        store("chai", Outcome::Changed, 12_345),
        store("mate", Outcome::Unchanged, 0),
        store("tea", held, 3),
    ];
    let html = render_html(&report(stores));
    for foreign in ["src=", "href=", "url(", "@import", "http://", "https://"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    for tag in [
        "html", "head", "body", "table", "tbody", "tr", "td", "figure", "svg", "text", "dl", "div", "p", "style",
    ] {
        let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(html.contains("12,345") && html.contains("3 products, compared with 100 before"));
    assert!(html.contains("10 min 0 s") && html.contains("123.4 kB"));
}

#[test]
fn the_report_says_why_a_crawl_is_not_believed_though_it_found_as_many_products() {
    let page = |doubt, currencies| {
        let held = Outcome::HeldBack {
            products_before: 100,
            products_found: 100,
            doubt,
            affected: None,
            currencies,
        };
        render_html(&report(vec![store("tea", held, 100)]))
    };
    let currencies = ("INR".parse().unwrap(), "USD".parse().unwrap());
    assert!(page(Some(HoldReason::Currency), Some(currencies)).contains("prices are in USD, but were in INR before"));
    assert!(page(Some(HoldReason::Replaced), None).contains("hardly any earlier product is still listed"));
    // Summaries of earlier versions do not contain the reason.
    let earlier = serde_json::json!({"outcome": "held_back", "products_before": 9, "products_found": 2});
    let earlier: Outcome = serde_json::from_value(earlier).unwrap();
    assert_eq!(earlier.detail().unwrap(), "2 products, compared with 9 before");
}

#[test]
fn a_run_without_stores_has_a_report_too() {
    let html = render_html(&report(Vec::new()));
    assert!(html.contains("no store") && html.ends_with("</body></html>\n"));
}

#[test]
fn amounts_are_written_for_people() {
    assert_eq!(
        [count(0), count(999), count(1_000), count(12_345_678)],
        ["0", "999", "1,000", "12,345,678"]
    );
    assert_eq!(
        [bytes(999), bytes(1_000), bytes(123_456_789), bytes(u64::MAX)],
        ["999 B", "1.0 kB", "123.4 MB", "18.4 EB"]
    );
    let written = [450, 4_500, 200_000, 7_500_000].map(duration);
    assert_eq!(written, ["450 ms", "4.5 s", "3 min 20 s", "2 h 5 min"]);
}

fn cells(html: &str, title: &str) -> Vec<Vec<String>> {
    let table = html.split(&format!("<h2>{title}</h2>")).nth(1).unwrap();
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let text = |cell: &str| {
        cell.split_once('>')
            .unwrap()
            .1
            .split("</td>")
            .next()
            .unwrap()
            .to_owned()
    };
    let rows = body.split("<tr>").skip(1);
    rows.map(|row| row.split("<td").skip(1).map(text).collect()).collect()
}

#[test]
fn what_a_held_back_crawl_found_stands_beside_what_the_lake_has_and_under_headings_of_its_own() {
    let held = Outcome::HeldBack {
        products_before: 499,
        products_found: 250,
        doubt: Some(HoldReason::Short),
        affected: Some(Affected { count: 250, of: 499 }),
        currencies: None,
    };
    let mut tea = store("tea", held, 499);
    tea.variants = Some(777);
    tea.changes = Some(Changes {
        products_removed: 249,
        prices_changed: 3,
        ..Changes::default()
    });
    let report = report(vec![tea]);
    let html = render_html(&report);
    let why =
        "only 250 of 499 products are listed, by the store&#39;s own count: 250 products, compared with 499 before";
    let confirm = "<code>haat crawl <span class=\"w\">--brand tea</span> <span class=\"w\">--confirm tea</span></code>";
    assert_eq!(
        cells(&html, "Held back: the lake keeps the previous data"),
        [["tea", why, "499", "250", "0", "249", "3", confirm]]
    );
    let stores = cells(&html, "Stores");
    assert_eq!(stores[0][..5], ["tea", "held back", "499", "250", "777"]);
    let headings = "Products in the lake</th><th class=\"n\">Products found</th>";
    assert_eq!(html.matches(headings).count(), 2);
    assert_eq!(
        (report.totals.products_removed, report.totals.prices_changed),
        (0, 0),
        "nothing of it happened"
    );
}

#[test]
fn what_came_went_and_has_another_price_is_told_with_examples() {
    let mut tea = store("tea", Outcome::Changed, 12);
    let titled = |title: &str| title.to_owned();
    tea.changes = Some(Changes {
        products_added: 1_234,
        products_removed: 1,
        prices_changed: 2,
        examples: vec![
            Example::Added {
                title: titled("<b>Assam"),
            },
            Example::Removed { title: titled("Mate") },
            Example::Price {
                title: titled("Nilgiri"),
                before_minor: 49_900,
                now_minor: 45_050,
                currency: "INR".parse().unwrap(),
            },
        ],
    });
    let report = report(vec![store("chai", Outcome::Unchanged, 4), tea]);
    let totals = report.totals;
    assert_eq!(
        (totals.products_added, totals.products_removed, totals.prices_changed),
        (1_234, 1, 2)
    );
    let html = render_html(&report);
    let examples = "<div>+ &lt;b&gt;Assam</div><div>&minus; Mate</div><div>Nilgiri: 499.00 INR &rarr; 450.50 INR</div>";
    assert_eq!(cells(&html, "What changed"), [["tea", "1,234", "1", "2", examples]]);
}

#[test]
fn on_a_narrow_screen_every_value_has_its_heading() {
    let html = render_html(&report(vec![store("tea", Outcome::Changed, 12)]));
    let rows = cells(&html, "Stores");
    let labels = html.matches("<td class=\"n\" data-label=\"").count();
    assert_eq!(
        (rows[0].len(), labels),
        (8, 6),
        "a brand and its outcome beside six numbers"
    );
    assert!(html.contains("content:attr(data-label)"));
}
