//! Checks that codes stored by a crawl can be read back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;

use data_codes::{
    CODES_MAX, Reading, StatedCodes, TESTS_MAX, codes_at, load, load_tested, save, take_tested, tested_at,
    tested_stores,
};
use data_model::{
    CodePlace, CouponEffect, CouponKind, CouponSource, CouponVerdict, StatedCode, StoreHost, TestedCode, Timestamp,
    VariantId,
};
use data_storage::{Storage, put_over};
use proptest::prelude::*;

fn stated(code: &str, place: CodePlace, plainness: u8) -> StatedCode {
    StatedCode {
        code: code.to_owned(),
        place,
        plainness,
    }
}

fn store() -> StoreHost {
    "tea.example".parse().unwrap()
}

#[tokio::test]
async fn each_code_is_told_once_the_plainest_first() {
    let storage = Storage::memory();
    assert_eq!(load(&storage, &store()).await.unwrap(), StatedCodes::default());
    let front = ["TEA10", "SAVE20"].map(|code| stated(code, CodePlace::FrontPage, 2));
    let kept = StatedCodes {
        front: Reading {
            etag: Some("\"1\"".to_owned()),
            codes: front.to_vec(),
            ..Reading::default()
        },
        policies: Reading {
            codes: vec![
                stated("SAVE20", CodePlace::Policy, 3),
                stated("SHIPFREE", CodePlace::Policy, 1),
            ],
            ..Reading::default()
        },
        shown: Some("USD".parse().unwrap()),
    };
    save(&storage, &store(), kept.clone()).await.unwrap();
    let found = load(&storage, &store()).await.unwrap();
    assert_eq!(found, kept);
    let all: Vec<_> = found.all().into_iter().map(|one| (one.code, one.place)).collect();
    let expected = [
        ("SAVE20", CodePlace::Policy),
        ("TEA10", CodePlace::FrontPage),
        ("SHIPFREE", CodePlace::Policy),
    ];
    assert_eq!(all, expected.map(|(code, place)| (code.to_owned(), place)));
}

#[tokio::test]
async fn what_is_kept_is_bounded_and_what_is_damaged_is_nothing() {
    let storage = Storage::memory();
    let codes = (0..1_000).map(|at| stated(&format!("CODE{at}"), CodePlace::FrontPage, 1));
    let front = Reading {
        codes: codes.collect(),
        ..Reading::default()
    };
    let many = StatedCodes {
        front,
        ..StatedCodes::default()
    };
    save(&storage, &store(), many).await.unwrap();
    assert_eq!(load(&storage, &store()).await.unwrap().front.codes.len(), CODES_MAX);
    put_over(&storage, &codes_at(&store()), "{").await.unwrap();
    assert_eq!(load(&storage, &store()).await.unwrap(), StatedCodes::default());
}

#[test]
fn a_place_is_due_when_it_was_asked_long_enough_ago() {
    let at = |second: i64| Timestamp::from_micros(second * 1_000_000);
    let asked = Reading {
        asked_at: Some(at(100)),
        ..Reading::default()
    };
    assert!(Reading::default().is_due(at(0), 60));
    assert!(!asked.is_due(at(159), 60));
    assert!(asked.is_due(at(160), 60));
    // A clock that was set back must not prevent reading forever. Clocks may differ by some minutes.
    assert!(asked.is_due(at(-201), 60));
    assert!(!asked.is_due(at(-200), 60));
}

fn test(code: &str, variant: u64, verdict: CouponVerdict, second: i64) -> TestedCode {
    TestedCode {
        code: code.to_owned(),
        source: CouponSource::Announcement,
        product: "3184d755-3f80-5149-ac36-3f630b93c84d".parse().unwrap(),
        variant: VariantId(variant),
        verdict,
        tested_at: Timestamp::from_micros(second * 1_000_000),
    }
}

const DAY_S: i64 = 86_400;
const REFUSED: CouponVerdict = CouponVerdict::NotApplicable;

