//! A cart against a model of it, written from the rule of `settle.rs`: sequences of changes, faults, kills and clocks that
//! jump, after which no line is lost, doubled or back again, and every total is the store's own.
//!
//! `HAAT_TEST_SEQUENCES` is how many sequences are played; one that fails prints its seed and its steps.

use std::collections::BTreeSet;

use emulator::{CartFunction, DiscountRule, Fault, FaultRule, Takes};
use http::Method;
use serde_json::{Value, json};

use super::killed::cut_short;
use super::mall::{Call, Mall, Server, assert_sums, group, minor, path};

const PRODUCTS: usize = 4;
const STORES: usize = 2;
const SEQUENCES: u64 = 200;
const STEPS: usize = 7;
const HOUR_MS: i64 = 3_600_000;

/// What a fault lets the store do with what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Refused,
    Unknown,
}

/// Pieces of each product of each store.
type Pieces = [[u64; PRODUCTS]; STORES];

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// What may be wanted of a store.
#[derive(Debug, Clone)]
struct Wanted {
    pieces: [BTreeSet<u64>; PRODUCTS],
    codes: BTreeSet<Vec<String>>,
    function: Option<CartFunction>,
}

impl Wanted {
    fn is_certain(&self) -> bool {
        self.pieces.iter().all(|pieces| pieces.len() == 1) && self.codes.len() == 1
    }

    fn may_be_empty(&self) -> bool {
        self.pieces.iter().all(|pieces| pieces.contains(&0))
    }

    fn known(&self) -> [u64; PRODUCTS] {
        self.pieces.clone().map(|pieces| *pieces.first().unwrap())
    }

    fn is(&mut self, pieces: [u64; PRODUCTS]) {
        self.pieces = pieces.map(|pieces| BTreeSet::from([pieces]));
        if self.may_be_empty() {
            // The last line takes its group along, and the group its codes.
            self.codes = BTreeSet::from([Vec::new()]);
        }
    }

    fn may_be(&mut self, pieces: [u64; PRODUCTS]) {
        for (held, pieces) in self.pieces.iter_mut().zip(pieces) {
            held.insert(pieces);
        }
        if self.may_be_empty() {
            self.codes.insert(Vec::new());
        }
    }
}

struct Play<'a> {
    mall: &'a Mall,
    server: Server,
    dice: Dice,
    cart: Value,
    wanted: [Wanted; STORES],
    has_chosen: bool,
    told: Vec<String>,
}

