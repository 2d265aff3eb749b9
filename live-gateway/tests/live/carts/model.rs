//! Model of a cart, which contains the possible wanted quantities of each product at a store. The model follows the
//! rules at the head of `settle.rs` and shares no code with the implementation.
//!
//! A completed call results in the requested state. A refused call leaves the previous state unchanged, step by step. A
//! call with an unknown outcome results in either the requested or the previous state, until the cart is read. The
//! state that a response reports must be one of the possible states. What the buyer changes at the store's own page is
//! the wanted state.

use std::collections::BTreeSet;

use emulator::{BasketLine, CartFunction, Fault};

/// Number of different products that are bought at a store.
pub(super) const PRODUCTS: usize = 4;

pub(super) type Pieces = [u64; PRODUCTS];

/// Outcome of a call to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    Refused,
    Unknown,
}

/// Fault, and the outcome of the call that the fault affects.
#[derive(Debug, Clone)]
pub(super) struct Ill {
    pub(super) fault: Fault,
    pub(super) outcome: Outcome,
}

/// Returns every kind of fault with its outcome.
pub(super) fn ills() -> Vec<Ill> {
    let begun = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    let refused = [begun(403), begun(404)];
    let unknown = [
        begun(500),
        begun(503),
        Fault::EdgeFailed { status: 500 },
        Fault::EdgeFailed { status: 502 },
        Fault::EdgeFailed { status: 503 },
        Fault::EdgeFailed { status: 504 },
        Fault::AnswerLost { hold_ms: 0 },
        Fault::Reset,
        Fault::Delayed { status: 502 },
        Fault::Delayed { status: 503 },
        Fault::Delayed { status: 504 },
        Fault::QueryErrors { partial: true },
        Fault::QueryErrors { partial: false },
        Fault::Truncated { after_bytes: 10 },
        Fault::BrokenJson,
        Fault::HtmlForJson,
        Fault::ManyPieces {
            quantity: 2_000_000_000,
        },
    ];
    let ill = |outcome| move |fault| Ill { fault, outcome };
    let refused = refused.into_iter().map(ill(Outcome::Refused));
    refused.chain(unknown.into_iter().map(ill(Outcome::Unknown))).collect()
}

/// Pseudorandom numbers, the same on every machine.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn of_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    pub(super) fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Possible states of a store's cart.
#[derive(Debug, Clone)]
pub(super) struct CartModel {
    pieces: [BTreeSet<u64>; PRODUCTS],
    codes: BTreeSet<Vec<String>>,
    /// Change that the store itself makes to its carts.
    function: Option<CartFunction>,
}

impl CartModel {
    pub(super) fn of(pieces: Pieces, function: Option<CartFunction>) -> Self {
        Self {
            pieces: pieces.map(|pieces| BTreeSet::from([pieces])),
            codes: BTreeSet::from([Vec::new()]),
            function,
        }
    }

    pub(super) fn is_certain(&self) -> bool {
        self.pieces.iter().all(|pieces| pieces.len() == 1) && self.codes.len() == 1
    }

    fn may_be_empty(&self) -> bool {
        self.pieces.iter().all(|pieces| pieces.contains(&0))
    }

    /// Returns the wanted quantities. Only one state may be possible.
    pub(super) fn pieces(&self) -> Pieces {
        self.pieces.clone().map(|pieces| *pieces.first().unwrap())
    }

    /// Returns the list of codes. Only one list may be possible.
    pub(super) fn codes(&self) -> Vec<String> {
        self.codes.first().unwrap().clone()
    }

    /// True if the store changes nothing by itself.
    pub(super) fn is_plain(&self) -> bool {
        self.function.is_none()
    }

    /// Records the state in which the buyer has left the store's cart.
    pub(super) fn is(&mut self, pieces: Pieces) {
        self.pieces = pieces.map(|pieces| BTreeSet::from([pieces]));
        if self.may_be_empty() {
            // A group is removed with its last line, and so are its codes.
            self.codes = BTreeSet::from([Vec::new()]);
        }
    }

    fn may_be(&mut self, pieces: Pieces) {
        for (held, pieces) in self.pieces.iter_mut().zip(pieces) {
            held.insert(pieces);
        }
        if self.may_be_empty() {
            self.codes.insert(Vec::new());
        }
    }

    /// Records a call that requests `after`, and the quantities in its response.
    pub(super) fn take(&mut self, outcome: Outcome, after: Pieces, told: Pieces) {
        let was_certain = self.is_certain();
        if outcome == Outcome::Done {
            assert_eq!(told, after, "done");
            self.is(after);
            return;
        }
        self.may_be(after);
        self.assert_may_be(told);
        if outcome == Outcome::Refused && was_certain {
            self.is(told);
        }
    }

    /// Records a list of codes, which is the wanted list whatever the outcome of the call is.
    pub(super) fn take_codes(&mut self, codes: Vec<String>) {
        self.codes = BTreeSet::from([codes]);
    }

    /// Records a store's cart that was read while no call was running.
    pub(super) fn read(&mut self, told: Pieces, codes: Vec<String>) {
        self.assert_may_be(told);
        assert!(
            self.codes.contains(&codes),
            "codes {codes:?} are none of {:?}",
            self.codes
        );
        self.codes = BTreeSet::from([codes]);
        self.is(told);
    }

    fn assert_may_be(&self, told: Pieces) {
        let is_so = self
            .pieces
            .iter()
            .zip(told)
            .all(|(pieces, told)| pieces.contains(&told));
        assert!(is_so, "{told:?} is none of {:?}", self.pieces);
    }

    /// Returns the quantity of a variant that the store itself adds.
    pub(super) fn given(&self, variant: u64, asked: impl Fn(u64) -> u64) -> u64 {
        match self.function {
            Some(CartFunction::Gift { with, free }) if free == variant => u64::from(asked(with) > 0),
            _ => 0,
        }
    }

    /// Returns the lines into which the store splits a quantity of a variant, without the store's own additions.
    pub(super) fn lines(&self, variant: u64, quantity: u64) -> Vec<BasketLine> {
        match self.function {
            Some(CartFunction::Split { variant: split }) if split == variant => {
                let one = BasketLine { variant, quantity: 1 };
                (0..quantity).map(|_| one).collect()
            }
            _ if quantity > 0 => vec![BasketLine { variant, quantity }],
            _ => Vec::new(),
        }
    }
}
