use state::{Day, KeyId, State, UsageBatch, UsageEntry};

use crate::support::{at, create, india, on_both};

fn counted(key: &KeyId, day: i64, route: &str, requests: u64) -> UsageEntry {
    UsageEntry {
        key: key.clone(),
        day: Day::of(at(0), india()).plus(day),
        route: route.to_owned(),
        requests,
    }
}

async fn rows(state: &State, key: &KeyId) -> Vec<String> {
    let first = Day::of(at(0), india());
    let usage = state.usage_of_key(key, first.plus(-30), first.plus(30)).await.unwrap();
    usage
        .iter()
        .map(|row| format!("{} {} {}", row.day, row.route, row.requests))
        .collect()
}

#[test]
fn what_servers_count_is_added_up_by_key_day_and_route() {
    on_both(async |place| {
        let state = place.open().await;
        let one = create(&state, "One", at(0)).await.record.id;
        let two = create(&state, "Two", at(0)).await.record.id;
        let batch = UsageBatch::new([
            counted(&one, 0, "/v1/search", 3),
            counted(&one, 0, "/v1/search", 4),
            counted(&one, 0, "/v1/browse", 1),
            counted(&two, 0, "/v1/search", 5),
            counted(&two, 0, "/v1/brands", 0),
        ]);
        state.add_usage(&batch).await.unwrap();
        let later = UsageBatch::new([counted(&one, 0, "/v1/search", 10), counted(&one, 1, "/v1/search", 2)]);
        state.add_usage(&later).await.unwrap();
        assert_eq!(
            rows(&state, &one).await,
            [
                "2026-11-23 /v1/browse 1",
                "2026-11-23 /v1/search 17",
                "2026-11-24 /v1/search 2"
            ]
        );
        let today = Day::of(at(0), india());
        let mut on = state.usage_on(today).await.unwrap();
        on.sort();
        let mut expected = vec![(one.clone(), 18), (two.clone(), 5)];
        expected.sort();
        assert_eq!(on, expected);
        assert_eq!(state.usage_on(today.plus(9)).await.unwrap(), []);
        // An old batch that arrives late does not set the last use back.
        state
            .add_usage(&UsageBatch::new([counted(&one, -3, "/v1/search", 1)]))
            .await
            .unwrap();
        let used = state.key(&one).await.unwrap().unwrap().last_used_on;
        assert_eq!(used, Some(today.plus(1)));
        assert_eq!(state.key(&two).await.unwrap().unwrap().last_used_on, Some(today));
    });
}

#[test]
fn usage_of_the_four_hundred_newest_days_is_kept_whatever_a_clock_says() {
    on_both(async |place| {
        let state = place.open().await;
        let one = create(&state, "One", at(0)).await.record.id;
        let add = async |day: i64| {
            let batch = UsageBatch::new([counted(&one, day, "/v1/search", 1)]);
            state.add_usage(&batch).await.unwrap();
        };
        for day in (0..403).chain([100_000, 403, 100_001]) {
            add(day).await;
        }
        let first = Day::of(at(0), india());
        let kept = state.usage_of_key(&one, first, first.plus(200_000)).await.unwrap();
        let days: Vec<_> = kept.iter().map(|row| row.day).collect();
        let expected = (5..404).chain([100_000, 100_001]).map(|day| first.plus(day));
        assert_eq!(days, expected.collect::<Vec<_>>());
    });
}

#[test]
fn a_batch_that_is_sent_again_counts_once() {
    on_both(async |place| {
        let state = place.open().await;
        let one = create(&state, "One", at(0)).await.record.id;
        let batch = UsageBatch::new([counted(&one, 0, "/v1/search", 3)]);
        for _ in 0..3 {
            state.add_usage(&batch).await.unwrap();
        }
        assert_eq!(rows(&state, &one).await, ["2026-11-23 /v1/search 3"]);
        assert!(UsageBatch::new([]).is_empty());
        state.add_usage(&UsageBatch::new([])).await.unwrap();
    });
}

#[test]
fn servers_that_write_at_the_same_time_lose_nothing() {
    on_both(async |place| {
        let state = place.open().await;
        let mut keys = Vec::new();
        for name in ["One", "Two", "Three"] {
            keys.push(create(&state, name, at(0)).await.record.id);
        }
        let servers = (0..6).map(|server| {
            let (place_target, mut keys) = (place.target.clone(), keys.clone());
            // Each server has its own connections and its own order of keys.
            keys.rotate_left(server % 3);
            tokio::spawn(async move {
                let state = State::open(&place_target).await.unwrap();
                for _ in 0..5 {
                    let entries = keys.iter().map(|key| counted(key, 0, "/v1/search", 1));
                    state.add_usage(&UsageBatch::new(entries)).await.unwrap();
                }
            })
        });
        for server in servers.collect::<Vec<_>>() {
            server.await.unwrap();
        }
        for key in &keys {
            assert_eq!(rows(&state, key).await, ["2026-11-23 /v1/search 30"]);
        }
    });
}
