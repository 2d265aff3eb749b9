//! Whatever comes in whichever order: the history tells each change of a variant once, and ends with the newest word on it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::*;
use data_lake::Lake;
use data_model::{BrandRefresh, Observation, ObservedVariant, Timestamp, VariantId};
use data_storage::Storage;
use proptest::collection::vec;
use proptest::prelude::*;

const MINUTE_MS: i64 = 60_000;

/// What happens to a store of two products with two variants each.
#[derive(Debug, Clone)]
enum Event {
    /// A crawl finds these prices; a product without any is not listed. It may have ended before the last event.
    /// A long one began before the last event, whenever it ended.
    Crawl {
        prices: [Option<u8>; 4],
        is_late: bool,
        is_long: bool,
    },
    /// The store is asked live about a product: of each variant a price, that it is gone, or nothing.
    Live {
        product: usize,
        told: [Option<Option<u8>>; 2],
    },
    /// All observations so far are handed over again, in the order of their prices.
    Again,
}

fn event() -> impl Strategy<Value = Event> {
    let price = || 1_u8..4;
    let crawl = (
        [price(), price(), price(), price()],
        0_u8..4,
        any::<bool>(),
        any::<bool>(),
    );
    let crawl = crawl.prop_map(|(prices, listed, is_late, is_long)| Event::Crawl {
        prices: [0, 1, 2, 3].map(|index: usize| (index < 2 || listed > 0).then_some(prices[index])),
        is_late,
        is_long,
    });
    let told = || proptest::option::of(proptest::option::of(price()));
    let live = (0_usize..2, [told(), told()]).prop_map(|(product, told)| Event::Live { product, told });
    prop_oneof![3 => crawl, 4 => live, 1 => Just(Event::Again)]
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_micros(START).plus_millis(minute * MINUTE_MS)
}

fn variant_of(index: usize) -> u64 {
    [101, 102, 201, 202][index]
}

fn crawl((began, minute): (i64, i64), prices: [Option<u8>; 4]) -> BrandRefresh {
    let mut products = Vec::new();
    for (number, prices) in [(1, &prices[..2]), (2, &prices[2..])] {
        let (Some(one), Some(two)) = (prices[0], prices[1]) else {
            continue;
        };
        let mut listed = product("alpha", number, 1);
        listed.variants = vec![
            variant(number * 100 + 1, i64::from(one)),
            variant(number * 100 + 2, i64::from(two)),
        ];
        products.push(listed);
    }
    BrandRefresh {
        read_since: at(began),
        observed_at: at(minute),
        ..refresh("alpha", u32::try_from(minute).unwrap(), products)
    }
}

fn observation(minute: i64, product: usize, told: [Option<Option<u8>>; 2]) -> Observation {
    let id = |nth: usize| variant_of(product * 2 + nth);
    let seen = |(nth, told): (usize, &Option<Option<u8>>)| {
        let like = variant(id(nth), i64::from((*told)??));
        Some(ObservedVariant {
            id: like.id,
            price_minor: like.price_minor,
            compare_at_minor: like.compare_at_minor,
            available: like.available,
        })
    };
    let gone = |(nth, told): (usize, &Option<Option<u8>>)| matches!(told, Some(None)).then(|| VariantId(id(nth)));
    Observation {
        store: host("alpha"),
        product: product as u64 + 1,
        observed_at: at(minute),
        currency: "INR".parse().unwrap(),
        variants: told.iter().enumerate().filter_map(seen).collect(),
        gone: told.iter().enumerate().filter_map(gone).collect(),
    }
}

/// The newest word on each variant, kept the simple way.
#[derive(Debug, Default)]
struct Model {
    newest: [Option<u8>; 4],
    /// What the last crawl found, and when one last found something else than the one before.
    crawled: [Option<u8>; 4],
    changed_at: i64,
    /// When a variant was last seen live, since then, or a crawl that found nothing else said another word on it.
    live: [Option<i64>; 4],
}

impl Model {
    fn crawl(&mut self, (began, minute): (i64, i64), prices: [Option<u8>; 4]) {
        let is_changed = self.crawled != prices;
        self.crawled = prices;
        if is_changed {
            self.changed_at = minute;
        }
        for ((newest, live), price) in self.newest.iter_mut().zip(&mut self.live).zip(prices) {
            // What was seen live while it read is newer, for all that is known.
            if live.is_none_or(|live| live <= began) {
                let is_another = std::mem::replace(newest, price) != price;
                *live = match *live {
                    Some(_) if is_changed => None,
                    Some(_) if is_another => Some(minute),
                    unchanged => unchanged,
                };
            }
        }
    }

