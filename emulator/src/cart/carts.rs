use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::Cart;

/// Maximum total size of all carts in one store, in bytes.
const BYTES_MAX: usize = 256 << 20;

/// Carts of one store. At a limit, the cart that was idle for longest is removed.
#[derive(Debug, Default)]
pub(crate) struct Carts {
    by_token: HashMap<String, CartEntry>,
    /// Tokens of carts by the time of their last change.
    by_age: BTreeMap<u64, String>,
    changes: u64,
    /// Total size of the carts in bytes.
    bytes: usize,
}

#[derive(Debug)]
struct CartEntry {
    cart: Cart,
    change: u64,
}

impl Carts {
    pub(crate) fn len(&self) -> usize {
        self.by_token.len()
    }

    pub(crate) fn put(&mut self, cart: Cart, most: usize) {
        self.changes += 1;
        let change = self.changes;
        self.by_age.insert(change, cart.token.clone());
        let token = cart.token.clone();
        self.bytes += cart.weight();
        if let Some(before) = self.by_token.insert(token, CartEntry { cart, change }) {
            self.by_age.remove(&before.change);
            self.bytes -= before.cart.weight();
        }
        while self.by_token.len() > most.max(1) || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                break;
            };
            if let Some(gone) = self.by_token.remove(&oldest) {
                self.bytes -= gone.cart.weight();
            }
        }
    }

    pub(crate) fn get(&mut self, token: &str, now: DateTime<Utc>, ttl: Duration) -> Option<&Cart> {
        let ttl = TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX);
        let is_over = |kept: &CartEntry| now.signed_duration_since(kept.cart.updated_at) >= ttl;
        if self.by_token.get(token).is_some_and(is_over) {
            let gone = self.by_token.remove(token)?;
            self.by_age.remove(&gone.change);
            self.bytes -= gone.cart.weight();
            return None;
        }
        self.by_token.get(token).map(|kept| &kept.cart)
    }
}
