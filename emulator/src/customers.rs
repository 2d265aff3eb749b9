//! Customers of a store and their access tokens. Passwords are stored as salted digests.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Maximum number of customers, and of tokens, in one store.
const CUSTOMERS_MAX: usize = 10_000;
const TOKENS_MAX: usize = 20_000;

const TOKEN_DAYS: i64 = 42;

/// The state of a customer's account, which decides if the customer can log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CustomerState {
    /// The customer can log in.
    #[default]
    Enabled,
    /// The customer cannot log in, because the merchant disabled the account.
    Disabled,
    /// The customer has no password: they bought as a guest, or were invited and chose none.
    Invited,
}

#[derive(Debug, Clone)]
pub(crate) struct Customer {
    pub(crate) id: u64,
    pub(crate) email: String,
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) accepts_marketing: bool,
    pub(crate) state: CustomerState,
    pub(crate) created_at: DateTime<Utc>,
    secret: Option<Secret>,
}

#[derive(Clone)]
struct Secret {
    salt: Uuid,
    digest: [u8; 32],
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    fn of(password: &str) -> Self {
        let salt = Uuid::new_v4();
        Self {
            salt,
            digest: digest(salt, password),
        }
    }

    fn is(&self, password: &str) -> bool {
        digest(self.salt, password) == self.digest
    }
}

fn digest(salt: Uuid, password: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(salt.as_bytes());
    hash.update(password.as_bytes());
    hash.finalize().into()
}

/// New customer whose fields are valid.
#[derive(Clone)]
pub(crate) struct NewCustomer<'a> {
    pub(crate) email: &'a str,
    /// Password; `None` if the customer has not chosen one.
    pub(crate) password: Option<&'a str>,
    pub(crate) first_name: Option<&'a str>,
    pub(crate) last_name: Option<&'a str>,
    pub(crate) phone: Option<&'a str>,
    pub(crate) accepts_marketing: bool,
    pub(crate) state: CustomerState,
}

#[derive(Debug)]
struct Token {
    email: String,
    id: u64,
    expires_at: DateTime<Utc>,
}

#[derive(Default)]
pub(crate) struct Customers {
    by_email: HashMap<String, Customer>,
    tokens: HashMap<String, Token>,
    made: u64,
}

impl std::fmt::Debug for Customers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Customers")
            .field("customers", &self.by_email.len())
            .field("tokens", &self.tokens.len())
            .finish()
    }
}

impl Customers {
    fn next_id(&mut self) -> u64 {
        self.made += 1;
        10_900_000_000_000 + self.made * 32_768
    }

    pub(crate) fn find(&self, email: &str) -> Option<&Customer> {
        self.by_email.get(&email.to_lowercase())
    }

    pub(crate) fn by_id(&self, id: u64) -> Option<&Customer> {
        self.by_email.values().find(|customer| customer.id == id)
    }

    /// Adds a customer, or replaces the one with the same e-mail address. Returns `None` if the store has reached its
    /// maximum.
    pub(crate) fn put(&mut self, new: &NewCustomer<'_>, now: DateTime<Utc>) -> Option<&Customer> {
        let key = new.email.to_lowercase();
        if self.by_email.len() >= CUSTOMERS_MAX && !self.by_email.contains_key(&key) {
            return None;
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let customer = Customer {
            id: self.next_id(),
            email: new.email.to_owned(),
            first_name: owned(new.first_name),
            last_name: owned(new.last_name),
            phone: owned(new.phone),
            accepts_marketing: new.accepts_marketing,
            state: new.state,
            created_at: now,
            secret: new.password.map(Secret::of),
        };
        self.tokens.retain(|_, token| token.email != key);
        self.by_email.insert(key.clone(), customer);
        self.by_email.get(&key)
    }

    /// Returns a token if the password is right. Returns `None` if it is wrong or the customer cannot log in.
    pub(crate) fn log_in(
        &mut self,
        email: &str,
        password: &str,
        now: DateTime<Utc>,
    ) -> Option<(String, DateTime<Utc>)> {
        let customer = self.find(email)?;
        let knows = customer.secret.as_ref().is_some_and(|secret| secret.is(password));
        if !knows || customer.state != CustomerState::Enabled {
            return None;
        }
        if self.tokens.len() >= TOKENS_MAX {
            self.tokens.retain(|_, token| token.expires_at > now);
        }
        if self.tokens.len() >= TOKENS_MAX {
            return None;
        }
        let token = format!("{}", Uuid::new_v4().simple());
        let expires_at = now + TimeDelta::days(TOKEN_DAYS);
        let id = self.next_id();
        let held = Token {
            email: email.to_lowercase(),
            id,
            expires_at,
        };
        self.tokens.insert(token.clone(), held);
        Some((token, expires_at))
    }

    /// Returns the customer of a token, or `None` if the token is expired, deleted or unknown.
    pub(crate) fn of_token(&self, token: &str, now: DateTime<Utc>) -> Option<&Customer> {
        let held = self.tokens.get(token).filter(|held| held.expires_at > now)?;
        let customer = self.by_email.get(&held.email)?;
        (customer.state == CustomerState::Enabled).then_some(customer)
    }

    /// Extends a token by its full lifetime and returns the new time of expiry.
    pub(crate) fn renew(&mut self, token: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.of_token(token, now)?;
        let held = self.tokens.get_mut(token)?;
        held.expires_at = now + TimeDelta::days(TOKEN_DAYS);
        Some(held.expires_at)
    }

    /// Deletes a token and returns the number of its customer.
    pub(crate) fn forget(&mut self, token: &str, now: DateTime<Utc>) -> Option<u64> {
        self.of_token(token, now)?;
        self.tokens.remove(token).map(|held| held.id)
    }
}
