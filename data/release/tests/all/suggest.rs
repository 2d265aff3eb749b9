use std::ops::Range;

use data_index::suggest::{Reading, Suggest, Work};
use data_release::LocalRelease;

use crate::fixture::{Catalogue, build_with, facts, product};

/// Returns twenty thousand titles of four words each, out of eight thousand words, some of which are frequent.
fn large() -> Catalogue {
    let facts = facts(0, 1);
    let products = (1..=20_000_u64).map(|id| {
        let mut random = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |limit: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % limit
        };
        let word = |number: u64| {
            let letter = |at: u32| char::from(b'a' + u8::try_from(number / 20_u64.pow(at) % 20).unwrap());
            format!("{}{}{}{}ing", letter(0), letter(1), letter(2), letter(3))
        };
        let words = [word(below(8)), word(below(200)), word(below(8_000)), word(below(8_000))];
        let mut product = product(&facts, id, 1);
        (product.title, product.description) = (words.join(" "), String::new());
        product
    });
    let products = products.collect();
    Catalogue { facts, products }
}

fn steps<T>(run: impl FnOnce(&mut Work) -> T) -> (T, u32) {
    let mut work = Work::of(1_000_000);
    let done = run(&mut work);
    (done, 1_000_000 - work.left())
}

fn wanted(suggest: &Suggest, words: &[&str]) -> Vec<Vec<Range<u32>>> {
    let (last, whole) = words.split_last().unwrap();
    let whole = whole.iter().map(|word| vec![suggest.word(word)]);
    whole.chain([vec![suggest.words_beginning_with(last)]]).collect()
}

#[test]
fn suggestions_take_few_steps_of_a_large_part_and_never_more_than_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = build_with(None, &[large()], 100_000, None, dir.path());
    let release = LocalRelease::in_directory(manifest, dir.path()).open().unwrap();
    let part = &release.parts()[0];
    let suggest = part.suggest();
    let live = |_| true;
    // The work is bounded however many words have this prefix.
    for begin in ["", "a", "b", "aaaaing"] {
        let (rows, taken) = steps(|work| suggest.best_rows(&wanted(suggest, &[begin]), 20, live, work));
        assert_eq!(rows.len(), 20);
        assert!(taken < 600, "{begin}: {taken} for rows");
        let (phrases, taken) = steps(|work| suggest.phrases(begin, 20, live, work).len());
        assert!(phrases > 0 && taken < 600, "{begin}: {taken} for {phrases} phrases");
    }
    for reading in [Reading::Whole, Reading::Beginning] {
        for (typed, most) in [("aaaing", 2_000), ("baaaxinx", 3_000)] {
            let (near, taken) = steps(|work| suggest.words_near(typed, 1, reading, work).len());
            assert!(near > 0 || typed == "baaaxinx");
            assert!(taken < most, "{typed} {reading:?}: {taken}");
        }
    }
    // The best results come first, and contain every word.
    let best = suggest.best_rows(&wanted(suggest, &["aaaaing", "b"]), 20, live, &mut Work::of(10_000));
    assert_eq!(best.len(), 20);
    for row in best {
        let words: Vec<&str> = part.cards().title(row).split(' ').collect();
        assert!(
            words.contains(&"aaaaing") && words.iter().any(|word| word.starts_with('b')),
            "{words:?}"
        );
    }
    for steps in [0, 1, 50] {
        let mut work = Work::of(steps);
        let nothing = suggest.best_rows(&wanted(suggest, &["aaaaing", "zzz"]), 20, live, &mut work);
        assert!(nothing.is_empty());
        suggest.phrases("a", 20, live, &mut work);
        let _ = suggest.words_near("aaaaixx", 2, Reading::Beginning, &mut work);
        assert_eq!(work.left(), 0);
    }
}
