//! Carts of a store, shared by GraphQL, the Ajax API and the checkout page.
//!
//! Each change is made to a copy, which replaces the cart if there is no error. A cart stores neither prices nor stock,
//! and its cost is computed at every request.

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

pub(crate) const LINES_MAX: usize = 500;

/// Maximum size of one cart in bytes. The platform's own limit is not known.
pub(crate) const CART_BYTES_MAX: usize = 512 << 10;

#[derive(Debug, Clone)]
pub(crate) struct Cart {
    /// Token in the cart's id and in visible URLs.
    pub(crate) token: String,
    /// Secret key that allows changes to the cart.
    pub(crate) key: String,
    /// Secret key that opens the checkout page.
    pub(crate) checkout_key: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) note: String,
    /// Attributes in the order in which they were given.
    pub(crate) attributes: Vec<Attribute>,
    /// Lines, the oldest first. Buyers see the newest first.
    pub(crate) lines: Vec<Line>,
    /// Discount codes as entered. Codes that differ only in case are entered once.
    pub(crate) codes: Vec<String>,
    pub(crate) buyer: Buyer,
    pub(crate) addresses: Vec<Address>,
    /// Handle of the selected delivery option. The cheapest option counts if none is selected.
    pub(crate) delivery: Option<String>,
    /// Address for which rates are prepared, and the number of polls since.
    pub(crate) estimate: Option<(Place, u8)>,
}

/// Cart line. The same variant with other attributes has a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) id: Uuid,
    pub(crate) variant: u64,
    /// Quantity; 0 if the variant was sold out at the last check.
    pub(crate) quantity: u64,
    pub(crate) attributes: Vec<Attribute>,
}

/// Key and value of a cart or a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Attribute {
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Buyer {
    /// ISO 3166-1 alpha-2 country code.
    pub(crate) country: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    /// Number of the customer who is logged in.
    pub(crate) customer: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) id: Uuid,
    pub(crate) is_selected: bool,
    pub(crate) is_for_once: bool,
    pub(crate) place: Place,
}

impl Cart {
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

    /// Returns the cookie that identifies a client's cart.
    pub(crate) fn cookie(&self) -> String {
        format!("cart={}%3Fkey%3D{}; path=/; SameSite=Lax", self.token, self.key)
    }

    /// Returns the size of the buyer's texts in bytes, plus a constant for each line.
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
