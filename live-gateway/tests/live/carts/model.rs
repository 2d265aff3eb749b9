//! A cart against a model of it: sequences of changes and faults, after which no line is lost, doubled or back again.

use std::collections::BTreeSet;

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, assert_sums, group, path};

const PRODUCTS: usize = 4;
const SEEDS: u64 = 24;
const STEPS: usize = 14;

/// What a fault lets the store do with what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Refused,
    Unknown,
}

/// Pieces of each product that the cart may have.
type Pieces = [BTreeSet<u64>; PRODUCTS];

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

struct Play<'a> {
    mall: &'a Mall,
    server: Server,
    dice: Dice,
    cart: Value,
    pieces: Pieces,
    told: Vec<String>,
}

fn exactly(pieces: [u64; PRODUCTS]) -> Pieces {
    pieces.map(|pieces| BTreeSet::from([pieces]))
}

impl Play<'_> {
    fn is_certain(&self) -> bool {
        self.pieces.iter().all(|pieces| pieces.len() == 1)
    }

    fn known(&self) -> [u64; PRODUCTS] {
        self.pieces.clone().map(|pieces| *pieces.first().unwrap())
    }

    fn has(&self, cart: &Value) -> [u64; PRODUCTS] {
        let lines = group(cart, &self.mall.brand(0))["lines"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let goods = self.mall.goods(0);
        std::array::from_fn(|nth| {
            let variant = goods[nth].1.to_string();
            let lines = lines.iter().filter(|line| line["variant_id"] == variant.as_str());
            lines.map(|line| line["qty"].as_u64().unwrap()).sum()
        })
    }

    fn clear(&self) {
        self.mall.stores.set_fault(&self.mall.slug(0), None).unwrap();
    }

    fn fault(&mut self) -> Option<(FaultRule, Outcome)> {
        let (fault, outcome) = match self.dice.below(10) {
            0 => (
                Fault::Status {
                    status: 503,
                    retry_after_s: None,
                },
                Outcome::Refused,
            ),
            1 => (Fault::EdgeFailed { status: 502 }, Outcome::Unknown),
            2 => (Fault::AnswerLost { hold_ms: 0 }, Outcome::Unknown),
            3 => (Fault::Reset, Outcome::Unknown),
            4 => (Fault::Delayed { status: 504 }, Outcome::Unknown),
            5 => (Fault::QueryErrors { partial: true }, Outcome::Unknown),
            _ => return None,
        };
        let rule = FaultRule::from(fault).on_path("/api/");
        let rule = match (outcome, self.dice.below(3)) {
            (Outcome::Unknown, first @ 1..) => rule.first(u32::try_from(first).unwrap()),
            _ => rule,
        };
        Some((rule, outcome))
    }

    /// Sends a change after which the cart has `after`, under some fault; what is known then.
    async fn change(&mut self, call: Call, after: [u64; PRODUCTS]) {
        let fault = self.fault();
        self.told.push(format!("{after:?} under {fault:?}"));
        if let Some((rule, _)) = &fault {
            self.mall.stores.set_faults(&self.mall.slug(0), [rule.clone()]).unwrap();
        }
        let cart = self.server.data(call).await;
        self.clear();
        assert_sums(&cart);
        if cart["problems"] == json!([]) {
            assert_eq!(self.has(&cart), after, "{:#?}", self.told);
            self.pieces = exactly(after);
        } else if !matches!(fault, Some((_, Outcome::Refused))) {
            for (pieces, after) in self.pieces.iter_mut().zip(after) {
                pieces.insert(after);
            }
        }
    }

    /// Lets the store catch up, and reads what the cart is.
    async fn settle(&mut self) {
        self.mall.stores.catch_up(&self.mall.slug(0)).unwrap();
        let cart = self.server.data(Call::get(path(&self.cart, ""))).await;
        let has = self.has(&cart);
        self.told.push(format!("reads {has:?}"));
        for (pieces, has) in self.pieces.iter().zip(has) {
            assert!(pieces.contains(&has), "{has} is none of {pieces:?}: {:#?}", self.told);
        }
        assert_eq!(cart["problems"], json!([]), "{:#?}", self.told);
        let lines = group(&cart, &self.mall.brand(0))["lines"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for line in lines {
            assert_eq!(line["requested_qty"], line["qty"], "{:#?}", self.told);
        }
        self.pieces = exactly(has);
    }

    async fn step(&mut self) {
        match self.dice.below(if self.is_certain() { 6 } else { 3 }) {
            0 => self.settle().await,
            1 | 2 => {
                // These, and nothing else.
                let after: [u64; PRODUCTS] = std::array::from_fn(|_| self.dice.below(4) as u64);
                let items: Vec<_> = (0..PRODUCTS)
                    .filter(|nth| after[*nth] > 0)
                    .map(|nth| self.mall.item(0, nth, u32::try_from(after[nth]).unwrap()))
                    .collect();
                if !items.is_empty() {
                    let call = Call::new(Method::PUT, path(&self.cart, "/lines")).with(json!({ "items": items }));
                    self.change(call, after).await;
                }
            }
            3 | 4 => {
                let (nth, more) = (self.dice.below(PRODUCTS), 1 + self.dice.below(3));
                let mut after = self.known();
                after[nth] += more as u64;
                let items = json!({ "items": [self.mall.item(0, nth, u32::try_from(more).unwrap())] });
                self.change(Call::post(path(&self.cart, "/lines"), items), after).await;
            }
            _ => {
                self.settle().await;
                self.told.push("the store forgets its cart".to_owned());
                self.mall
                    .stores
                    .advance_clock(std::time::Duration::from_secs(40 * 86_400));
                self.settle().await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_stores_do_no_line_is_lost_doubled_or_back_again() {
    let mall = Mall::open(1).await;
    for (_, variant, _) in &mall.goods(0)[..PRODUCTS] {
        mall.stores.set_stock(&mall.slug(0), *variant, 1_000).unwrap();
    }
    for seed in 1..=SEEDS {
        let server = mall.server().await;
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let mut play = Play {
            mall: &mall,
            server,
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            cart,
            pieces: exactly([1, 0, 0, 0]),
            told: vec![format!("seed {seed}")],
        };
        for _ in 0..STEPS {
            play.step().await;
        }
        play.settle().await;
        play.settle().await;
    }
}
