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
    /// Its name in this emulator: what faults are set by.
    pub slug: String,
    /// The address for clients, without a slash at the end.
    pub base_url: String,
    /// The domain that its `meta.json` states: host and port of `base_url`.
    pub domain: String,
    /// Its permanent host, as `meta.json` states it; nothing answers there.
    pub myshopify_domain: String,
    /// The address to connect to, for a client whose resolver does not know the domain.
    pub connect: SocketAddr,
    /// ISO 4217 code of its prices.
    pub currency: String,
    /// The number of products that it lists at epoch 0.
    pub products: u64,
}

/// A store that is running.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) address: StoreAddress,
    pub(crate) catalogue: Catalogue,
    epoch: AtomicU64,
    faults: Mutex<Faults>,
    log: Mutex<Log>,
    /// Places by which [`Fault::ShiftingPages`] has shifted the listing so far.
    shifted: AtomicI64,
    /// When the latest requests came that [`Fault::Throttle`] counts.
    recent: Mutex<VecDeque<Instant>>,
    pub(crate) discounts: Book,
    pub(crate) carts: Mutex<Carts>,
    pub(crate) customers: Mutex<Customers>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) limits: Limits,
    /// True where customers log in by password: the classic accounts.
    has_passwords: AtomicBool,
    /// Rules of delivery by pincode, where it was given some.
    zones: Mutex<Option<ZoneRules>>,
    /// Its shipping habits, in a market where stores differ in them.
    pub(crate) habits: Option<ShippingHabits>,
    /// The review app that it uses.
    pub(crate) widget: Option<ReviewWidget>,
    reviews: Mutex<ReviewBook>,
    function: Mutex<Option<CartFunction>>,
    /// The number of renewals of its token and of the handles of its delivery.
    renewals: AtomicU64,
    /// Requests that it has not begun with, in order.
    delayed: Mutex<Vec<Ask>>,
}

/// Bounds of what a store keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) cart_ttl: Duration,
    pub(crate) carts_max: usize,
}

/// A lock whose holder panicked holds what it held: all of it is valid at any moment.
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
        // Most stores that are not new still have the classic accounts; the first one of a market always.
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
            widget: None,
            reviews: Mutex::default(),
            function: Mutex::default(),
            renewals: AtomicU64::new(0),
            delayed: Mutex::default(),
        }
    }

    /// The product at a place; `None` for a recorded one that lacks what every view needs.
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

    /// Most requests that it keeps for later.
    const DELAYED_MAX: usize = 1_000;

    pub(crate) fn delay(&self, ask: Ask) {
        let mut delayed = lock(&self.delayed);
        if delayed.len() < Self::DELAYED_MAX {
            delayed.push(ask);
        }
    }

    pub(crate) fn take_delayed(&self) -> Vec<Ask> {
        std::mem::take(&mut lock(&self.delayed))
    }

    /// The review app that it uses now.
    pub(crate) fn app(&self) -> Option<ReviewWidget> {
        lock(&self.reviews).app(self.widget)
    }

    /// Its pages carry this app from now on, or none. The one before goes on answering.
    pub(crate) fn use_app(&self, app: Option<ReviewWidget>) {
        lock(&self.reviews).use_app(app);
    }

    /// Its reviews as they stand; `None` where it has no app.
    pub(crate) fn reviews(&self) -> Option<ReviewsTruth> {
        self.app().map(|widget| self.reviews_at(widget))
    }

    /// Its reviews as this app has them.
    pub(crate) fn reviews_at(&self, widget: ReviewWidget) -> ReviewsTruth {
        lock(&self.reviews).truth(&self.catalogue, self.epoch(), widget)
    }

    /// Adds a review of a product, the newest of all; its id, where the store has the product and an app.
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

    /// Shifts the listing and answers by how much it was shifted before.
    pub(crate) fn shift(&self, by: i32) -> i64 {
        self.shifted.fetch_add(i64::from(by), Ordering::AcqRel)
    }

    pub(crate) fn forget_shift(&self) {
        self.shifted.store(0, Ordering::Release);
    }

    /// True where a request now is one too many for the rate; those that are do not count.
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

    /// The fault that this request meets, if any.
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
