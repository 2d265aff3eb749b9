//! Random test sequences over carts of two stores, compared with a model. The sequences combine changes, every fault at
//! every mutation, stopped servers, clock jumps, and stores that lose carts. Afterwards no line may be lost, doubled or
//! restored, and every total must equal the store's own.
//!
//! A failing sequence prints its seed and steps. `HAAT_TEST_SEED` runs only that sequence.

use std::time::Duration;

use emulator::{Fault, FaultRule};
use http::Method;
use live_gateway::CartConfig;
use serde_json::{Value, json};

use super::draws::Change;
use super::killed::cut_short;
use super::late::{ZIPS, tell_places};
use super::mall::{Call, Mall, Server, after_the_first_read, assert_sums, group, minor, path};
use super::model::{CartModel, Dice, Ill, Outcome, PRODUCTS, Pieces, ills};
use super::stores::{function, prepare};

pub(super) const STORES: usize = 2;
/// Maximum number of steps after the first step of a sequence.
const STEPS_MAX: usize = 4;
/// Number of sequences in each of the eight tests.
const SEQUENCES: u64 = 250;
const HOUR_MS: i64 = 3_600_000;
pub(super) const MONTH: Duration = Duration::from_secs(40 * 86_400);

const MUTATIONS: [&str; 8] = [
    "cartCreate",
    "cartLinesAdd",
    "cartLinesUpdate",
    "cartLinesRemove",
    "cartDiscountCodesUpdate",
    "cartDeliveryAddressesReplace",
    "cartSelectedDeliveryOptionsUpdate",
    "cartAttributesUpdate",
];

/// Mutations that change settings of a whole cart.
const SETTINGS: [&str; 4] = [MUTATIONS[4], MUTATIONS[5], MUTATIONS[6], MUTATIONS[7]];

pub(super) struct Play<'a> {
    pub(super) mall: &'a Mall,
    server: &'a Server,
    pub(super) dice: Dice,
    /// Cart in the last response.
    pub(super) cart: Value,
    pub(super) wanted: [CartModel; STORES],
    /// Postal code of the delivery address, which applies whatever the outcome of the call is.
    zip: Option<&'static str>,
    pub(super) has_chosen: bool,
    pub(super) told: Vec<String>,
}

impl Drop for Play<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{:#?}\n{:#}", self.told, self.cart);
        }
    }
}

