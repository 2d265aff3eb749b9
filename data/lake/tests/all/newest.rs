//! Property tests with events in any order and under wrong clocks. The history must contain each change of a variant
//! once, with the time of the reading that saw it, and end with the latest reading. The current state must match the
//! reading that it names.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod model;

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{START, host, midnight, open, run};
use data_lake::{AsOf, BrandRow, HashedRefresh, Lake, RebuiltCatalogue, TableName};
use data_model::{BrandRefresh, Observation, ObservedVariant, StoreHost, Timestamp, VariantId};
use data_storage::Storage;
use futures::TryStreamExt;
use model::{CrawlReading, LiveReading, LiveWords, Model, Prices, StoreContent, Word};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const MINUTE_MS: i64 = 60_000;
/// Number of stores in one lake. Each store has its own sequence of events. There are eight lakes.
const STORES: usize = 1_250;
const EVENTS: usize = 10;
/// Clock error in minutes at each event: either small, as between two correct clocks, or 400 days.
const WRONG_BY: [i64; EVENTS] = [0, 2, 0, 576_000, 0, -2, 0, -576_000, 0, 0];

/// Event of a store with two products of two variants each.
#[derive(Debug, Clone)]
enum Event {
    /// A crawl finds these prices. A product without prices is not listed. A late crawl ended before the previous
    /// event. A long crawl, or one that resumes with earlier pages, began before the previous event.
    Crawl {
        prices: Prices,
        is_late: bool,
        is_long: bool,
    },
    /// The store is queried live about a product. Each variant has a price, is gone, or is not mentioned.
    Live { product: usize, told: LiveWords },
    /// All observations so far are merged again, ordered by price.
    Again,
    /// The pages of an earlier crawl, `crawls_ago` crawls back, are read again. A corrected parser may see another
    /// price. The expected old content was noted now or one event earlier.
    Backfill {
        crawls_ago: usize,
        corrects: bool,
        is_late: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct Restore {
    /// Event whose resulting state is restored. The clock was right at that event.
    to: usize,
    /// `true` if live offers are restored too.
    is_live_too: bool,
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
    let backfill = (0_usize..3, proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    let backfill = backfill.prop_map(|(crawls_ago, corrects, is_late)| Event::Backfill {
        crawls_ago,
        corrects,
        is_late,
    });
    prop_oneof![4 => crawl, 4 => live, 1 => Just(Event::Again), 2 => backfill]
}

fn restore(number: usize) -> impl Strategy<Value = Option<Restore>> {
    let restore = (0..number.max(1), proptest::bool::weighted(0.25));
    let restore = restore.prop_map(|(to, is_live_too)| Restore { to, is_live_too });
    proptest::option::of(restore)
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_micros(START).plus_millis(minute * MINUTE_MS)
}

fn variant_of(index: usize) -> u64 {
    [101, 102, 201, 202][index]
}

fn crawl(name: &str, reading: CrawlReading) -> BrandRefresh {
    let CrawlReading { prices, began, ended } = reading;
    let brand = data_model::Brand {
        store: host(name),
        ..kit::brand(name)
    };
    let mut products = Vec::new();
    for number in [1, 2] {
        let priced = |index: usize| Some(kit::variant(variant_of(index), i64::from(prices[index]?)));
        let variants: Vec<_> = [number * 2 - 2, number * 2 - 1]
            .into_iter()
            .filter_map(priced)
            .collect();
        if !variants.is_empty() {
            products.push(data_model::Product {
                variants,
                ..kit::product(&brand, number as u64, "One")
            });
        }
    }
    BrandRefresh {
        read_since: at(began),
        ..kit::refresh(brand, ended + 1_000_000, at(ended), products)
    }
}

fn observation(name: &str, observed: LiveReading) -> Observation {
    let LiveReading { minute, product, told } = observed;
    let id = |nth: usize| variant_of(product * 2 + nth);
    let seen = |(nth, told): (usize, &Option<Option<u8>>)| {
        let like = kit::variant(id(nth), i64::from((*told)??));
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

/// One store with its events, the model of its expected state, and its readings.
#[derive(Debug)]
struct Life {
    name: String,
    events: Vec<Event>,
    model: Model,
    observed: Vec<LiveReading>,
    landed: Vec<CrawlReading>,
    /// Expected state after each event.
    was: Vec<StoreContent>,
}

#[derive(Debug)]
struct RecordedBrands {
    at: Timestamp,
    brands: BTreeMap<StoreHost, BrandRow>,
}

/// Inputs of all stores that are committed at the same time.
#[derive(Debug, Default)]
struct StoreInputs {
    crawls: Vec<BrandRefresh>,
    observations: Vec<Observation>,
    rebuilt: Vec<RebuiltCatalogue>,
}

impl Life {
    fn new(name: String, events: Vec<Event>) -> Self {
        Self {
            name,
            events,
            model: Model::default(),
            observed: Vec::new(),
            landed: Vec::new(),
            was: Vec::new(),
        }
    }

    /// Applies the event with this number to the model and the inputs, with the clock at `now`.
    fn live_through(&mut self, number: usize, now: i64, noted: &[RecordedBrands], news: &mut StoreInputs) {
        match self.events[number].clone() {
            Event::Crawl {
                prices,
                is_late,
                is_long,
            } => {
                let ended = if is_late { now - 15 } else { now };
                let began = if is_long { ended - 12 } else { ended };
                let reading = CrawlReading { prices, began, ended };
                news.crawls.push(crawl(&self.name, reading));
                if self.model.crawl(reading, now) {
                    self.landed.push(reading);
                }
            }
            Event::Live { product, told } => {
                let minute = now;
                let observed = LiveReading { minute, product, told };
                news.observations.push(observation(&self.name, observed));
                self.model.live(observed, now);
                self.observed.push(observed);
            }
            Event::Again => {
                self.observed.sort_by_key(|observed| observed.minute);
                for observed in &self.observed {
                    // An observation from before a crawl brought the product may be new now.
                    self.model.live(*observed, now);
                }
                let again = self.observed.iter().map(|observed| observation(&self.name, *observed));
                let mut again: Vec<_> = again.collect();
                again.sort_by_key(|one| one.variants.first().map(|variant| variant.price_minor));
                news.observations.extend(again);
            }
            Event::Backfill {
                crawls_ago,
                corrects,
                is_late,
            } => {
                let Some(reading) = self.landed.iter().nth_back(crawls_ago).copied() else {
                    return;
                };
                let [first, others @ ..] = reading.prices;
                let first = if corrects { Some(4) } else { first };
                let prices = [first, others[0], others[1], others[2]];
                self.backfill(CrawlReading { prices, ..reading }, now, (noted, is_late), news);
            }
        }
    }

    fn backfill(
        &mut self,
        reading: CrawlReading,
        now: i64,
        (noted, is_late): (&[RecordedBrands], bool),
        news: &mut StoreInputs,
    ) {
        let decided = noted.len().checked_sub(1 + usize::from(is_late));
        let row = decided.and_then(|decided| noted[decided].brands.get(&host(&self.name)));
        let was = decided.and_then(|decided| self.was[decided].crawled);
        self.model.backfill(reading, now, was.map(|was| was.prices));
        news.rebuilt.push(RebuiltCatalogue {
            refresh: HashedRefresh::new(crawl(&self.name, reading)).unwrap(),
            instead_of: row.map(|row| row.catalogue_hash.clone()),
        });
    }

    fn check(&self, told: &BTreeMap<u64, Vec<Word>>, prices: &BTreeMap<u64, u8>) {
        for index in 0..4 {
            let rows = told.get(&variant_of(index)).map_or(&[][..], Vec::as_slice);
            assert_eq!(rows, self.model.changes[index], "variant {index} of {self:?}");
            let price = self.model.present.crawled.and_then(|crawled| crawled.prices[index]);
            assert_eq!(
                prices.get(&variant_of(index)).copied(),
                price,
                "variant {index} of {self:?}"
            );
        }
    }
}

/// Returns the history of each store and variant, oldest first.
async fn told(lake: &Lake, stores: &BTreeSet<StoreHost>) -> BTreeMap<StoreHost, BTreeMap<u64, Vec<Word>>> {
    let histories = lake.snapshot().await.unwrap().price_history(stores).await.unwrap();
    let mut told: BTreeMap<StoreHost, BTreeMap<u64, Vec<Word>>> = BTreeMap::new();
    for (store, history) in histories {
        let of_store = told.entry(store).or_default();
        for point in history.into_values().flat_map(|points| points.into_iter().rev()) {
            let minute = (point.observed_at.micros() - START) / 1000 / MINUTE_MS;
            let price = point.price_minor.map(|price| u8::try_from(price).unwrap());
            of_store
                .entry(point.variant.0)
                .or_default()
                .push(Word { minute, price });
        }
    }
    told
}

async fn prices(lake: &Lake, stores: &BTreeSet<StoreHost>) -> BTreeMap<StoreHost, BTreeMap<u64, u8>> {
    let products = lake.snapshot().await.unwrap().products(stores).await.unwrap();
    let products: Vec<_> = products.try_collect().await.unwrap();
    let mut prices: BTreeMap<StoreHost, BTreeMap<u64, u8>> = BTreeMap::new();
    for product in products {
        let priced = product
            .variants
            .iter()
            .map(|variant| (variant.id.0, u8::try_from(variant.price_minor).unwrap()));
        prices.entry(product.key.store).or_default().extend(priced);
    }
    prices
}

/// Returns the lake's brands, after checking their read times against the model.
async fn noted(lake: &Lake, lives: &[Life], at_now: Timestamp) -> RecordedBrands {
    let rows = lake.snapshot().await.unwrap().brands().await.unwrap();
    let brands: BTreeMap<_, _> = rows.into_iter().map(|row| (row.brand.store.clone(), row)).collect();
    for life in lives {
        let refreshed_at = brands.get(&host(&life.name)).map(|row| row.refreshed_at);
        let ended = life.model.present.crawled.map(|crawled| at(crawled.ended));
        assert_eq!(refreshed_at, ended, "{life:?}");
    }
    RecordedBrands { at: at_now, brands }
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Clock error in minutes.
    wrong_by: i64,
    restore: Option<Restore>,
}

async fn live_through(mut lives: Vec<Life>, moments: Vec<Moment>) -> Vec<Life> {
    let clock = midnight();
    let lake = open(&Storage::memory(), &clock).await;
    let mut all_noted: Vec<RecordedBrands> = Vec::new();
    for (number, Moment { wrong_by, restore }) in moments.into_iter().enumerate() {
        let now = (i64::try_from(number).unwrap() + 1) * 10 + wrong_by;
        clock.advance_ms((at(now).micros() - data_model::Clock::now(&*clock).micros()) / 1000);
        let mut news = StoreInputs::default();
        lives
            .iter_mut()
            .for_each(|life| life.live_through(number, now, &all_noted, &mut news));
        let run = || run(u32::try_from(number).unwrap());
        lake.commit(news.crawls, run()).await.unwrap();
        lake.rebuild(news.rebuilt, &run()).await.unwrap();
        let fold = lake.commit_observations(news.observations.clone(), BTreeMap::new(), run());
        fold.await.unwrap();
        if number % 4 == 0 {
            let again = lake.commit_observations(news.observations, BTreeMap::new(), run());
            assert_eq!(again.await.unwrap().tick, None, "the second time nothing of it is new");
        }
        if let Some(restore) = restore {
            take_back(&lake, &mut lives, restore, all_noted[restore.to].at).await;
        }
        all_noted.push(noted(&lake, &lives, at(now)).await);
        lives.iter_mut().for_each(|life| life.was.push(life.model.present));
    }
    let stores: BTreeSet<_> = lives.iter().map(|life| host(&life.name)).collect();
    let (told, prices) = (told(&lake, &stores).await, prices(&lake, &stores).await);
    let (nothing, none) = (BTreeMap::new(), BTreeMap::new());
    for life in &lives {
        let store = host(&life.name);
        life.check(
            told.get(&store).unwrap_or(&nothing),
            prices.get(&store).unwrap_or(&none),
        );
    }
    lives
}

async fn take_back(lake: &Lake, lives: &mut [Life], restore: Restore, moment: Timestamp) {
    let mut tables = BTreeSet::from(TableName::CRAWLED);
    if restore.is_live_too {
        tables.insert(TableName::LivePrices);
    }
    lake.restore(&tables, &AsOf::Timestamp(moment), false).await.unwrap();
    for life in lives {
        let then = life.was[restore.to];
        life.model.restore(then, restore.is_live_too);
    }
}

fn moments(wrong_by: impl IntoIterator<Item = i64>) -> Vec<Moment> {
    let moment = |wrong_by| Moment {
        wrong_by,
        restore: None,
    };
    wrong_by.into_iter().map(moment).collect()
}

/// An unchanged crawl counts as read when it ended. A longer crawl that ended later may have read its pages before
/// that.
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
        let moments = moments(vec![0; events.len()]);
        live_through(vec![Life::new("alpha".into(), events)], moments).await;
    }
}

/// The lake and its stores are random. After all events the clock is corrected. One live response must then become the
/// latest offer, and then one crawl, regardless of the earlier events.
async fn a_lake(seed: u8) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut wrong_by = WRONG_BY;
    wrong_by.rotate_left(usize::from(seed) * 3 % EVENTS);
    let mut all = moments(wrong_by);
    for (number, moment) in all.iter_mut().enumerate() {
        let restore = restore(number).new_tree(&mut runner).unwrap().current();
        moment.restore = restore.filter(|restore| restore.to < number && wrong_by[restore.to].abs() < 5);
    }
    all.extend(moments([0; 3]));
    let lives = (0..STORES).map(|number| {
        let mut events: Vec<_> = (0..EVENTS)
            .map(|_| event().new_tree(&mut runner).unwrap().current())
            .collect();
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
    let last = [(110, 7), (120, 8), (130, 9)].map(|(minute, price)| Word {
        minute,
        price: Some(price),
    });
    for life in live_through(lives.collect(), all).await {
        assert!(life.model.changes[0].ends_with(&last), "{life:?}");
    }
}

/// Separate tests run in parallel: 10,000 event sequences in total.
macro_rules! lakes {
    ($($name:ident: $seeds:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            for seed in $seeds {
                a_lake(seed).await;
            }
        }
    )*};
}

lakes! {
    the_history_tells_each_change_once_and_ends_with_the_newest_word_in_lakes_1_and_2: 0..2,
    the_history_tells_each_change_once_and_ends_with_the_newest_word_in_lakes_3_and_4: 2..4,
    the_history_tells_each_change_once_and_ends_with_the_newest_word_in_lakes_5_and_6: 4..6,
    the_history_tells_each_change_once_and_ends_with_the_newest_word_in_lakes_7_and_8: 6..8,
}
