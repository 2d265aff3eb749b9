//! Tests counting words with a log and reading the counts back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;

use data_model::Clock;
use data_searches::{SEEN_MIN, SearchLog, SearchNote, SearchesConfig, TopOrder, list, load, read, remove, top};
use data_storage::{ObjectStore, ObjectStoreExt, Storage, put_over};
use futures::TryStreamExt;
use kit::SetClock;
use proptest::prelude::*;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct Server {
    log: SearchLog,
    stop: CancellationToken,
    written: JoinHandle<()>,
}

impl Server {
    fn start(storage: &Storage, clock: &Arc<SetClock>, config: &SearchesConfig) -> Self {
        let stop = CancellationToken::new();
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        let (log, writer) = SearchLog::start(storage, clock, config, stop.clone());
        Self {
            log,
            stop,
            written: tokio::spawn(writer),
        }
    }

    fn note(&self, text: &str, hits: usize) {
        self.log.note(&SearchNote {
            text,
            release: "r0123456789abcdef".parse().unwrap(),
            hits,
            relaxed: hits == 1,
            understood: hits == 2,
        });
    }

    async fn end(self) {
        self.stop.cancel();
        self.written.await.unwrap();
    }
}

/// Returns the counts by day and words, added up over all servers.
async fn counts(storage: &Storage) -> Vec<(String, String, u64, u64)> {
    let mut told = Vec::new();
    for (day, servers) in load(storage, "").await.unwrap() {
        let one_day = BTreeMap::from([(day.clone(), servers)]);
        let mut words = top(one_day, TopOrder::Searches, usize::MAX);
        words.sort_by(|one, other| one.words.cmp(&other.words));
        told.extend(
            words
                .into_iter()
                .map(|one| (day.clone(), one.words, one.count, one.without_hits)),
        );
    }
    told
}

fn told<const N: usize>(rows: [(&str, &str, u64, u64); N]) -> Vec<(String, String, u64, u64)> {
    let row = |(day, words, count, without): (&str, &str, u64, u64)| (day.to_owned(), words.to_owned(), count, without);
    rows.map(row).to_vec()
}

#[tokio::test]
async fn words_are_counted_however_they_are_typed_and_those_seen_twice_are_never_kept() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T12:00:00Z"));
    let server = Server::start(&storage, &clock, &SearchesConfig::default());
    for (text, hits) in [("Café  Mug", 0), ("cafe mug", 1), (" CAFE MUG ", 0)] {
        server.note(text, hits);
    }
    for _ in 0..2 {
        server.note("blue kettle", 4);
    }
    // An e-mail address, a telephone number, a long sentence, and a text without words.
    for _ in 0..5 {
        server.note("asha@mail.example", 0);
        server.note("98765 43210", 0);
        server.note(&"a word ".repeat(30), 0);
        server.note(" … ", 0);
    }
    server.end().await;
    assert_eq!(counts(&storage).await, told([("2026-11-29", "cafe mug", 3, 2)]));
    let written: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    let read = storage.store().get(&written[0].location).await.unwrap();
    let bytes = read.bytes().await.unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("kettle"));
}

#[tokio::test]
async fn servers_count_together_and_a_day_ends_at_midnight() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T23:59:59Z"));
    let config = SearchesConfig::default();
    let servers = [(); 2].map(|()| Server::start(&storage, &clock, &config));
    for server in &servers {
        (0..SEEN_MIN).for_each(|_| server.note("tea", 0));
    }
    clock.advance_ms(1_000);
    for server in &servers {
        (0..SEEN_MIN).for_each(|_| server.note("tea", 5));
    }
    for server in servers {
        server.end().await;
    }
    let both = told([("2026-11-29", "tea", 6, 6), ("2026-11-30", "tea", 6, 0)]);
    assert_eq!(counts(&storage).await, both);
    assert_eq!(load(&storage, "2026-11-30").await.unwrap().len(), 1);
    let days = load(&storage, "").await.unwrap();
    let [one] = &top(days, TopOrder::WithoutHits, 10)[..] else {
        panic!()
    };
    assert_eq!(
        (one.count, one.without_hits, one.hits, one.last_day.as_str()),
        (12, 6, 5, "2026-11-30")
    );
}

