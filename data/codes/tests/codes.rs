//! The next reader finds a store's codes as a crawl keeps them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_codes::{CODES_MAX, Reading, StatedCodes, codes_at, load, save};
use data_model::{CodePlace, StatedCode, StoreHost, Timestamp};
use data_storage::{Storage, put_over};

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
    // A clock that was set back must not keep it from being read for ever; clocks are apart by some minutes.
    assert!(asked.is_due(at(-201), 60));
    assert!(!asked.is_due(at(-200), 60));
}
