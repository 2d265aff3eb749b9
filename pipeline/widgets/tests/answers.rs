//! Tests that responses of all four apps are parsed in the same way, and that invalid responses are refused.

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/reviews.rs"]
mod reviews;

use data_model::ReviewWidget;
use pipeline_widgets::{AnswerError, FeedPage, Next, Overview, ProductRef, Summary, WidgetKey, detect};
use proptest::prelude::*;
use serde_json::{Value, json};

const UUID: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

fn key(widget: ReviewWidget) -> WidgetKey {
    let key = match widget {
        ReviewWidget::Judgeme => "loom.myshopify.com",
        ReviewWidget::Yotpo => "abcdefghABCDEFGH12345678",
        ReviewWidget::Stamped => "pubkey-abcdEFGH1234",
        ReviewWidget::Okendo => UUID,
    };
    WidgetKey {
        widget,
        key: key.to_owned(),
        shop: "loom.myshopify.com".to_owned(),
    }
}

/// Returns the list of a shop with one review, in the app's format, with these stars and this text.
fn feed(widget: ReviewWidget, stars: &Value, text: &str) -> Value {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    match widget {
        ReviewWidget::Judgeme => {
            let stars = stars.as_str().map_or_else(|| stars.to_string(), str::to_owned);
            let html = format!(
                "<div class='jdgm-rev jdgm-divider-top' data-verified-buyer='true' data-review-id='{UUID}'> \
                 <span class='jdgm-rev__rating' data-score='{stars}'></span> \
                 <span class='jdgm-rev__timestamp' data-content='2026-06-01 10:00:00 UTC'></span> \
                 <span class='jdgm-rev__author'>Asha &amp; Ben</span> <b class='jdgm-rev__title'>Good</b> \
                 <div class='jdgm-rev__body'><p>{escaped}</p></div> \
                 <a href='/products/tea-1#judgeme_product_reviews' class='jdgm-rev__prod-link'>Tea</a> </div>"
            );
            json!({"html": html, "total_count": 1})
        }
        ReviewWidget::Yotpo => json!({"status": {"code": 200}, "response": {
            "pagination": {"page": 1, "per_page": 100, "total": 1}, "products": [{"id": 9, "domain_key": "77"}],
            "reviews": [{"id": 41, "score": stars, "title": "Good", "content": escaped, "verified_buyer": true,
                "created_at": "2026-06-01T10:00:00.000Z", "product_id": 9, "user": {"display_name": "Asha &amp; Ben"}}]}}),
        ReviewWidget::Stamped => json!({"total": 1, "rating": 4.5, "data": [{"id": 41, "author": "Asha &amp; Ben",
            "reviewTitle": "Good", "reviewMessage": escaped, "reviewRating": stars, "dateCreated": "2026-06-01T10:00:00Z",
            "reviewVerifiedType": 2, "productId": 77}]}),
        ReviewWidget::Okendo => json!({"reviews": [{"reviewId": UUID, "productId": "shopify-77", "rating": stars,
            "title": "Good", "body": escaped, "dateCreated": "2026-06-01T10:00:00.000Z",
            "reviewer": {"displayName": "Asha &amp; Ben", "isVerified": true}}]}),
    }
}

fn read(widget: ReviewWidget, answer: &Value) -> Result<FeedPage, AnswerError> {
    key(widget).read_feed(answer.to_string().as_bytes(), &Next::Page(1))
}

#[test]
fn a_review_of_each_app_is_read_alike() {
    for widget in ReviewWidget::ALL {
        let page = read(widget, &feed(widget, &json!(4), "Fine & \u{1b}[31mgood\u{0}.")).unwrap();
        let [one] = page.reviews.as_slice() else {
            panic!("{widget}: {page:?}")
        };
        let review = &one.review;
        assert!(
            review.rating == 4.0 && review.body.starts_with("Fine & "),
            "{widget} {review:?}"
        );
        assert!(
            review.body.ends_with("good.") && !review.body.contains(char::is_control),
            "{widget} {review:?}"
        );
        assert_eq!(review.author.as_deref(), Some("Asha & Ben"), "{widget}");
        assert_eq!(review.title.as_deref(), Some("Good"), "{widget}");
        assert_eq!(
            review.created_at,
            Some("2026-06-01T10:00:00Z".parse().unwrap()),
            "{widget}"
        );
        assert_eq!(one.is_verified, Some(true), "{widget}");
        let product = match widget {
            ReviewWidget::Judgeme => ProductRef::Handle("tea-1".to_owned()),
            _ => ProductRef::Id(77),
        };
        assert_eq!((&one.product, page.refused.len()), (&product, 0), "{widget}");
    }
}