impl Play<'_> {
    fn known(&self) -> Pieces {
        std::array::from_fn(|store| self.wanted[store].known())
    }

    fn is_certain(&self) -> bool {
        self.wanted.iter().all(Wanted::is_certain)
    }

    /// Pieces that a cart has of a variant, by the member that tells them.
    fn sum(cart: &Value, brand: &str, variant: u64, member: &str) -> u64 {
        let lines = group(cart, brand)["lines"].as_array().cloned().unwrap_or_default();
        let variant = variant.to_string();
        let lines = lines.iter().filter(|line| line["variant_id"] == variant.as_str());
        lines.map(|line| line[member].as_u64().unwrap()).sum()
    }

    /// What was asked for as the cart tells it. Nothing but that, and what the store gives, is there.
    fn has(&self, cart: &Value, store: usize) -> [u64; PRODUCTS] {
        let (goods, brand) = (self.mall.goods(store), self.mall.brand(store));
        let of = |nth: usize, member| Self::sum(cart, &brand, goods[nth].1, member);
        let asked: [u64; PRODUCTS] = std::array::from_fn(|nth| of(nth, "requested_qty"));
        for (nth, asked_of) in asked.iter().enumerate() {
            let is_given = matches!(&self.wanted[store].function,
                Some(CartFunction::Gift { free, .. }) if *free == goods[nth].1 && asked[0] > 0);
            // Where the buyer asks for what is given, the store may count it as one of theirs.
            let most = asked_of + u64::from(is_given);
            let least = if *asked_of > 0 { *asked_of } else { most };
            assert!((least..=most).contains(&of(nth, "qty")), "{cart:#}\n{:#?}", self.told);
        }
        asked
    }

    fn clear(&self) {
        for store in 0..STORES {
            self.mall.stores.set_fault(&self.mall.slug(store), None).unwrap();
        }
    }

    fn fault(&mut self) -> Option<(FaultRule, Outcome)> {
        let before = |status| Fault::Status {
            status,
            retry_after_s: None,
        };
        let (fault, outcome) = match self.dice.below(14) {
            0 => (before(503), Outcome::Refused),
            1 => (before(500), Outcome::Unknown),
            2 => {
                let status = self.dice.of(&[500, 502, 504]);
                (Fault::EdgeFailed { status }, Outcome::Unknown)
            }
            3 => (Fault::AnswerLost { hold_ms: 0 }, Outcome::Unknown),
            4 => (Fault::Reset, Outcome::Unknown),
            5 => (Fault::Delayed { status: 504 }, Outcome::Unknown),
            6 => (Fault::QueryErrors { partial: true }, Outcome::Unknown),
            7 => (Fault::QueryErrors { partial: false }, Outcome::Unknown),
            8 => (Fault::Truncated { after_bytes: 10 }, Outcome::Unknown),
            9 => (Fault::BrokenJson, Outcome::Unknown),
            _ => return None,
        };
        let rule = FaultRule::from(fault).on_path("/api/");
        let rule = match (outcome, self.dice.below(3)) {
            (Outcome::Unknown, first @ 1..) => rule.first(u32::try_from(first).unwrap()),
            _ => rule,
        };
        Some((rule, outcome))
    }

    /// Sends what changes no lines, under some fault at one store.
    async fn under_fault(&mut self, store: usize, call: Call) -> (Value, Option<Outcome>) {
        let fault = self.fault();
        self.told.push(format!("{call:?} under {fault:?} at {store}"));
        let outcome = fault.map(|(rule, outcome)| {
            self.mall.stores.set_faults(&self.mall.slug(store), [rule]).unwrap();
            outcome
        });
        let told = self.server.data(call).await;
        self.clear();
        (told, outcome)
    }

    /// Sends a change after which the cart has `after`; what is known then.
    async fn change(&mut self, call: Call, after: Pieces) {
        let at = self.dice.below(STORES);
        let (cart, outcome) = self.under_fault(at, call).await;
        assert_sums(&cart);
        for (store, after) in after.into_iter().enumerate() {
            let brand = self.mall.brand(store);
            let problems = cart["problems"].as_array().unwrap();
            let has_problem = problems.iter().any(|problem| problem["brand_slug"] == brand.as_str());
            assert!(
                !has_problem || (store == at && outcome.is_some()),
                "{cart:#}\n{:#?}",
                self.told
            );
            if !has_problem {
                assert_eq!(self.has(&cart, store), after, "{cart:#}\n{:#?}", self.told);
                self.wanted[store].is(after);
            } else if outcome == Some(Outcome::Unknown) {
                self.wanted[store].may_be(after);
            }
        }
    }

    /// Sends a change to a server that ends in the middle of it, and lets the lease of the cart run out.
    async fn kill(&mut self, call: Call, after: Pieces) {
        self.settle().await;
        let store = self.dice.below(STORES);
        let operation = self
            .dice
            .of(&["cart", "cartLinesAdd", "cartLinesUpdate", "cartLinesRemove"]);
        let rule = FaultRule::from(Fault::AnswerLost { hold_ms: 60_000 }).on_operation(operation);
        self.mall.stores.set_faults(&self.mall.slug(store), [rule]).unwrap();
        let before = self.mall.calls(store, operation);
        let is_reached = || self.mall.calls(store, operation) != before;
        let is_killed = tokio::task::block_in_place(|| cut_short(self.mall, &call, is_reached));
        self.clear();
        self.told
            .push(format!("{call:?} killed in {operation} at {store}: {is_killed}"));
        for (wanted, after) in self.wanted.iter_mut().zip(after) {
            wanted.may_be(after);
        }
        self.mall.clock.advance_ms(HOUR_MS);
        self.server = self.mall.server().await;
        self.settle().await;
    }

    /// Lets the stores catch up, and reads what the cart is.
    async fn settle(&mut self) {
        for store in 0..STORES {
            self.mall.stores.catch_up(&self.mall.slug(store)).unwrap();
        }
        let cart = self.server.data(Call::get(path(&self.cart, ""))).await;
        assert_sums(&cart);
        let is_well = cart["problems"] == json!([]) || self.has_chosen;
        assert!(is_well, "{cart:#}\n{:#?}", self.told);
        for store in 0..STORES {
            let has = self.has(&cart, store);
            self.told.push(format!("reads {has:?} at {store}"));
            for (pieces, has) in self.wanted[store].pieces.iter().zip(has) {
                assert!(pieces.contains(&has), "{has} is none of {pieces:?}: {:#?}", self.told);
            }
            self.wanted[store].is(has);
            let group = group(&cart, &self.mall.brand(store));
            if !group.is_null() {
                self.assert_true(store, has, &group);
            }
        }
    }

    /// A group's codes are among those that may be wanted, and its totals what the store says of them.
    fn assert_true(&mut self, store: usize, has: [u64; PRODUCTS], group: &Value) {
        assert_eq!(group["verified"], true, "{:#?}", self.told);
        let told = group["discount_codes"].as_array().unwrap().iter();
        let codes: Vec<String> = told.map(|code| code["code"].as_str().unwrap().to_owned()).collect();
        let wanted = &mut self.wanted[store];
        assert!(
            wanted.codes.contains(&codes),
            "{codes:?} {:?} {:#?}",
            wanted.codes,
            self.told
        );
        wanted.codes = BTreeSet::from([codes.clone()]);
        let mut basket = Vec::new();
        for ((_, variant, _), pieces) in self.mall.goods(store).into_iter().zip(has) {
            match &wanted.function {
                Some(CartFunction::Split { variant: split }) if *split == variant => {
                    basket.extend((0..pieces).map(|_| (variant, 1)));
                }
                _ if pieces > 0 => basket.push((variant, pieces)),
                _ => {}
            }
        }
        let codes = codes.iter().map(String::as_str);
        let truth = self.mall.stores.truth(&self.mall.slug(store), &basket, codes).unwrap();
        let goods = minor(&group["total_minor"]) - minor(&group["delivery_minor"]);
        let told = [minor(&group["subtotal_minor"]), goods];
        let own = [truth.list_minor, truth.total_minor].map(|minor| i64::try_from(minor).unwrap());
        assert_eq!(told, own, "{group:#}\n{:#?}", self.told);
    }

    /// These, and nothing else.
    fn replacement(&mut self) -> Option<(Call, Pieces)> {
        let after: Pieces = std::array::from_fn(|_| std::array::from_fn(|_| self.dice.below(4) as u64));
        let all = (0..STORES).flat_map(|store| (0..PRODUCTS).map(move |nth| (store, nth)));
        let items: Vec<_> = all
            .filter(|(store, nth)| after[*store][*nth] > 0)
            .map(|(store, nth)| self.mall.item(store, nth, u32::try_from(after[store][nth]).unwrap()))
            .collect();
        let call = Call::new(Method::PUT, path(&self.cart, "/lines")).with(json!({ "items": items }));
        (!items.is_empty()).then_some((call, after))
    }

    fn addition(&mut self) -> (Call, Pieces) {
        let (store, nth, more) = (
            self.dice.below(STORES),
            self.dice.below(PRODUCTS),
            1 + self.dice.below(3),
        );
        let mut after = self.known();
        after[store][nth] += more as u64;
        let items = json!({ "items": [self.mall.item(store, nth, u32::try_from(more).unwrap())] });
        (Call::post(path(&self.cart, "/lines"), items), after)
    }

    /// A code set or taken out, which is how things are to be whatever becomes of the call.
    async fn code(&mut self, store: usize) {
        let mut codes = self.wanted[store].codes.first().unwrap().clone();
        let (code, brand) = (self.dice.of(&["TEN", "NOPE"]), self.mall.brand(store));
        let call = if let Some(at) = codes.iter().position(|held| held == code) {
            codes.remove(at);
            Call::new(
                Method::DELETE,
                path(&self.cart, &format!("/discount/{code}?brand={brand}")),
            )
        } else {
            codes.push(code.to_owned());
            Call::post(path(&self.cart, "/discount"), json!({ "code": code, "brand": brand }))
        };
        self.under_fault(store, call).await;
        self.wanted[store].codes = BTreeSet::from([codes]);
    }

    async fn address(&mut self, store: usize) {
        let zip = self.dice.of(&["560001", "560002"]);
        let body = json!({ "zip": zip, "country": "IN", "province": "KA", "city": "Bengaluru" });
        let (cart, _) = self
            .under_fault(store, Call::post(path(&self.cart, "/address"), body))
            .await;
        let brand = self.mall.brand(store);
        let group = group(&cart, &brand);
        let last = group["delivery_options"].as_array().and_then(|options| options.last());
        if let Some(last) = last {
            let choice = json!({ "brand": brand, "handle": last["handle"] });
            self.under_fault(store, Call::post(path(&self.cart, "/delivery"), choice))
                .await;
            self.has_chosen = true;
        }
    }

    async fn checkout(&mut self, store: usize) {
        let call = Call::post("/v1/checkout", json!({ "cart_id": self.cart["cart_id"] }));
        let (told, outcome) = self.under_fault(store, call).await;
        if outcome.is_none() && !self.has_chosen {
            let open = told["checkouts"].as_array().unwrap().len();
            let known = self.known();
            let groups = known.iter().filter(|pieces| pieces.iter().sum::<u64>() > 0);
            assert_eq!(open, groups.count(), "{told:#}\n{:#?}", self.told);
        }
    }

    async fn step(&mut self) {
        let store = self.dice.below(STORES);
        match self.dice.below(if self.is_certain() { 12 } else { 4 }) {
            0 => self.settle().await,
            1 | 2 => {
                if let Some((call, after)) = self.replacement() {
                    self.change(call, after).await;
                }
            }
            3 => {
                self.settle().await;
                let jump_ms = self.dice.of(&[-HOUR_MS, -60_000, 60_000, HOUR_MS]);
                self.told.push(format!("the clock jumps {jump_ms} ms"));
                self.mall.clock.advance_ms(jump_ms);
            }
            4..=6 => {
                let (call, after) = self.addition();
                self.change(call, after).await;
            }
            7 => {
                let (call, after) = self.addition();
                self.kill(call, after).await;
            }
            8 => {
                self.settle().await;
                self.told.push("the stores forget their carts".to_owned());
                self.mall
                    .stores
                    .advance_clock(std::time::Duration::from_secs(40 * 86_400));
                self.settle().await;
            }
            9 if !self.wanted[store].may_be_empty() => self.code(store).await,
            10 if !self.wanted[store].may_be_empty() => self.address(store).await,
            11 if !self.wanted[store].may_be_empty() => self.checkout(store).await,
            _ => {}
        }
    }
}