impl Play<'_> {
    pub(super) fn known(&self) -> [Pieces; STORES] {
        std::array::from_fn(|store| self.wanted[store].pieces())
    }

    fn is_certain(&self) -> bool {
        self.wanted.iter().all(CartModel::is_certain)
    }

    /// Returns the quantity of each product that a cart reports as requested.
    fn asked(&self, cart: &Value, store: usize) -> Pieces {
        let goods = self.mall.goods(store);
        std::array::from_fn(|nth| self.sum(cart, store, goods[nth].1, "requested_qty"))
    }

    pub(super) fn lines(&self, cart: &Value, store: usize) -> Vec<Value> {
        let lines = &group(cart, &self.mall.brand(store))["lines"];
        lines.as_array().cloned().unwrap_or_default()
    }

    fn sum(&self, cart: &Value, store: usize, variant: u64, member: &str) -> u64 {
        let variant = variant.to_string();
        let lines = self.lines(cart, store).into_iter();
        let lines = lines.filter(|line| line["variant_id"] == variant.as_str());
        lines.map(|line| line[member].as_u64().unwrap()).sum()
    }

    /// Asserts that the cart contains only the requested items and the store's own additions.
    fn assert_there(&self, cart: &Value, store: usize) {
        let asked = |variant| self.sum(cart, store, variant, "requested_qty");
        let mut pieces = 0;
        for (_, variant, _) in &self.mall.goods(store)[..PRODUCTS] {
            let there = asked(*variant) + self.wanted[store].given(*variant, asked);
            assert_eq!(
                self.sum(cart, store, *variant, "qty"),
                there,
                "pieces of {variant}: {cart:#}"
            );
            pieces += there;
        }
        let all: u64 = self
            .lines(cart, store)
            .iter()
            .map(|line| line["qty"].as_u64().unwrap())
            .sum();
        assert_eq!(all, pieces, "pieces of the store: {cart:#}");
    }

    /// Returns the number of problems of a store. A problem with a selected delivery option does not count, because the
    /// store may no longer offer the option.
    fn problems(&self, told: &Value, store: usize) -> usize {
        let brand = self.mall.brand(store);
        let is_of_delivery = |problem: &Value| problem["detail"].as_str().unwrap().contains("this delivery");
        let problems = told["problems"].as_array().unwrap().iter();
        let problems = problems.filter(|problem| problem["brand_slug"] == brand.as_str());
        problems
            .filter(|problem| !(self.has_chosen && is_of_delivery(problem)))
            .count()
    }

    fn set(&self, store: usize, rules: impl IntoIterator<Item = FaultRule>) {
        self.mall.stores.set_faults(&self.mall.slug(store), rules).unwrap();
    }

    /// Returns rules with the fault at one mutation, at all requests or at all after the first, either always or only
    /// at first.
    fn rules(&mut self, fault: Fault, mutation: &str) -> Vec<FaultRule> {
        let first = self.dice.of(&[None, Some(1), Some(2)]);
        let rule = |rule: FaultRule| FaultRule { first, ..rule };
        let everywhere = FaultRule::from(fault.clone()).on_path("/api/");
        match self.dice.below(6) {
            0 => vec![rule(everywhere)],
            1 => after_the_first_read(rule(everywhere)).into(),
            _ => vec![rule(FaultRule::from(fault).on_operation(mutation))],
        }
    }

    /// Sends a change while a store has a fault, and records the response in the model.
    pub(super) async fn send(&mut self, change: Change, store: usize, ill: Option<(Vec<FaultRule>, Outcome)>) {
        self.told.push(format!("{change:?} at {store} under {ill:?}"));
        let (rules, outcome) = ill.unzip();
        self.set(store, rules.unwrap_or_default());
        let told = self.server.data(change.call).await;
        self.set(store, None);
        self.zip = change.zip.or(self.zip);
        let is_failed = self.problems(&told, store) > 0;
        assert!(!is_failed || outcome.is_some(), "nothing went wrong: {told:#}");
        for at in 0..STORES {
            assert!(
                at == store || self.problems(&told, at) == 0,
                "nothing went wrong at {at}: {told:#}"
            );
        }
        if let Some(checkouts) = told["checkouts"].as_array() {
            let is_open = |pieces: &&Pieces| pieces.iter().any(|pieces| *pieces > 0);
            let open = change.after.iter().filter(is_open).count();
            assert!(is_failed || self.has_chosen || checkouts.len() == open, "{told:#}");
            return;
        }
        assert_sums(&told);
        for (at, after) in change.after.into_iter().enumerate() {
            let outcome = match outcome.filter(|_| is_failed) {
                Some(outcome) if at == store => outcome,
                // A replacement removes the items of other brands only after one of its new items is in the cart.
                Some(_) if after == [0; PRODUCTS] => Outcome::Refused,
                _ => Outcome::Done,
            };
            if outcome == Outcome::Done {
                self.assert_there(&told, at);
            }
            let asked = self.asked(&told, at);
            self.wanted[at].take(outcome, after, asked);
        }
        if let Some(codes) = change.codes {
            self.wanted[store].take_codes(codes);
        }
        self.cart = told;
    }

    /// Lets the stores carry out delayed calls, and reads the cart.
    async fn settle(&mut self) {
        self.catch_up();
        let cart = self.server.data(Call::get(path(&self.cart, ""))).await;
        self.told.push("settles".to_owned());
        self.cart = cart.clone();
        assert_sums(&cart);
        for store in 0..STORES {
            assert_eq!(self.problems(&cart, store), 0, "{cart:#}");
            self.assert_there(&cart, store);
            let (asked, told) = (self.asked(&cart, store), group(&cart, &self.mall.brand(store)));
            assert_eq!(told.is_null(), asked == [0; PRODUCTS], "{cart:#}");
            let codes = told["discount_codes"].as_array().cloned().unwrap_or_default();
            let codes: Vec<String> = codes
                .iter()
                .map(|code| code["code"].as_str().unwrap().to_owned())
                .collect();
            self.wanted[store].read(asked, codes);
            if !told.is_null() {
                self.assert_true(store, &told);
            }
        }
    }

    fn catch_up(&self) {
        for store in 0..STORES {
            self.mall.stores.catch_up(&self.mall.slug(store)).unwrap();
        }
    }

    /// Asserts that a group's totals equal the store's own totals for the wanted items.
    fn assert_true(&self, store: usize, told: &Value) {
        assert_eq!(told["verified"], true, "{told:#}");
        let wanted = &self.wanted[store];
        let goods = self.mall.goods(store).into_iter().zip(wanted.pieces());
        let ways = self.zip.map_or(0, |zip| if zip == ZIPS[0] { 2 } else { 1 });
        assert_eq!(told["delivery_options"].as_array().unwrap().len(), ways, "{told:#}");
        let basket: Vec<_> = goods
            .flat_map(|((_, variant, _), pieces)| wanted.lines(variant, pieces))
            .collect();
        let codes = wanted.codes();
        let codes = codes.iter().map(String::as_str);
        let truth = self.mall.stores.truth(&self.mall.slug(store), &basket, codes).unwrap();
        let goods_minor = minor(&told["total_minor"]) - minor(&told["delivery_minor"]);
        let told_minor = [minor(&told["subtotal_minor"]), goods_minor];
        let own_minor = [truth.list_minor, truth.total_minor].map(|minor| i64::try_from(minor).unwrap());
        assert_eq!(told_minor, own_minor, "{told:#}");
    }

    async fn act(&mut self, mutation: &str, ill: Option<Ill>) {
        if !self.is_certain() {
            self.settle().await;
        }
        let store = self.dice.below(STORES);
        let change = self.draw(store, mutation).await;
        if let Some(change) = change.or_else(|| self.replacement()) {
            self.under(change, store, mutation, ill).await;
        }
    }

    async fn under(&mut self, change: Change, store: usize, mutation: &str, ill: Option<Ill>) {
        let ill = ill.map(|ill| (self.rules(ill.fault, mutation), ill.outcome));
        self.send(change, store, ill).await;
    }

    /// Sends a change to a server that stops after a store has carried out a mutation. The cart's lease then expires,
    /// and the next server completes the operation.
    async fn kill(&mut self, mutation: &str) {
        self.settle().await;
        let store = self.dice.below(STORES);
        let Some(change) = self.draw(store, mutation).await else {
            return;
        };
        let rule = FaultRule::from(Fault::AnswerLost { hold_ms: 60_000 }).on_operation(mutation);
        self.set(store, [rule]);
        let before = self.mall.calls(store, mutation);
        let is_reached = || self.mall.calls(store, mutation) != before;
        let is_killed = tokio::task::block_in_place(|| cut_short(self.mall, &change.call, is_reached));
        self.set(store, None);
        self.told
            .push(format!("{change:?} ends in {mutation} at {store}: {is_killed}"));
        for (wanted, after) in self.wanted.iter_mut().zip(change.after) {
            wanted.take(Outcome::Done, after, after);
        }
        if let Some(codes) = change.codes {
            self.wanted[store].take_codes(codes);
        }
        self.zip = change.zip.or(self.zip);
        self.mall.clock.advance_ms(HOUR_MS);
        self.settle().await;
    }

    /// Changes a setting twice. The store carries out the first change after the second.
    async fn cross(&mut self, mutation: &str) {
        self.settle().await;
        let store = self.dice.below(STORES);
        let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation(mutation);
        for ill in [Some((vec![late.first(1)], Outcome::Unknown)), None] {
            if let Some(change) = self.draw(store, mutation).await {
                self.send(change, store, ill).await;
            }
        }
    }

    /// Lets the buyer change a cart at the store's own page while no call is in progress, and then changes it here.
    async fn shop(&mut self) {
        self.settle().await;
        self.mall.clock.advance_ms(HOUR_MS);
        self.settle().await;
        let store = self.dice.below(STORES);
        let Some(nth) = self.product(store, true).filter(|_| self.wanted[store].is_plain()) else {
            return;
        };
        let (page, body) = if self.dice.below(3) == 0 {
            let codes = self.dice.of(&[vec!["TEN"], vec!["NOPE"], vec!["TEN", "NOPE"]]);
            let body = json!({ "discount": codes.join(",") });
            self.wanted[store].take_codes(codes.into_iter().map(str::to_owned).collect());
            ("update", body)
        } else {
            let mut pieces = self.wanted[store].pieces();
            pieces[nth] = 1 + self.dice.below(5) as u64;
            self.wanted[store].is(pieces);
            let variant = self.mall.goods(store)[nth].1.to_string();
            ("change", json!({ "id": variant, "quantity": pieces[nth] }))
        };
        self.told.push(format!("the buyer at {store}: {page} {body}"));
        self.mall.at_store(&self.cart, store, page, &body).await;
        let change = match self.dice.below(3) {
            0 => None,
            nth => self.more(store, nth == 1),
        };
        let change = change.unwrap_or_else(|| self.code(store));
        self.send(change, store, None).await;
    }

    /// Moves the clock forward after the stores have carried out all calls, whether or not this server knows the
    /// outcomes.
    fn jump(&mut self) {
        self.catch_up();
        let jump_ms = self.dice.of(&[-HOUR_MS, -60_000, 60_000, HOUR_MS]);
        self.told.push(format!("the clock jumps {jump_ms} ms"));
        self.mall.clock.advance_ms(jump_ms);
    }

    async fn step(&mut self) {
        let mutation = self.dice.of(&MUTATIONS);
        let ill = (self.dice.below(4) > 0).then(|| self.dice.of(&ills()));
        match self.dice.below(16) {
            0 => self.settle().await,
            1 => self.jump(),
            2 | 3 => self.kill(mutation).await,
            12 | 13 => {
                let setting = self.dice.of(&SETTINGS);
                self.cross(setting).await;
            }
            14 | 15 => self.shop().await,
            4..=6 => {
                let store = self.dice.below(STORES);
                if let Some(change) = self.replacement() {
                    self.under(change, store, mutation, ill).await;
                }
            }
            _ => self.act(mutation, ill).await,
        }
    }
}