#[test]
fn stars_that_are_none_are_refused_with_their_reason() {
    for widget in ReviewWidget::ALL {
        for stars in [
            json!(6),
            json!(0),
            json!(-1),
            json!("NaN"),
            json!("inf"),
            json!(1e300),
            json!(1e-60),
            json!([5]),
            json!(null),
        ] {
            let page = read(widget, &feed(widget, &stars, "Fine.")).unwrap();
            assert_eq!((page.reviews.len(), page.refused.len()), (0, 1), "{widget} {stars}");
            assert!(page.refused[0].reason.contains("stars"), "{:?}", page.refused);
        }
    }
}

#[test]
fn half_a_surrogate_pair_in_a_review_costs_its_character_and_not_the_page() {
    for widget in ReviewWidget::ALL {
        let answer = feed(widget, &json!(4), "Fine")
            .to_string()
            .replace("Fine", "Fine \\ud83d");
        let page = key(widget).read_feed(answer.as_bytes(), &Next::Page(1)).unwrap();
        assert!(page.reviews[0].review.body.starts_with("Fine"), "{widget}");
    }
}

#[test]
fn what_is_not_the_apps_answer_is_an_error_that_names_what_is_missing() {
    for widget in ReviewWidget::ALL {
        let key = key(widget);
        for body in ["", "<html><h1>Just a moment</h1></html>", "[1, 2", "\u{0}"] {
            assert_eq!(
                key.read_feed(body.as_bytes(), &Next::Page(1)),
                Err(AnswerError::NotJson)
            );
            assert_eq!(key.read_overview(body.as_bytes()), Err(AnswerError::NotJson));
            assert_eq!(key.read_product(body.as_bytes()), Err(AnswerError::NotJson));
        }
        for body in [
            "{}",
            "[]",
            "7",
            r#"{"html": 5, "data": {}, "reviews": "x", "response": {"reviews": 1}}"#,
        ] {
            assert!(
                matches!(
                    key.read_feed(body.as_bytes(), &Next::Page(1)),
                    Err(AnswerError::Member(_))
                ),
                "{widget}"
            );
            assert!(
                matches!(key.read_product(body.as_bytes()), Err(AnswerError::Member(_))),
                "{widget} {body}"
            );
        }
    }
}

fn rating(widget: ReviewWidget, count: &Value, average: &Value) -> Result<Summary, AnswerError> {
    let answer = match widget {
        ReviewWidget::Judgeme => json!({"number_of_reviews": count, "average_rating": average}),
        ReviewWidget::Yotpo => json!({"response": {"bottomline": {"total_reviews": count, "average_score": average}}}),
        ReviewWidget::Stamped => json!({"data": [], "total": count, "rating": average}),
        ReviewWidget::Okendo => {
            let sum = average.as_f64().map(|mean| mean * count.as_f64().unwrap_or(1.0));
            json!({"reviewAggregate": {"reviewCount": count, "reviewRatingValuesTotal": sum}})
        }
    };
    key(widget).read_product(answer.to_string().as_bytes())
}