/// Stock for all, a code and an automatic discount at each store.
fn prepare(mall: &Mall) {
    for store in 0..STORES {
        let (slug, goods) = (mall.slug(store), mall.goods(store));
        for (_, variant, _) in &goods[..PRODUCTS] {
            mall.stores.set_stock(&slug, *variant, 1_000).unwrap();
        }
        let automatic = DiscountRule {
            products: vec![mall.shelf.products[&goods[3].0.parse().unwrap()].platform_id],
            ..DiscountRule::automatic(
                "Less for the fourth",
                Takes::Amount {
                    amount_minor: 77,
                    each_item: true,
                },
            )
        };
        let rules = [DiscountRule::code("TEN", Takes::Percentage { percent: 10 }), automatic];
        mall.stores.set_discounts(&slug, rules).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_stores_do_no_line_is_lost_doubled_or_back_again() {
    let sequences = std::env::var("HAAT_TEST_SEQUENCES").map_or(SEQUENCES, |count| count.parse().unwrap());
    let mall = Mall::open(u32::try_from(STORES).unwrap()).await;
    prepare(&mall);
    for seed in 1..=sequences {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let wanted: [Wanted; STORES] = std::array::from_fn(|store| {
            let goods = mall.goods(store);
            let function = match dice.below(4) {
                0 => Some(CartFunction::Gift {
                    with: goods[0].1,
                    free: goods[2].1,
                }),
                1 => Some(CartFunction::Split { variant: goods[1].1 }),
                _ => None,
            };
            mall.stores
                .set_cart_function(&mall.slug(store), function.clone())
                .unwrap();
            let mut wanted = Wanted {
                pieces: Default::default(),
                codes: BTreeSet::from([Vec::new()]),
                function,
            };
            wanted.is([1, 0, 0, 0]);
            wanted
        });
        let server = mall.server().await;
        let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
        let told = vec![format!("seed {seed}: {wanted:?}")];
        let mut play = Play {
            mall: &mall,
            server,
            dice,
            cart,
            wanted,
            has_chosen: false,
            told,
        };
        for _ in 0..STEPS {
            play.step().await;
        }
        play.settle().await;
        play.settle().await;
        play.server.data(Call::new(Method::DELETE, path(&play.cart, ""))).await;
        let (status, _) = play.server.send(Call::get(path(&play.cart, ""))).await;
        assert_eq!(status, 404, "{:#?}", play.told);
    }
}