#[tokio::test(start_paused = true)]
async fn counts_are_written_while_a_server_runs_and_old_days_go() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T12:00:00Z"));
    for (path, text) in [
        ("searches/2026-08-30/old.json", "[]"),
        ("searches/2026-08-31/young.json", "[]"),
        ("searches/2026-11-28/damaged.json", "nonsense"),
        ("searches/notes.txt", "none of ours"),
    ] {
        put_over(&storage, &path.into(), text).await.unwrap();
    }
    let config = SearchesConfig::default();
    let server = Server::start(&storage, &clock, &config);
    (0..SEEN_MIN).for_each(|_| server.note("tea", 1));
    // Paused time advances by itself while all tasks are idle.
    tokio::time::sleep(std::time::Duration::from_millis(config.flush_interval_ms * 2)).await;
    assert_eq!(counts(&storage).await, told([("2026-11-29", "tea", 3, 0)]));
    let days: Vec<_> = load(&storage, "").await.unwrap().into_keys().collect();
    assert_eq!(days, ["2026-08-31", "2026-11-29"]);
    let damaged = list(&storage, |day| day == "2026-11-28").await.unwrap();
    assert_eq!(damaged.len(), 1, "a damaged object stays");
    server.note("tea", 0);
    server.end().await;
    assert_eq!(counts(&storage).await, told([("2026-11-29", "tea", 4, 1)]));
}

#[tokio::test]
async fn clicks_are_counted_for_words_that_were_searched_here_today() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T23:59:59Z"));
    let server = Server::start(&storage, &clock, &SearchesConfig::default());
    (0..SEEN_MIN).for_each(|_| server.note("Blue Mug", 5));
    for text in ["blue mug", "BLUE  mug", "kettle", "asha@mail.example", ""] {
        server.log.click(text);
    }
    clock.advance_ms(1_000);
    server.log.click("blue mug");
    server.end().await;
    let words = top(load(&storage, "").await.unwrap(), TopOrder::Searches, 10);
    let clicks: Vec<_> = words.iter().map(|one| (one.words.as_str(), one.clicks)).collect();
    assert_eq!(clicks, [("blue mug", 2)]);
}

#[tokio::test]
async fn what_was_read_is_removed_and_what_came_later_stays() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T12:00:00Z"));
    let servers = [(); 2].map(|()| Server::start(&storage, &clock, &SearchesConfig::default()));
    for server in servers {
        (0..SEEN_MIN).for_each(|_| server.note("tea", 1));
        server.end().await;
    }
    let mut stored = Vec::new();
    for file in list(&storage, |day| day < "2026-11-30").await.unwrap() {
        stored.push(read(&storage, file).await.unwrap().unwrap());
    }
    let (first, second) = (&stored[0].file, &stored[1].file);
    let path = format!("searches/{}/{}.json", first.day, first.server);
    let newer = serde_json::to_vec(&stored[0].words).unwrap();
    put_over(&storage, &path.as_str().into(), newer).await.unwrap();
    remove(&storage, &stored).await.unwrap();
    remove(&storage, &stored).await.unwrap();
    let left = list(&storage, |_| true).await.unwrap();
    assert_eq!(left, std::slice::from_ref(first));
    assert_eq!(read(&storage, second.clone()).await.unwrap(), None);
}

#[tokio::test]
async fn words_of_a_day_are_bounded_and_those_seen_once_make_room() {
    let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T12:00:00Z"));
    let config = SearchesConfig {
        words_max: 10,
        ..SearchesConfig::default()
    };
    let server = Server::start(&storage, &clock, &config);
    for _ in 0..SEEN_MIN {
        server.note("tea", 1);
    }
    for at in 0..1_000 {
        server.note(&format!("word{at}"), 1);
    }
    for _ in 0..SEEN_MIN {
        server.note("mug", 1);
    }
    server.end().await;
    assert_eq!(
        counts(&storage).await,
        told([("2026-11-29", "mug", 3, 0), ("2026-11-29", "tea", 3, 0)])
    );
}

proptest! {
    /// A reader gets the counts of all searches on all servers, except for words that a server saw too seldom.
    #[test]
    fn what_is_kept_is_what_was_searched(
        searches in proptest::collection::vec((0..2_usize, 0..4_usize, 0..3_usize), 0..60),
    ) {
        let words = ["tea", "mug", "kettle", "shirt"];
        let mut model: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(async {
            let (storage, clock) = (Storage::memory(), SetClock::at("2026-11-29T12:00:00Z"));
            let servers = [(); 2].map(|()| Server::start(&storage, &clock, &SearchesConfig::default()));
            for (server, word, hits) in searches {
                servers[server].note(words[word], hits);
                let known = model.entry((word, server)).or_default();
                known.0 += 1;
                known.1 += u64::from(hits == 0);
            }
            for server in servers {
                server.end().await;
            }
            counts(&storage).await
        });
        let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for ((word, _), (count, without)) in model.into_iter().filter(|(_, (count, _))| *count >= SEEN_MIN) {
            let known = expected.entry(words[word]).or_default();
            known.0 += count;
            known.1 += without;
        }
        let found: BTreeMap<&str, (u64, u64)> =
            found.iter().map(|(_, words, count, without)| (words.as_str(), (*count, *without))).collect();
        prop_assert_eq!(found, expected);
    }
}
