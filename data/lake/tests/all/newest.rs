//! Whatever comes in whichever order, under whichever clock: the history tells each change of a variant once, with the time
//! of the reading that saw it, and ends with the newest word on it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::*;
use data_lake::Lake;
use data_model::{BrandRefresh, Observation, ObservedVariant, Timestamp, VariantId};
use data_storage::Storage;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const MINUTE_MS: i64 = 60_000;
/// Stores that live through their own order of events each, beside one another in one lake.
const STORES: usize = 2_500;
/// The events of each of them, and the lakes in which all of it is begun anew.
const EVENTS: i64 = 10;
const LAKES: u8 = 4;
/// By how many minutes the clock is wrong at each event: a little as two right clocks are, or by 400 days.
const WRONG_BY: [i64; EVENTS as usize] = [0, 2, 0, 576_000, 0, -2, 0, -576_000, 0, 0];
/// A stored moment that is later than now by more minutes is of a clock that was wrong.
const SKEW: i64 = 5;

/// What happens to a store of two products with two variants each.
#[derive(Debug, Clone)]
enum Event {
    /// A crawl finds these prices; a product without any is not listed. It may have ended before the last event.
    /// A long one, or one that goes on with earlier pages, began before the last event, whenever it ended.
    Crawl {
        prices: [Option<u8>; 4],
        is_late: bool,
        is_long: bool,
    },
    /// The store is asked live about a product: of each variant a price, that it is gone, or nothing.
    Live { product: usize, told: LiveWords },
    /// All observations so far are handed over again, in the order of their prices.
    Again,
}

/// When a crawl read, in minutes.
#[derive(Debug, Clone, Copy)]
struct Span {
    began: i64,
    ended: i64,
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

fn crawl(name: &str, span: Span, prices: [Option<u8>; 4]) -> BrandRefresh {
    let mut products = Vec::new();
    for (number, prices) in [(1, &prices[..2]), (2, &prices[2..])] {
        let (Some(one), Some(two)) = (prices[0], prices[1]) else {
            continue;
        };
        let mut listed = product(name, number, 1);
        listed.variants = vec![
            variant(number * 100 + 1, i64::from(one)),
            variant(number * 100 + 2, i64::from(two)),
        ];
        products.push(listed);
    }
    BrandRefresh {
        read_since: at(span.began),
        observed_at: at(span.ended),
        // Each crawl is a run of its own.
        run: format!("run-{}", span.ended + 1_000_000).parse().unwrap(),
        ..refresh(name, 0, products)
    }
}

fn observation(name: &str, observed: Observed) -> Observation {
    let Observed { minute, product, told } = observed;
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
        store: host(name),
        product: product as u64 + 1,
        observed_at: at(minute),
        currency: "INR".parse().unwrap(),
        variants: told.iter().enumerate().filter_map(seen).collect(),
        gone: told.iter().enumerate().filter_map(gone).collect(),
    }
}

/// The words of a store on two variants, live: of each a price, that it is gone, or nothing.
type LiveWords = [Option<Option<u8>>; 2];

/// A row of the history: when, and the price; `None` when the variant was gone.
type Row = (i64, Option<u8>);

/// The newest word on each variant, kept by the rule: the later reading wins, whoever brings it, and nothing is known of the
/// time of what is ahead of now.
#[derive(Debug, Default)]
struct Model {
    /// Every newest word there was, oldest first.
    words: [Vec<Row>; 4],
    /// What the last crawl found, and when one last found something else than the one before.
    crawled: [Option<u8>; 4],
    crawled_at: Option<i64>,
    /// When a variant was last seen live, since then, or a crawl that found nothing else said another word on it.
    live: [Option<i64>; 4],
}

impl Model {
    fn newest(&self, index: usize) -> Option<u8> {
        self.words[index].last().and_then(|row| row.1)
    }

