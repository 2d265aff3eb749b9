//! Compares the demo's answers about shipping with its stores' true rules, for 500 products and 20 pincodes in all
//! kinds of regions.

use std::collections::BTreeMap;
use std::sync::mpsc;

use data_pincodes::{PlaceKind, directory};
use emulator::{Emulator, EmulatorConfig, ShippingHabits, Source, ZoneKind, ZoneQuote};
use futures::StreamExt as _;
use serde_json::Value;

use crate::support::{Haat, PROBES, get};

const PRODUCTS: usize = 500;
const SEED: u64 = 11;

/// Number of requested pincodes for each kind of place.
const PLACES: [(PlaceKind, usize); 6] = [
    (PlaceKind::Metro, 4),
    (PlaceKind::Capital, 3),
    (PlaceKind::Rest, 7),
    (PlaceKind::Hill, 2),
    (PlaceKind::Remote, 2),
    (PlaceKind::Island, 2),
];

/// Returns pincodes of each kind, spread evenly.
fn pincodes() -> Vec<u32> {
    let of_kind = |kind: PlaceKind| -> Vec<u32> {
        let all = directory().pincodes();
        let of_it = all.filter(|(_, area)| directory().get(*area).is_some_and(|area| area.kind == kind));
        of_it.map(|(pincode, _)| pincode.number()).collect()
    };
    let spread = |(kind, count): (PlaceKind, usize)| {
        let all = of_kind(kind);
        (0..count).map(move |nth| all[(2 * nth + 1) * all.len() / (2 * count)])
    };
    PLACES.into_iter().flat_map(spread).collect()
}

/// Product with its store's true rules; `None` if the store is not in India and does not deliver there.
struct ProductCase {
    id: String,
    habits: Option<ShippingHabits>,
    prices_minor: [u64; 2],
}

/// Number of answers about a fact, over all questions.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    knowable: usize,
    known: usize,
    wrong: usize,
    wrong_high: usize,
}

