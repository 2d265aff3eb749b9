//! The carts of a store: one state for GraphQL, the Ajax API and the checkout page.
//!
//! A change is made to a copy of a cart, which takes its place when nothing is wrong with it. Prices and stock are never
//! kept in a cart: what it costs is worked out whenever somebody asks.

mod address;
mod carts;
mod function;
mod line;
mod offer;
mod refusal;
mod rules;

pub(crate) use address::{AddressChange, AddressInput, Place};
pub(crate) use carts::Carts;
pub use function::CartFunction;
pub(crate) use line::{LineChange, LineInput};
pub(crate) use offer::{Offer, Offers};
pub(crate) use refusal::{CartRefusal, Notice, Refusal};
pub(crate) use rules::{BuyerInput, is_email};

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

/// Most lines of one cart.
pub(crate) const LINES_MAX: usize = 500;

/// Most bytes of one cart. The platform's own bound is not known.
pub(crate) const CART_BYTES_MAX: usize = 512 << 10;

/// A cart.
#[derive(Debug, Clone)]
pub(crate) struct Cart {
    /// Part of its id and of addresses that people see.
    pub(crate) token: String,
    /// The key of those who may change the cart.
    pub(crate) key: String,
    /// The key of those who may look at the checkout page.
    pub(crate) checkout_key: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) note: String,
    /// In the order given.
    pub(crate) attributes: Vec<Attribute>,
    /// Oldest first; buyers see the newest first.
    pub(crate) lines: Vec<Line>,
    /// As entered, without those that differ in case alone.
    pub(crate) codes: Vec<String>,
    pub(crate) buyer: Buyer,
    pub(crate) addresses: Vec<Address>,
    /// The handle of the delivery that was chosen; the cheapest where none was.
    pub(crate) delivery: Option<String>,
    /// The place for which rates were asked that come later, and the number of requests since.
    pub(crate) estimate: Option<(Place, u8)>,
}

/// One variant in a cart. Two with other attributes are two lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) id: Uuid,
    pub(crate) variant: u64,
    /// 0 for what was sold out when it was last looked at.
    pub(crate) quantity: u64,
    pub(crate) attributes: Vec<Attribute>,
}

/// A note that a cart or a line carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Attribute {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// The buyer of a cart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buyer {
    /// ISO 3166-1 alpha-2.
    pub(crate) country: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    /// The number of the customer who is logged in.
    pub(crate) customer: Option<u64>,
}

/// An address that goods may go to.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) id: Uuid,
    pub(crate) is_selected: bool,
    pub(crate) is_for_once: bool,
    pub(crate) place: Place,
}

impl Cart {
    /// An empty cart.
    pub(crate) fn fresh(now: DateTime<Utc>, country: &str) -> Self {
        Self {
            token: format!("hWN{}", Uuid::new_v4().simple()),
            key: Uuid::new_v4().simple().to_string(),
            checkout_key: Uuid::new_v4().simple().to_string(),
            created_at: now,
            updated_at: now,
            note: String::new(),
            attributes: Vec::new(),
            lines: Vec::new(),
            codes: Vec::new(),
            buyer: Buyer {
                country: Some(country.to_owned()),
                ..Buyer::default()
            },
            addresses: Vec::new(),
            delivery: None,
            estimate: None,
        }
    }

    /// Bytes of the texts that buyers have put in it, with something for each line.
    pub(crate) fn weight(&self) -> usize {
        let texts = |attributes: &[Attribute]| -> usize {
            let weights = attributes.iter().map(|one| one.key.len() + one.value.len() + 48);
            weights.sum()
        };
        let lines: usize = self.lines.iter().map(|line| texts(&line.attributes) + 64).sum();
        let codes: usize = self.codes.iter().map(|code| code.len() + 24).sum();
        512 + self.note.len() + texts(&self.attributes) + lines + codes + self.addresses.len() * 512
    }

    pub(crate) fn selected_address(&self) -> Option<&Address> {
        self.addresses.iter().find(|address| address.is_selected)
    }
}