async fn kept(storage: &Storage) -> Vec<(String, u64, i64)> {
    let tests = load_tested(storage, &store()).await.unwrap().into_iter();
    let told = tests.map(|one| (one.code, one.variant.0, one.tested_at.micros() / 1_000_000));
    told.collect()
}

#[tokio::test]
async fn tests_are_listed_by_store_with_a_version_that_follows_them() {
    let storage = Storage::memory();
    assert_eq!(tested_stores(&storage).await.unwrap(), []);
    put_over(&storage, &"discounts/notes.txt".into(), "none of ours")
        .await
        .unwrap();
    let now = Timestamp::from_micros(100_000_000);
    let effect = CouponEffect {
        kind: CouponKind::Percentage,
        discount_minor: 4_990,
        subtotal_minor: 49_900,
        total_minor: 44_910,
        currency: "INR".parse().unwrap(),
    };
    let applies = test("TEA10", 1, CouponVerdict::Applicable(effect), 90);
    take_tested(&storage, &store(), std::slice::from_ref(&applies), now)
        .await
        .unwrap();
    assert_eq!(load_tested(&storage, &store()).await.unwrap(), [applies]);
    let first = tested_stores(&storage).await.unwrap();
    assert_eq!((first.len(), &first[0].store), (1, &store()));
    take_tested(&storage, &store(), &[test("TEA10", 2, REFUSED, 95)], now)
        .await
        .unwrap();
    assert_ne!(tested_stores(&storage).await.unwrap(), first);
    put_over(&storage, &tested_at(&store()), "{").await.unwrap();
    assert_eq!(kept(&storage).await, []);
}

#[tokio::test]
async fn tests_are_bounded_by_number_and_by_age() {
    let storage = Storage::memory();
    let many: Vec<_> = (0..1_000)
        .map(|at| test(&format!("CODE{at}"), 1, REFUSED, at))
        .collect();
    let now = |second: i64| Timestamp::from_micros(second * 1_000_000);
    take_tested(&storage, &store(), &many, now(1_000)).await.unwrap();
    let left = kept(&storage).await;
    assert_eq!((left.len(), left[0].2, left[TESTS_MAX - 1].2), (TESTS_MAX, 999, 800));
    take_tested(
        &storage,
        &store(),
        &[test("NEW", 1, REFUSED, 30 * DAY_S)],
        now(30 * DAY_S + 998),
    )
    .await
    .unwrap();
    let left: Vec<i64> = kept(&storage).await.into_iter().map(|(.., second)| second).collect();
    assert_eq!(left, [30 * DAY_S, 999]);
}

proptest! {
    /// Tests arrive in any order and in any batches. The latest verdict on a code and a variant stays.
    #[test]
    fn the_last_word_on_each_code_and_variant_is_kept(
        words in proptest::collection::vec((0..3_usize, 1..3_u64, any::<bool>()), 1..24),
        portion in 1..6_usize,
    ) {
        let codes = ["TEA10", "SAVE20", "FREE"];
        let mut model = BTreeMap::new();
        let mut tests = Vec::new();
        for (second, (code, variant, is_absent)) in (1_i64..).zip(words) {
            let verdict = if is_absent { CouponVerdict::UnknownCode } else { REFUSED };
            tests.push(test(codes[code], variant, verdict, second));
            if is_absent {
                model.retain(|(known, _), _| *known != codes[code]);
            } else {
                model.insert((codes[code], variant), second);
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut left = runtime.block_on(async {
            let storage = Storage::memory();
            for some in tests.chunks(portion) {
                let now = Timestamp::from_micros(60_000_000);
                take_tested(&storage, &store(), some, now).await.unwrap();
                // The same tests are sent again, as after a lost response.
                take_tested(&storage, &store(), some, now).await.unwrap();
            }
            kept(&storage).await
        });
        left.sort();
        let expected = model.into_iter().map(|((code, variant), second)| (code.to_owned(), variant, second));
        prop_assert_eq!(left, expected.collect::<Vec<_>>());
    }
}