    fn learn(&mut self, index: usize, row: Row) -> bool {
        let is_another = self.newest(index) != row.1;
        if is_another {
            self.words[index].push(row);
        }
        is_another
    }

    fn crawl(&mut self, span: Span, prices: [Option<u8>; 4], now: i64) {
        let is_newer = |at: &i64| span.began < *at && *at <= now + SKEW;
        let is_changed = self.crawled != prices;
        // Some of its pages may be older than what the lake has.
        if is_changed && self.crawled_at.as_ref().is_some_and(is_newer) {
            return;
        }
        if is_changed {
            (self.crawled, self.crawled_at) = (prices, Some(span.ended));
        }
        for (index, price) in prices.into_iter().enumerate() {
            // What was seen live while it read is newer, for all that is known.
            if self.live[index].as_ref().is_none_or(|at| !is_newer(at)) {
                let is_another = self.learn(index, (span.ended, price));
                self.live[index] = match self.live[index] {
                    Some(_) if is_changed => None,
                    Some(_) if is_another => Some(span.ended),
                    unchanged => unchanged,
                };
            }
        }
    }

    fn live(&mut self, observed: Observed, now: i64) {
        let Observed { minute, product, told } = observed;
        let variants = product * 2..product * 2 + 2;
        let is_known = |index: usize| self.crawled[index].is_some() || self.live[index].is_some();
        if minute > now + SKEW || !variants.clone().any(is_known) {
            return;
        }
        let is_older = |at: &i64| *at < minute || *at > now + SKEW;
        for (index, told) in variants.zip(told) {
            let is_newest = self.crawled_at.iter().chain(&self.live[index]).all(is_older);
            if let Some(told) = told.filter(|_| is_newest) {
                self.learn(index, (minute, told));
                self.live[index] = Some(minute);
            }
        }
    }
}

/// One store: its events, what comes of them, and what was observed of it live.
#[derive(Debug)]
struct Life {
    name: String,
    events: Vec<Event>,
    model: Model,
    observed: Vec<Observed>,
}

/// The live answer about a product, and its moment.
#[derive(Debug, Clone, Copy)]
struct Observed {
    minute: i64,
    product: usize,
    told: LiveWords,
}

/// News of all stores that go to the lake at the same time.
#[derive(Debug, Default)]
struct News {
    crawls: Vec<BrandRefresh>,
    observations: Vec<Observation>,
}

impl Life {
    fn new(name: String, events: Vec<Event>) -> Self {
        Self {
            name,
            events,
            model: Model::default(),
            observed: Vec::new(),
        }
    }

    /// Lets the event of this number happen, while the clock shows `now`.
    fn live_through(&mut self, number: usize, now: i64, news: &mut News) {
        match self.events[number].clone() {
            Event::Crawl {
                prices,
                is_late,
                is_long,
            } => {
                let ended = if is_late { now - 15 } else { now };
                let began = if is_long { ended - 12 } else { ended };
                let span = Span { began, ended };
                news.crawls.push(crawl(&self.name, span, prices));
                self.model.crawl(span, prices, now);
            }
            Event::Live { product, told } => {
                let minute = now;
                let observed = Observed { minute, product, told };
                news.observations.push(observation(&self.name, observed));
                self.model.live(observed, now);
                self.observed.push(observed);
            }
            Event::Again => {
                self.observed.sort_by_key(|observed| observed.minute);
                for observed in &self.observed {
                    // What was told of a product before a crawl brought it may be news now.
                    self.model.live(*observed, now);
                }
                let again = self.observed.iter().map(|observed| observation(&self.name, *observed));
                let mut again: Vec<_> = again.collect();
                again.sort_by_key(|one| one.variants.first().map(|variant| variant.price_minor));
                news.observations.extend(again);
            }
        }
    }

    fn check(&self, told: &BTreeMap<u64, Vec<Row>>) {
        for index in 0..4 {
            let rows = told.get(&variant_of(index)).map_or(&[][..], Vec::as_slice);
            assert_eq!(rows, self.model.words[index], "variant {index} of {self:?}");
        }
    }
}

