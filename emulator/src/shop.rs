use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_model::ReviewWidget;
use serde::Serialize;

use crate::ask::Ask;
use crate::cart::{CartFunction, Carts};
use crate::catalogue::Catalogue;
use crate::clock::Clock;
use crate::customers::Customers;
use crate::discount::Book;
use crate::fault::{Fault, Faults};
use crate::generated::dice::Dice;
use crate::habits::ShippingHabits;
use crate::log::Log;
use crate::product::Product;
use crate::reviews::{ReviewBook, ReviewsTruth};
use crate::zones::ZoneRules;

/// The address and the names of one emulated store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreAddress {
    /// The store's name, as its `meta.json` states it.
    pub name: String,
    /// Slug of the store in this emulator, by which its faults are set.
    pub slug: String,
    /// Base URL for clients, without a trailing slash.
    pub base_url: String,
    /// Domain that the store's `meta.json` states: host and port of `base_url`.
    pub domain: String,
    /// Permanent host of the store, as `meta.json` states it. No server listens there.
    pub myshopify_domain: String,
    /// Socket address to connect to, for a client whose resolver does not know the domain.
    pub connect: SocketAddr,
    /// ISO 4217 code of the currency of the store's prices.
    pub currency: String,
    /// Number of products that the store lists at epoch 0.
    pub products: u64,
}

/// Request that is carried out later.
#[derive(Debug)]
struct DelayedAsk {
    ask: Ask,
    /// Number of requests to answer before this one; `None` until the store catches up.
    requests: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) address: StoreAddress,
    pub(crate) catalogue: Catalogue,
    epoch: AtomicU64,
    faults: Mutex<Faults>,
    log: Mutex<Log>,
    /// Number of places by which [`Fault::ShiftingPages`] has shifted the listing.
    shifted: AtomicI64,
    /// Times of the latest requests that [`Fault::Throttle`] counts.
    recent: Mutex<VecDeque<Instant>>,
    pub(crate) discounts: Book,
    pub(crate) carts: Mutex<Carts>,
    pub(crate) customers: Mutex<Customers>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) limits: Limits,
    /// True for classic accounts, where customers log in by password.
    has_passwords: AtomicBool,
    /// Delivery rules by pincode that were set on demand.
    zones: Mutex<Option<ZoneRules>>,
    /// Shipping habits of the store, in a market where stores differ in them.
    pub(crate) habits: Option<ShippingHabits>,
    /// Share of products whose category the store states, in thousandths.
    pub(crate) categorised: u64,
    /// Review app of the store, chosen by its seed.
    pub(crate) widget: Option<ReviewWidget>,
    reviews: Mutex<ReviewBook>,
    function: Mutex<Option<CartFunction>>,
    /// Number of times that the token and the delivery handles were renewed.
    renewals: AtomicU64,
    delayed: Mutex<Vec<DelayedAsk>>,
}

/// Limits on the data that a store keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) cart_ttl: Duration,
    pub(crate) carts_max: usize,
}