#[test]
fn ratings_are_exact_and_impossible_ones_are_refused() {
    for widget in ReviewWidget::ALL {
        let told = rating(widget, &json!(4), &json!(4.75));
        let known = Summary {
            count: 4,
            average: Some(4.75),
        };
        assert_eq!(told, Ok(known), "{widget}");
        assert_eq!(rating(widget, &json!(0), &json!(0)), Ok(Summary::default()), "{widget}");
        assert!(
            matches!(rating(widget, &json!(3), &json!(6)), Err(AnswerError::Rating(_))),
            "{widget}"
        );
        assert!(rating(widget, &json!(u64::MAX), &json!(1)).is_err(), "{widget}");
        assert!(rating(widget, &json!(3), &json!(null)).is_err(), "{widget}");
        assert!(rating(widget, &json!(-3), &json!(4)).is_err(), "{widget}");
    }
    let overview = key(ReviewWidget::Okendo)
        .read_overview(br#"{"reviewAggregate": {"reviewCount": 3, "reviewRatingValuesTotal": 14}}"#);
    let totals = Overview::Totals { count: 3, stars: 14.0 };
    assert_eq!(overview, Ok(totals));
}

#[test]
fn a_next_page_stays_with_its_shop() {
    let key = key(ReviewWidget::Okendo);
    let next = |link: &str| {
        let answer = json!({"reviews": [], "nextUrl": link}).to_string();
        key.read_feed(answer.as_bytes(), &Next::Page(1)).unwrap().next
    };
    let own = format!("/stores/{UUID}/reviews?limit=100&lastEvaluated=%7B%7D");
    let followed = Some(Next::Link(format!("/v1{own}")));
    assert_eq!(next(&own), followed);
    assert_eq!(next(&format!("/v1{own}")), followed);
    assert_eq!(
        next(&format!("https://elsewhere.example/v1{own}")),
        followed,
        "at the app's own address"
    );
    let other = "00000000-4f89-41d3-9a0c-0305e82c3301";
    for link in [
        "//elsewhere.example/x",
        "/v1/admin",
        &format!("/stores/{other}/reviews?limit=1"),
        &format!("{own}\n"),
        &format!("/stores/{UUID}/reviews?{}", "x".repeat(5000)),
    ] {
        assert_eq!(next(link), None, "{link}");
    }
}

#[test]
fn an_app_is_known_by_its_own_key_and_not_by_what_a_theme_took_over() {
    let page =
        |head: &str| format!("<html><head><script>Shopify.shop = \"loom.myshopify.com\";</script>{head}</head></html>");
    let found = |head: &str| detect(&page(head)).map(|key| (key.widget, key.key));
    assert_eq!(
        found("<script>jdgm.SHOP_DOMAIN = 'loom.myshopify.com';window.jdgmSettings={}</script>"),
        Some((ReviewWidget::Judgeme, "loom.myshopify.com".to_owned()))
    );
    assert_eq!(
        found("<script src='//cdn-widgetsrepository.yotpo.com/v1/loader/AbC123xyz9' async></script>"),
        Some((ReviewWidget::Yotpo, "AbC123xyz9".to_owned()))
    );
    assert_eq!(
        found("<script id='stamped-script-widget' data-api-key='pubkey-Ab12Cd34'></script>"),
        Some((ReviewWidget::Stamped, "pubkey-Ab12Cd34".to_owned()))
    );
    let meta = format!("<meta name=\"oke:subscriber_id\" content=\"{}\">", UUID.to_uppercase());
    assert_eq!(found(&meta), Some((ReviewWidget::Okendo, UUID.to_owned())));
    for none in [
        "<div class='jdgm-prev-badge' data-average-rating='4.5'></div>",
        "<div class='yotpo bottomLine'></div><script src='https://staticw2.yotpo.com/widget.js'></script>",
        "<div class='stamped-badge'></div>",
        "<div data-oke-reviews-widget></div>",
        "",
    ] {
        assert_eq!(found(none), None, "{none}");
    }
    assert_eq!(
        detect("<script>jdgm.SHOP_DOMAIN = '../../x';window.jdgmSettings={}</script>"),
        None
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        ".{0,40}".prop_map(|text| json!(text)),
        "<div class='jdgm-rev' data-review-id='.{0,9}'>.{0,30}".prop_map(|text| json!(text)),
    ];
    let names = "(html|total_count|response|reviews|products|pagination|data|id|score|rating|reviewId|nextUrl|user)";
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::hash_map(names, inner, 0..5).prop_map(|members| json!(members)),
        ]
    })
}

#[test]
fn reviews_of_each_answer_that_fuzzing_kept_are_in_bounds() {
    corpus::replay("reviews", reviews::check);
}

proptest! {
    #[test]
    fn no_answer_breaks_a_reader_and_all_that_is_read_is_plain(answer in any_json()) {
        for widget in ReviewWidget::ALL {
            let (key, bytes) = (key(widget), answer.to_string());
            let _ = key.read_product(bytes.as_bytes());
            let _ = key.read_overview(bytes.as_bytes());
            for review in key.read_feed(bytes.as_bytes(), &Next::Page(1)).iter().flat_map(|page| &page.reviews) {
                prop_assert!(review.review.rating > 0.0 && review.review.rating <= 5.0);
                let texts = [Some(&review.review.body), review.review.author.as_ref(), review.review.title.as_ref()];
                prop_assert!(texts.into_iter().flatten().all(|text| !text.contains(|c: char| c.is_control() && c != '\n')));
                prop_assert!(!review.id.is_empty() && review.id.len() <= 128);
            }
        }
    }

    #[test]
    fn no_page_breaks_the_search_for_an_app(html in ".{0,200}", place in 0usize..4) {
        let place = ["jdgm.SHOP_DOMAIN", "yotpo.com/v1/loader/", "stamped pubkey-", "oke:subscriber_id"][place];
        if let Some(key) = detect(&format!("{place}{html}")) {
            prop_assert!(key.key.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?&#%'\"<>".contains(&byte)));
        }
    }
}
