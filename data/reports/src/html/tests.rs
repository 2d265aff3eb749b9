use std::collections::BTreeMap;

use crate::figures::{BrandFigures, Duplicates, Field, PriceMove, PriceMoves};
use crate::{BrandQuality, Point, QualityConfig, QualityReport, Totals, UnfoundWords, judge, render};

fn brand(slug: &str, products: u64) -> BrandQuality {
    let figures = BrandFigures {
        products,
        missing: BTreeMap::from([(Field::Category, products / 5), (Field::Description, products / 20)]),
        duplicates: Duplicates {
            titles: products / 10,
            ..Duplicates::default()
        },
        currencies: BTreeMap::from([("INR".to_owned(), products)]),
    };
    BrandQuality {
        slug: slug.parse().unwrap(),
        store: format!("{slug}.example").parse().unwrap(),
        catalogue_hash: "0".repeat(64),
        now: Some(figures.clone()),
        before: Some(figures),
        moves: Some(PriceMoves {
            compared: products,
            by_size: [0, 0, 2, 9, products - 20, 7, 2, 0, 0],
            ..PriceMoves::default()
        }),
        quarantined: 0,
        quarantined_before: Some(0),
        good_at: "2026-11-23T06:30:00Z".parse().unwrap(),
        is_stale: false,
    }
}

/// Builds a report on eight brands, including one with a decimals error, one without titles, one stale, one unreadable
/// and one new.
fn report() -> QualityReport {
    let slugs = [
        "blue-tokai",
        "kith",
        "loom",
        "mug-and-co",
        "okhai",
        "tea-trunk",
        "vahdam",
        "the-whole-truth-foods",
    ];
    let mut brands: Vec<_> = slugs
        .iter()
        .zip([240, 180, 120, 90, 75, 60, 44, 30])
        .map(|(slug, products)| brand(slug, products))
        .collect();
    if let Some(moves) = &mut brands[1].moves {
        *moves = PriceMoves {
            compared: 180,
            jumped: 178,
            by_size: [0, 0, 0, 1, 1, 0, 0, 0, 178],
            examples: vec![PriceMove {
                platform_product_id: 1,
                title: "<b>Cup & \u{202e}saucer</b>".into(),
                currency: "INR".into(),
                before_minor: 49_900,
                now_minor: 4_990_000,
            }],
            currency_changed: 0,
        };
    }
    if let Some(now) = &mut brands[2].now {
        now.missing.insert(Field::Title, 60);
        now.currencies = BTreeMap::from([("INR".to_owned(), 30), ("USD".to_owned(), 90)]);
    }
    brands[3].is_stale = true;
    brands[4].now = None;
    (brands[5].before, brands[5].moves) = (None, None);
    let at = |day: i64| format!("2026-11-{day:02}T06:30:00Z").parse().unwrap();
    let trend = (16..=23).map(|day| Point {
        made_at: at(day),
        products: 700 + u64::try_from(day).unwrap() * 6,
        uncategorised: 150,
        missing: 40 + u64::try_from(day * day % 17).unwrap(),
        findings: 0,
    });
    QualityReport {
        shipping_known: None,
        made_at: at(23),
        versions: BTreeMap::new(),
        against: Some("release r9051c2f0a4d1e6b7, which is current".into()),
        versions_before: BTreeMap::new(),
        is_released: false,
        findings: judge(&brands, &QualityConfig::default()),
        totals: Totals::of(&brands, true),
        unfound: vec![UnfoundWords {
            words: "blue <b>kettle".into(),
            searches: 12,
            without_hits: 9,
            last_day: "2026-11-22".into(),
        }],
        brands,
        trend: trend.collect(),
    }
}

#[test]
fn the_page_says_what_is_held_back_and_nothing_of_a_store_becomes_markup() {
    let report = report();
    let told: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    let page = render(&report);
    for part in [
        "3 figures are beyond a threshold: the brands below are held back.",
        "&lt;b&gt;Cup &amp; \u{fffd}saucer&lt;/b&gt;: 499.00 INR, now 49900.00 INR",
        "quality.missing_rise_share_max",
        "60 of 120 products have no title",
        "cannot be read",
        "06:30</span>, stale",
        "release r9051c2f0a4d1e6b7, which is current",
        "blue &lt;b&gt;kettle",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    for never in ["<script", "http://", "https://", "<b>Cup", "url("] {
        assert!(!page.contains(never), "{never} is in {page}");
    }
    // Every opened element is closed.
    for element in ["div", "figure", "svg", "table", "dl", "p"] {
        let opened = page.matches(&format!("<{element} ")).count() + page.matches(&format!("<{element}>")).count();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn nothing_is_judged_of_small_brands_and_a_share_of_one_is_never_exceeded() {
    let brands = report().brands;
    let config = QualityConfig {
        products_min: 1_000,
        ..QualityConfig::default()
    };
    assert!(judge(&brands, &config).is_empty());
    let config = QualityConfig {
        missing_rise_share_max: 1.0,
        price_jump_share_max: 1.0,
        currency_mix_share_max: 1.0,
        ..QualityConfig::default()
    };
    assert!(judge(&brands, &config).is_empty());
}