/// Locks a mutex even if a thread panicked with the lock, because the data is valid at all times.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shop {
    pub(crate) fn new(
        address: StoreAddress,
        catalogue: Catalogue,
        epoch: u64,
        clock: Arc<Clock>,
        limits: Limits,
    ) -> Self {
        let persona = catalogue.persona();
        // Most older stores still have classic accounts. The first store of a market always has them.
        let mut dice = Dice::of(&[persona.seed, 0x4143_4354, u64::from(persona.index)]);
        let has_passwords = persona.index == 0 || dice.chance(650);
        Self {
            address,
            catalogue,
            epoch: AtomicU64::new(epoch),
            faults: Mutex::default(),
            log: Mutex::default(),
            shifted: AtomicI64::new(0),
            recent: Mutex::default(),
            discounts: Book::default(),
            carts: Mutex::default(),
            customers: Mutex::default(),
            clock,
            limits,
            has_passwords: AtomicBool::new(has_passwords),
            zones: Mutex::default(),
            habits: None,
            categorised: 0,
            widget: None,
            reviews: Mutex::default(),
            function: Mutex::default(),
            renewals: AtomicU64::new(0),
            delayed: Mutex::default(),
        }
    }

    /// Returns the product at a place, or `None` for a recorded product that lacks a field that every view needs.
    pub(crate) fn product(&self, place: u64) -> Option<Product> {
        Product::read(&self.catalogue, place, self.epoch())
    }

    pub(crate) fn shop_id(&self) -> u64 {
        self.catalogue.persona().shop_id()
    }

    pub(crate) fn zone_rules(&self) -> Option<ZoneRules> {
        *lock(&self.zones)
    }

    pub(crate) fn set_zone_rules(&self, rules: Option<ZoneRules>) {
        *lock(&self.zones) = rules;
    }

    pub(crate) fn has_passwords(&self) -> bool {
        self.has_passwords.load(Ordering::Acquire)
    }

    pub(crate) fn set_passwords(&self, has_passwords: bool) {
        self.has_passwords.store(has_passwords, Ordering::Release);
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Release);
    }

    pub(crate) fn cart_function(&self) -> Option<CartFunction> {
        lock(&self.function).clone()
    }

    pub(crate) fn set_cart_function(&self, function: Option<CartFunction>) {
        *lock(&self.function) = function;
    }

    pub(crate) fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Acquire)
    }

    pub(crate) fn renew(&self) {
        self.renewals.fetch_add(1, Ordering::AcqRel);
    }

    /// Maximum number of deferred requests.
    const DELAYED_MAX: usize = 1_000;

    /// Defers a request until the store has answered `requests` others, or with `None` until the store catches up.
    pub(crate) fn delay(&self, ask: Ask, requests: Option<u32>) {
        let mut delayed = lock(&self.delayed);
        if delayed.len() < Self::DELAYED_MAX {
            delayed.push(DelayedAsk { ask, requests });
        }
    }

    pub(crate) fn take_delayed(&self) -> Vec<Ask> {
        let delayed = std::mem::take(&mut *lock(&self.delayed));
        delayed.into_iter().map(|delayed| delayed.ask).collect()
    }

    /// Counts an answered request, and returns the deferred requests that waited for it.
    pub(crate) fn take_overdue(&self) -> Vec<Ask> {
        let mut delayed = lock(&self.delayed);
        for requests in delayed.iter_mut().filter_map(|delayed| delayed.requests.as_mut()) {
            *requests = requests.saturating_sub(1);
        }
        let overdue = delayed.extract_if(.., |delayed| delayed.requests == Some(0));
        overdue.map(|delayed| delayed.ask).collect()
    }

    pub(crate) fn app(&self) -> Option<ReviewWidget> {
        lock(&self.reviews).app(self.widget)
    }

    /// Switches the app on the store's pages, or removes it. The previous app still responds.
    pub(crate) fn use_app(&self, app: Option<ReviewWidget>) {
        lock(&self.reviews).use_app(app);
    }

    /// Returns the store's current reviews, or `None` without an app.
    pub(crate) fn reviews(&self) -> Option<ReviewsTruth> {
        self.app().map(|widget| self.reviews_at(widget))
    }

    /// Returns the store's reviews as this app states them.
    pub(crate) fn reviews_at(&self, widget: ReviewWidget) -> ReviewsTruth {
        lock(&self.reviews).truth(&self.catalogue, self.epoch(), widget)
    }

    /// Adds a review of a product as the newest one. Returns its id, or `None` if the store lacks the product or an
    /// app.
    pub(crate) fn add_review(&self, handle: &str, stars: u8, text: &str) -> Option<String> {
        let widget = self.app()?;
        let product = self.product(self.catalogue.find(handle, self.epoch())?)?;
        Some(lock(&self.reviews).add(widget, product, stars, text))
    }

    pub(crate) fn edit_review(&self, id: &str, stars: u8, text: &str) {
        lock(&self.reviews).edit(id, stars, text);
    }

    pub(crate) fn delete_review(&self, id: &str) {
        lock(&self.reviews).delete(id);
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        lock(&self.faults)
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    /// Shifts the listing and returns the previous shift.
    pub(crate) fn shift(&self, by: i32) -> i64 {
        self.shifted.fetch_add(i64::from(by), Ordering::AcqRel)
    }

    pub(crate) fn forget_shift(&self) {
        self.shifted.store(0, Ordering::Release);
    }

    /// True if a request now exceeds the rate. Refused requests do not count.
    pub(crate) fn is_above(&self, per_second: u32) -> bool {
        let now = Instant::now();
        let mut recent = lock(&self.recent);
        while recent
            .front()
            .is_some_and(|first| now.duration_since(*first) >= Duration::from_secs(1))
        {
            recent.pop_front();
        }
        if recent.len() >= per_second as usize {
            return true;
        }
        recent.push_back(now);
        false
    }

    /// Returns the fault of this request, if any.
    pub(crate) fn meet(&self, path: &str, page: u32, body: &[u8]) -> Option<Fault> {
        let fault = self.faults().meet(path, page, body)?;
        match fault {
            Fault::Throttle {
                per_second,
                retry_after_s,
            } => self.is_above(per_second).then_some(Fault::Status {
                status: 429,
                retry_after_s,
            }),
            other => Some(other),
        }
    }
}
