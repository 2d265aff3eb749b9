//! Parses any bytes as the answer of each review app, or as a page that contains one.

use data_model::ReviewWidget;
use pipeline_widgets::{FeedPage, Next, Overview, WidgetKey, detect};

const RECORDS_MAX: usize = 1_000;
const ID_BYTES_MAX: usize = 128;
const NAME_CHARS_MAX: usize = 255;
const BODY_CHARS_MAX: usize = 4_000;
const EXCERPT_BYTES_MAX: usize = 4_096;

pub(crate) fn check(bytes: &[u8]) {
    let _ = detect(&String::from_utf8_lossy(bytes));
    for widget in ReviewWidget::ALL {
        let key = WidgetKey {
            widget,
            key: "3f2504e0-4f89-41d3-9a0c-0305e82c3301".to_owned(),
            shop: "loom.myshopify.com".to_owned(),
        };
        let feed = key.read_feed(bytes, &Next::Page(1));
        if let Ok(page) = &feed {
            in_bounds(page);
        }
        match key.read_overview(bytes) {
            Ok(Overview::Page(page)) => assert_eq!(feed, Ok(page)),
            Ok(Overview::Totals { stars, .. }) => assert!(stars.is_finite() && stars >= 0.0, "{stars}"),
            Err(_) => {}
        }
        if let Ok(summary) = key.read_product(bytes) {
            assert!(
                summary.average.is_none_or(|stars| (0.0..=5.0).contains(&stars)),
                "{summary:?}"
            );
        }
    }
}

fn in_bounds(page: &FeedPage) {
    assert!(page.records() <= RECORDS_MAX);
    for one in &page.reviews {
        let review = &one.review;
        assert!(review.rating > 0.0 && review.rating <= 5.0, "{one:?}");
        assert!(!one.id.is_empty() && one.id.len() <= ID_BYTES_MAX, "{one:?}");
        let names = review.author.iter().chain(&review.title);
        assert!(
            names.into_iter().all(|name| name.chars().count() <= NAME_CHARS_MAX),
            "{one:?}"
        );
        assert!(review.body.chars().count() <= BODY_CHARS_MAX, "{one:?}");
        assert!(
            !review.body.contains(|char: char| char.is_control() && char != '\n'),
            "{one:?}"
        );
    }
    for refused in &page.refused {
        assert!(refused.excerpt.len() <= EXCERPT_BYTES_MAX, "{refused:?}");
    }
    match &page.next {
        Some(Next::Link(link)) => assert!(link.len() <= EXCERPT_BYTES_MAX),
        Some(Next::Page(page)) => assert!(*page > 1),
        None => {}
    }
}