/// Of each store and variant what the history says, oldest first.
async fn told(lake: &Lake, lives: &[Life]) -> BTreeMap<String, BTreeMap<u64, Vec<Row>>> {
    let stores: BTreeSet<_> = lives.iter().map(|life| host(&life.name)).collect();
    let histories = lake.snapshot().await.unwrap().price_history(&stores).await.unwrap();
    let mut told: BTreeMap<String, BTreeMap<u64, Vec<Row>>> = BTreeMap::new();
    for (store, history) in histories {
        let of_store = told.entry(store.to_string()).or_default();
        for point in history.into_values().flat_map(|points| points.into_iter().rev()) {
            let minute = (point.observed_at.micros() - START) / 1000 / MINUTE_MS;
            let price = point.price_minor.map(|price| u8::try_from(price).unwrap());
            of_store.entry(point.variant.0).or_default().push((minute, price));
        }
    }
    told
}

/// Lets each of these lives go on beside the others; the clock is wrong by so many minutes at each event.
async fn live_through(mut lives: Vec<Life>, wrong_by: impl Iterator<Item = i64>) -> Vec<Life> {
    let clock = midnight();
    let lake = open(&Storage::memory(), &clock).await;
    for (number, wrong_by) in wrong_by.enumerate() {
        let now = (i64::try_from(number).unwrap() + 1) * 10 + wrong_by;
        clock.advance_ms((at(now).micros() - data_model::Clock::now(&*clock).micros()) / 1000);
        let mut news = News::default();
        lives
            .iter_mut()
            .for_each(|life| life.live_through(number, now, &mut news));
        let run = || run(u32::try_from(number).unwrap());
        lake.commit(news.crawls, run()).await.unwrap();
        let fold = lake.commit_observations(news.observations.clone(), BTreeMap::new(), run());
        fold.await.unwrap();
        if number % 4 == 0 {
            let again = lake.commit_observations(news.observations, BTreeMap::new(), run());
            assert_eq!(again.await.unwrap().tick, None, "the second time nothing of it is new");
        }
    }
    let told = told(&lake, &lives).await;
    let nothing = BTreeMap::new();
    for life in &lives {
        life.check(told.get(host(&life.name).as_str()).unwrap_or(&nothing));
    }
    lives
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
    for events in [
        vec![crawl(1, false), gone.clone(), crawl(1, false), long, last.clone()],
        vec![crawl(1, false), gone, crawl(1, false), last],
    ] {
        let wrong_by = vec![0; events.len()];
        live_through(vec![Life::new("alpha".into(), events)], wrong_by.into_iter()).await;
    }
}

/// Whatever happened before: when the clock is right again, one live answer is the newest word, and one crawl after it.
#[tokio::test]
async fn the_history_tells_each_change_once_and_ends_with_the_newest_word() {
    for seed in 0..LAKES {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        let mut next = || event().new_tree(&mut runner).unwrap().current();
        let first = usize::from(seed) * STORES;
        let lives = (first..first + STORES).map(|number| {
            let mut events: Vec<_> = (0..EVENTS).map(|_| next()).collect();
            let crawl = |price| Event::Crawl {
                prices: [Some(price); 4],
                is_late: false,
                is_long: false,
            };
            let live = Event::Live {
                product: 0,
                told: [Some(Some(8)), Some(None)],
            };
            events.extend([crawl(7), live, crawl(9)]);
            Life::new(format!("s{number}"), events)
        });
        let mut wrong_by = WRONG_BY;
        wrong_by.rotate_left(usize::from(seed) * 3);
        for life in live_through(lives.collect(), wrong_by.into_iter().chain([0; 3])).await {
            assert!(
                life.model.words[0].ends_with(&[(110, Some(7)), (120, Some(8)), (130, Some(9))]),
                "{life:?}"
            );
        }
    }
}