async fn play(mall: &Mall, server: &Server, seed: u64) {
    let mut dice = Dice::of_seed(seed);
    let first: Pieces = [1, 0, 0, 0];
    let wanted = std::array::from_fn(|store| {
        let function = function(mall, store, &mut dice);
        let slug = mall.slug(store);
        mall.stores.set_cart_function(&slug, function.clone()).unwrap();
        CartModel::of(first, function)
    });
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let mut play = Play {
        mall,
        server,
        dice,
        cart,
        told: vec![format!("seed {seed}: {wanted:?}")],
        wanted,
        zip: None,
        has_chosen: false,
    };
    // Consecutive seeds combine each kind of fault with each mutation.
    let (kinds, turn) = (ills(), usize::try_from(seed).unwrap());
    let kind = kinds[turn / MUTATIONS.len() % kinds.len()].clone();
    play.act(MUTATIONS[turn % MUTATIONS.len()], Some(kind)).await;
    for _ in 0..=play.dice.below(STEPS_MAX) {
        play.step().await;
    }
    play.settle().await;
    if play.dice.below(8) == 0 {
        server.data(Call::new(Method::DELETE, path(&play.cart, ""))).await;
        let (status, _) = server.send(Call::get(path(&play.cart, ""))).await;
        assert_eq!(status, 404);
    }
}

async fn play_all(nth: u64) {
    // A server must wait for its store until the server is stopped.
    let config = CartConfig {
        budget_ms: 600_000,
        ..CartConfig::default()
    };
    let mall = Mall::with(u32::try_from(STORES).unwrap(), config).await;
    prepare(&mall);
    (0..STORES).for_each(|store| tell_places(&mall, store));
    let server = mall.server().await;
    let only: Option<u64> = std::env::var("HAAT_TEST_SEED").ok().map(|seed| seed.parse().unwrap());
    for seed in nth * SEQUENCES + 1..=(nth + 1) * SEQUENCES {
        if only.is_none_or(|only| only == seed) {
            Box::pin(play(&mall, &server, seed)).await;
        }
    }
}

/// Two thousand sequences, in tests that run in parallel.
mod whatever_stores_do_no_line_is_lost_doubled_or_back_again {
    use super::play_all;

    macro_rules! in_parts {
        ($($name:ident: $nth:literal),*) => { $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                play_all($nth).await;
            }
        )* };
    }

    in_parts!(first: 0, second: 1, third: 2, fourth: 3, fifth: 4, sixth: 5, seventh: 6, eighth: 7);
}