    fn live(&mut self, minute: i64, product: usize, told: [Option<Option<u8>>; 2]) {
        let variants = product * 2..product * 2 + 2;
        let is_known = |index: usize| self.crawled[index].is_some() || self.live[index].is_some();
        if !variants.clone().any(is_known) {
            return;
        }
        for (index, told) in variants.zip(told) {
            let is_newer = minute > self.changed_at && self.live[index].is_none_or(|live| live < minute);
            if let Some(told) = told.filter(|_| is_newer) {
                (self.newest[index], self.live[index]) = (told, Some(minute));
            }
        }
    }
}

/// Of each variant what the history says, oldest first: when, and the price; `None` when it was gone.
async fn told(lake: &Lake) -> BTreeMap<u64, Vec<(Timestamp, Option<i64>)>> {
    let snapshot = lake.snapshot().await.unwrap();
    let histories = snapshot.price_history(&BTreeSet::from([host("alpha")])).await.unwrap();
    let mut told: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    for points in histories.into_values().flat_map(std::collections::HashMap::into_values) {
        for point in points.iter().rev() {
            let said = (point.observed_at, point.price_minor);
            told.entry(point.variant.0).or_default().push(said);
        }
    }
    told
}

async fn check(lake: &Lake, model: &Model) {
    let told = told(lake).await;
    for index in 0..4 {
        let rows = told.get(&variant_of(index)).map_or(&[][..], Vec::as_slice);
        let newest = model.newest[index].map(i64::from);
        assert_eq!(
            rows.last().and_then(|row| row.1),
            newest,
            "variant {index} of {model:?}: {rows:?}"
        );
        assert!(rows.first().is_none_or(|row| row.1.is_some()), "{rows:?}");
        for pair in rows.windows(2) {
            assert!(pair[0].1 != pair[1].1, "twice the same: {rows:?}");
            assert!(pair[0].0 <= pair[1].0, "out of order: {rows:?}");
        }
    }
}

async fn live_through(events: Vec<Event>) {
    let clock = midnight();
    clock.advance_ms(10_000 * MINUTE_MS);
    let lake = open(&Storage::memory(), &clock).await;
    let (mut model, mut observations, mut crawled_at) = (Model::default(), Vec::new(), 0);
    let run = |minute: i64| run(u32::try_from(minute).unwrap());
    for (number, event) in (1_i64..).zip(events) {
        let now = number * 10;
        match event {
            Event::Crawl {
                prices,
                is_late,
                is_long,
            } => {
                let minute = if is_late { (now - 15).max(crawled_at + 1) } else { now };
                crawled_at = minute;
                let span = (if is_long { minute - 12 } else { minute }, minute);
                lake.commit(vec![crawl(span, prices)], run(minute)).await.unwrap();
                model.crawl(span, prices);
            }
            Event::Live { product, told } => {
                let one = observation(now, product, told);
                let report = lake.commit_observations(vec![one.clone()], BTreeMap::new(), run(now));
                report.await.unwrap();
                model.live(now, product, told);
                observations.push((now, product, told, one));
            }
            Event::Again => {
                for (minute, product, told, _) in &observations {
                    // What was told of a product before a crawl brought it may be news now.
                    model.live(*minute, *product, *told);
                }
                let mut all: Vec<_> = observations.iter().map(|(.., one)| one.clone()).collect();
                all.sort_by_key(|one: &Observation| one.variants.first().map(|variant| variant.price_minor));
                let again = lake.commit_observations(all.clone(), BTreeMap::new(), run(now));
                again.await.unwrap();
                let again = lake.commit_observations(all, BTreeMap::new(), run(now));
                assert_eq!(again.await.unwrap().tick, None, "the second time nothing of it is new");
            }
        }
        check(&lake, &model).await;
    }
}

/// A crawl that finds the store as the one before did says its word when it ends; a longer one that ends later may have
/// read its pages before that.
#[tokio::test]
async fn the_word_of_an_unchanged_crawl_is_newer_than_the_pages_of_a_crawl_that_began_before_it() {
    let crawl = |second: u8, is_long| Event::Crawl {
        prices: [Some(1), Some(second), None, None],
        is_late: false,
        is_long,
    };
    let gone = Event::Live {
        product: 0,
        told: [None, Some(None)],
    };
    let (last, long) = (crawl(2, false), crawl(2, true));
    live_through(vec![crawl(1, false), gone.clone(), crawl(1, false), long, last.clone()]).await;
    live_through(vec![crawl(1, false), gone, crawl(1, false), last]).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn the_history_tells_each_change_once_and_ends_with_the_newest_word(events in vec(event(), 1..14)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(live_through(events));
    }
}