#[derive(Debug, Default)]
struct Tallies(BTreeMap<&'static str, Tally>);

impl Tallies {
    /// Counts an answer about a fact. `told` is `None` without an answer, else `true` if the answer is right. A fact
    /// that cannot be known counts only if the answer is wrong.
    fn count(&mut self, fact: &'static str, answer: &Value, is_knowable: bool, told: Option<bool>) {
        let tally = self.0.entry(fact).or_default();
        tally.knowable += usize::from(is_knowable);
        let Some(is_right) = told else { return };
        tally.known += usize::from(is_knowable);
        if !is_right {
            println!("wrong {fact}: {answer}");
            tally.wrong += 1;
            tally.wrong_high += usize::from(answer["sources"][fact]["confidence"] == "high");
        }
    }
}

/// True if the stated days fit the rate's. A maximum from a policy must be at least the rate's and not far above it.
fn are_days_right(answer: &Value, quote: &ZoneQuote) -> bool {
    let told = ["days_min", "days_max"].map(|bound| answer["delivery"][bound].as_u64());
    let (fewest, most) = (u64::from(quote.days_min), u64::from(quote.days_max));
    match answer["sources"]["days"]["basis"].as_str() {
        Some("policy") => told[1].is_none_or(|told| most <= told && told <= 2 * most + 8),
        _ => told == [Some(fewest), Some(most)],
    }
}

fn judge(tallies: &mut Tallies, asked: &ProductCase, pincode: u32, answer: &Value) {
    let delivery = &answer["delivery"];
    let served = asked.habits.as_ref().is_some_and(|habits| habits.delivers(pincode));
    let hides = asked
        .habits
        .as_ref()
        .is_some_and(|habits| habits.rules.kind == ZoneKind::Hidden);
    let told = delivery["serviceable"].as_bool();
    tallies.count("serviceable", answer, !hides, told.map(|told| told == served));
    let Some(habits) = &asked.habits else { return };
    let says = habits.says;
    let quotes = asked.prices_minor.map(|price| habits.quotes(pincode, price, 100));
    if let Some(quote) = quotes[0].first() {
        let is_knowable = habits.has_days_at_rates || says.is_some_and(|says| says.has_days);
        let told = delivery["days_max"].as_u64();
        tallies.count("days", answer, is_knowable, told.map(|_| are_days_right(answer, quote)));
        let amounts = quotes.each_ref().map(|quotes| quotes[0].amount_minor);
        let is_knowable = habits.rules.kind != ZoneKind::ByWeight && amounts[0] == amounts[1];
        let told = delivery["cost_minor"].as_u64().filter(|_| is_knowable);
        tallies.count("cost", answer, is_knowable, told.map(|told| told == amounts[0]));
    }
    let is_knowable = says.is_some_and(|says| says.has_fee) && habits.free_from_minor.is_some();
    let told = answer["free_shipping_threshold_minor"].as_u64();
    let is_right = told.map(|told| Some(told) == habits.free_from_minor);
    tallies.count("free_shipping_threshold", answer, is_knowable, is_right);
    let cash = asked.prices_minor.map(|price| habits.takes_cash(price));
    let is_knowable = says.is_some_and(|says| says.has_cash) && cash[0] == cash[1];
    let told = answer["cod_available"].as_bool().filter(|_| cash[0] == cash[1]);
    tallies.count("cod", answer, is_knowable, told.map(|told| told == cash[0]));
}

/// Returns the true rules of each store by its permanent host. The demo's stores depend only on its seed.
async fn truths(products: u64, stores: u32) -> BTreeMap<String, Option<ShippingHabits>> {
    let source = Source::Generated {
        products,
        stores,
        seed: SEED,
    };
    let varied = EmulatorConfig {
        varied_shipping: true,
        ..EmulatorConfig::new(source)
    };
    let running = Emulator::start(varied).await.unwrap();
    let of = |store: emulator::StoreAddress| {
        let habits = running.shipping_habits(&store.slug).unwrap();
        (store.myshopify_domain, habits)
    };
    running.stores().into_iter().map(of).collect()
}

/// Waits for the second release, which contains the stores' answers.
fn wait_for_answers(log: &mpsc::Receiver<String>) {
    let is_event = |line: &String| {
        assert!(
            !line.contains("the delivery of the demo's stores could not be read"),
            "{line}"
        );
        line.contains("a release is served")
    };
    assert_eq!(log.iter().filter(is_event).take(2).count(), 2, "the demo ended");
}

async fn ask(base: &str, asked: &[ProductCase]) -> Tallies {
    let client = &reqwest::Client::new();
    let questions = asked
        .iter()
        .flat_map(|one| pincodes().into_iter().map(move |pincode| (one, pincode)));
    let answers = questions.map(|(one, pincode)| async move {
        let url = format!("{base}/v1/shipping?product={}&pincode={pincode}", one.id);
        let answer = client.get(url).send().await.unwrap().text().await.unwrap();
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        (one, pincode, answer["data"].take())
    });
    let mut tallies = Tallies::default();
    let mut answers = futures::stream::iter(answers).buffered(8);
    while let Some((one, pincode, answer)) = answers.next().await {
        judge(&mut tallies, one, pincode, &answer);
    }
    tallies
}

#[test]
fn the_demo_knows_how_its_stores_send_and_is_never_surely_wrong() {
    check(24);
}

#[test]
#[ignore = "a measurement of some minutes"]
fn so_does_a_demo_of_300_stores() {
    check(300);
}

fn check(stores: u32) {
    let haat = Haat::new().with(PROBES, "true");
    let size = format!("demo --products 1200 --stores {stores} --seed {SEED} --listen 127.0.0.1:0");
    let demo = haat.serve_logged(&size.split(' ').collect::<Vec<_>>());
    let base = demo.document["address"].as_str().unwrap();
    wait_for_answers(&demo.log);
    let stats = get(&format!("{base}/v1/stats")).1;
    println!("{}", stats["data"]["shipping_known"]);
    let statement = format!(
        "select p.product_id as id, p.store as store, min(v.price_minor) as least, max(v.price_minor) as most from products p \
         join variants v using (product_id) group by 1, 2 having min(v.price_minor) > 0 order by 1 limit {PRODUCTS}"
    );
    let rows = haat.sql(&statement);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let truths = runtime.block_on(truths(1200, stores));
    let of_row = |row: &Value| ProductCase {
        id: row["id"].as_str().unwrap().to_owned(),
        habits: truths[row["store"].as_str().unwrap()].clone(),
        prices_minor: ["least", "most"].map(|bound| row[bound].as_u64().unwrap()),
    };
    let asked: Vec<ProductCase> = rows.iter().map(of_row).collect();
    assert_eq!((asked.len(), pincodes().len()), (PRODUCTS, 20));
    let tallies = runtime.block_on(ask(base, &asked));
    let mut all = Tally::default();
    for (fact, tally) in &tallies.0 {
        println!("{fact}: {tally:?}");
        all.knowable += tally.knowable;
        all.known += tally.known;
        all.wrong += tally.wrong;
        all.wrong_high += tally.wrong_high;
    }
    println!("all: {all:?}");
    assert_eq!(all.wrong_high, 0, "wrong with high confidence");
    assert!(all.known * 5 >= all.knowable * 4, "{all:?}");
    assert!(all.wrong * 50 <= all.known, "{all:?}");
}
