//! Tests the table of words that shoppers searched for.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use crate::support::*;
use data_searches::{CountedDays, WordCount};
use data_storage::Storage;

pub(crate) fn word(words: &str, count: u64) -> WordCount {
    WordCount {
        words: words.to_owned(),
        release: "r0123456789abcdef".parse().unwrap(),
        hits: 4,
        count,
        without_hits: 1,
        relaxed: 2,
        understood: 3,
        clicks: 5,
    }
}

pub(crate) fn counted<const N: usize>(days: [(&str, &str, &[WordCount]); N]) -> CountedDays {
    let mut counted = CountedDays::new();
    for (day, server, words) in days {
        let servers = counted.entry(day.to_owned()).or_default();
        servers.insert(server.to_owned(), words.to_vec());
    }
    counted
}

/// Oldest day that is kept.
const OLDEST: &str = "2026-08-01";
const ROWS: &str = "SELECT day, server, words, count, hits, without_hits, relaxed, understood, clicks, release
    FROM searches ORDER BY 1, 2, 3";

#[tokio::test]
async fn counts_of_servers_are_replaced_and_days_that_are_too_old_go() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let (tea, mug) = ([word("tea", 7), word("mug", 3)], [word("mug", 4)]);
    let days = counted([
        ("2026-11-19", "a", &tea),
        ("2026-11-19", "b", &mug),
        ("2026-11-20", "a", &mug),
        ("2026-07-31", "a", &mug),
    ]);
    assert!(lake.commit_searches(&days, OLDEST).await.unwrap().is_some());
    let before = objects(&storage).await;
    assert_eq!(lake.commit_searches(&days, OLDEST).await.unwrap(), None);
    assert_eq!(objects(&storage).await, before, "the same counts again write nothing");

    // One server was late, and one counted on after it was committed.
    let more = counted([
        ("2026-11-20", "c", &tea[..1]),
        ("2026-11-19", "b", &[word("mug", 9), word("cup", 3)]),
    ]);
    assert!(lake.commit_searches(&more, OLDEST).await.unwrap().is_some());
    insta::assert_snapshot!(sql(&lake, ROWS).await, @"
    +------------+--------+-------+-------+------+--------------+---------+------------+--------+-------------------+
    | day        | server | words | count | hits | without_hits | relaxed | understood | clicks | release           |
    +------------+--------+-------+-------+------+--------------+---------+------------+--------+-------------------+
    | 2026-11-19 | a      | mug   | 3     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    | 2026-11-19 | a      | tea   | 7     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    | 2026-11-19 | b      | cup   | 3     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    | 2026-11-19 | b      | mug   | 9     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    | 2026-11-20 | a      | mug   | 4     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    | 2026-11-20 | c      | tea   | 7     | 4    | 1            | 2       | 3          | 5      | r0123456789abcdef |
    +------------+--------+-------+-------+------+--------------+---------+------------+--------+-------------------+
    ");
    let snapshot = lake.snapshot().await.unwrap();
    let mut expected = days.clone();
    expected.remove("2026-07-31");
    more.into_iter()
        .for_each(|(day, servers)| expected.get_mut(&day).unwrap().extend(servers));
    assert_eq!(snapshot.searches("").await.unwrap(), expected);
    assert_eq!(snapshot.searches("2026-11-20").await.unwrap().len(), 1);

    // Changes of stores do not affect the table.
    lake.commit(second(), run(2)).await.unwrap();
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    lake.compact(false).await.unwrap();
    let other = open(&storage, &clock).await;
    assert_eq!(other.snapshot().await.unwrap().searches("").await.unwrap(), expected);

    let none = CountedDays::new();
    assert!(lake.commit_searches(&none, "2026-11-20").await.unwrap().is_some());
    assert_eq!(lake.commit_searches(&none, "2026-11-20").await.unwrap(), None);
    expected.remove("2026-11-19");
    assert_eq!(lake.snapshot().await.unwrap().searches("").await.unwrap(), expected);
    let kinds = "SELECT kind, count(*) FROM crawl_runs WHERE kind = 'searches' GROUP BY 1";
    assert!(sql(&lake, kinds).await.contains("| searches | 3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_land_as_a_whole_whenever_a_process_dies_over_them() {
    let known = counted([
        ("2026-11-19", "a", &[word("tea", 7)]),
        ("2026-07-01", "a", &[word("old", 3)]),
    ]);
    let more = counted([
        ("2026-11-19", "b", &[word("tea", 4)]),
        ("2026-11-20", "a", &[word("mug", 3)]),
    ]);
    let mut expected = more.clone();
    let day = expected.get_mut("2026-11-19").unwrap();
    day.extend(known["2026-11-19"].clone());
    let begun = Storage::memory();
    let lake = open(&begun, &midnight()).await;
    lake.commit_searches(&known, "").await.unwrap();
    let process = {
        let more = more.clone();
        |storage| async move {
            let lake = open(&storage, &midnight()).await;
            lake.commit_searches(&more, OLDEST).await.unwrap();
        }
    };
    let left = deaths(&begun, process).await;
    let writes = left.len() - 1;
    assert!(writes > 4, "{writes}");
    for (nth, storage) in left.into_iter().enumerate() {
        let lake = open(&storage, &midnight()).await;
        let found = lake.snapshot().await.unwrap().searches("").await.unwrap();
        let is_before = found == known && nth < writes;
        assert!(is_before || found == expected, "after write {nth}: {found:?}");
        lake.commit_searches(&more, OLDEST).await.unwrap();
        let found = lake.snapshot().await.unwrap().searches("").await.unwrap();
        assert_eq!(found, expected, "after write {nth}");
    }
}
