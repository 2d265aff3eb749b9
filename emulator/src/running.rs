mod widgets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::address::check;
use crate::cart::CartFunction;
use crate::cart_service::CartService;
use crate::catalogue::Goods;
use crate::change::{Change, ChangeTarget};
use crate::config::{Addressing, EmulatorConfig};
use crate::connection::ConnectionContext;
use crate::control;
use crate::customers::{CustomerState, NewCustomer};
use crate::discount::{BasketLine, BasketTruth, DiscountRule, DiscountVerdict};
use crate::fault::{Fault, FaultRule, Lie};
use crate::habits::ShippingHabits;
use crate::item::Item;
use crate::log::Requests;
use crate::market::{Market, resell, stalls};
use crate::serve;
use crate::server::{accept, listen};
use crate::shop::{Shop, StoreAddress, lock};
use crate::tokens::tokens;
use crate::widgets::{WidgetHost, serve_widget};
use crate::zones::ZoneRules;
use crate::{EmulatorError, Source};

/// Time that open connections may continue after the stop.
const GRACE: Duration = Duration::from_secs(2);

/// Starts emulated stores.
#[derive(Debug)]
pub struct Emulator;

impl Emulator {
    /// Loads or generates the stores, opens the sockets, and serves requests in tasks of the current tokio runtime.
    pub async fn start(config: EmulatorConfig) -> Result<RunningStores, EmulatorError> {
        if let Source::Generated { stores, .. } = config.source {
            check(config.addressing, config.bind, u64::from(stores))?;
        }
        let mut stalls = stalls(&config.source)?;
        resell(&mut stalls, config.resellers);
        check(config.addressing, config.bind, stalls.len() as u64)?;
        let listeners = listen(&config, stalls.len())?;
        let addresses = listeners
            .iter()
            .map(|listener| {
                let broken = |source| EmulatorError::Listen {
                    address: config.bind,
                    source,
                };
                listener.local_addr().map_err(broken)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let port_per_store = config.addressing == Addressing::PortPerStore;
        let market = Arc::new(Market::open(stalls, &addresses, config));
        let context = ConnectionContext {
            market: Arc::clone(&market),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            open: Arc::new(AtomicUsize::new(0)),
        };
        for (nth, listener) in listeners.into_iter().enumerate() {
            context
                .tasks
                .spawn(accept(context.clone(), listener, port_per_store.then_some(nth)));
        }
        let mut widgets = Vec::new();
        if market.config.widgets {
            for (host, listener) in crate::widgets::listen().await? {
                widgets.push(Arc::clone(&host));
                context.tasks.spawn(serve_widget(context.clone(), host, listener));
            }
        }
        let ConnectionContext { tasks, stop, .. } = context;
        Ok(RunningStores {
            widgets,
            market,
            tasks,
            stop: stop.drop_guard(),
        })
    }
}

/// Running emulated stores. Dropping this value stops them.
#[derive(Debug)]
pub struct RunningStores {
    widgets: Vec<Arc<WidgetHost>>,
    market: Arc<Market>,
    tasks: TaskTracker,
    stop: DropGuard,
}

impl RunningStores {
    /// Returns the address of every store, in the order of the stores.
    #[must_use]
    pub fn stores(&self) -> Vec<StoreAddress> {
        self.market.shops.iter().map(|shop| shop.address.clone()).collect()
    }

    /// Returns the slugs of recorded stores whose currency no `meta.json` states, so that
    /// [`EmulatorConfig::recorded_currency`](crate::EmulatorConfig::recorded_currency) is used.
    #[must_use]
    pub fn stores_of_assumed_currency(&self) -> Vec<String> {
        let assumed = self.market.shops.iter().filter(|shop| match &shop.catalogue.goods {
            Goods::Recorded { recorded, .. } => recorded.store.currency.is_none(),
            Goods::Generated(_) => false,
        });
        assumed.map(|shop| shop.address.slug.clone()).collect()
    }

    /// Returns the address of one store.
    pub fn store(&self, slug: &str) -> Result<StoreAddress, EmulatorError> {
        self.shop(slug).map(|shop| shop.address.clone())
    }

    fn shop(&self, slug: &str) -> Result<&Shop, EmulatorError> {
        let unknown = || EmulatorError::UnknownStore { slug: slug.to_owned() };
        let index = *self.market.by_slug.get(slug).ok_or_else(unknown)?;
        self.market.shops.get(index).map(AsRef::as_ref).ok_or_else(unknown)
    }

    /// Sets the only fault of a store and replaces earlier faults. `None` removes all faults.
    pub fn set_fault(&self, slug: &str, fault: impl Into<Option<Fault>>) -> Result<(), EmulatorError> {
        self.set_faults(slug, fault.into().map(FaultRule::from))
    }

    /// Replaces the faults of a store. The first matching fault applies to a request.
    pub fn set_faults(&self, slug: &str, rules: impl IntoIterator<Item = FaultRule>) -> Result<(), EmulatorError> {
        let shop = self.shop(slug)?;
        shop.forget_shift();
        shop.faults().replace(rules.into_iter().collect());
        Ok(())
    }

    /// Carries out the requests that [`Fault::Delayed`] and [`Fault::Late`] deferred, and returns their number.
    pub fn catch_up(&self, slug: &str) -> Result<usize, EmulatorError> {
        self.shop(slug).map(serve::catch_up)
    }

    /// Gives a store a new public token, and new handles to its delivery options.
    pub fn renew(&self, slug: &str) -> Result<(), EmulatorError> {
        self.shop(slug)?.renew();
        Ok(())
    }

    /// Sets the app function that changes a store's carts after every change, or removes it.
    pub fn set_cart_function(&self, slug: &str, function: Option<CartFunction>) -> Result<(), EmulatorError> {
        self.shop(slug)?.set_cart_function(function);
        Ok(())
    }

    /// Moves every store to an epoch, forward or back. Prices, products and stock change.
    pub fn advance(&self, epoch: u64) {
        for (shop, index) in self.market.shops.iter().zip(0..) {
            shop.set_epoch(self.market.store_epoch(index, epoch));
        }
    }

    /// Moves one store to its own epoch, until the next [`RunningStores::advance`].
    pub fn advance_store(&self, slug: &str, epoch: u64) -> Result<(), EmulatorError> {
        self.shop(slug)?.set_epoch(epoch);
        Ok(())
    }

    /// Applies a change to a store, immediately and in every view.
    pub fn change(&self, slug: &str, change: Change) -> Result<ChangeTarget, EmulatorError> {
        control::make(self.shop(slug)?, change).map_err(|source| EmulatorError::Change {
            slug: slug.to_owned(),
            source,
        })
    }

    /// Sets the price of a variant, or of every variant of a product, to a decimal text in the store's currency.
    pub fn reprice(&self, slug: &str, item: impl Into<Item>, price: &str) -> Result<ChangeTarget, EmulatorError> {
        let (item, price) = (item.into(), price.to_owned());
        self.change(slug, Change::Reprice { item, price })
    }

    /// Sets the stock of a variant, or of every variant of a product, in units.
    pub fn set_stock(&self, slug: &str, item: impl Into<Item>, quantity: i64) -> Result<ChangeTarget, EmulatorError> {
        let item = item.into();
        self.change(slug, Change::SetStock { item, quantity })
    }

    /// Removes the product from every view.
    pub fn remove_product(&self, slug: &str, item: impl Into<Item>) -> Result<ChangeTarget, EmulatorError> {
        self.change(slug, Change::RemoveProduct { item: item.into() })
    }

    /// Undoes every change made to a store.
    pub fn restore(&self, slug: &str) -> Result<(), EmulatorError> {
        self.change(slug, Change::Restore { item: None }).map(drop)
    }

    /// Returns a Storefront token of a store with every read scope, as a merchant would issue it. The token in the
    /// store's pages cannot read stock.
    pub fn storefront_token(&self, slug: &str) -> Result<String, EmulatorError> {
        self.shop(slug).map(|shop| tokens(shop).merchant)
    }

    /// Returns every true discount of a store, including automatic ones, for comparison with those that a client finds.
    pub fn discounts(&self, slug: &str) -> Result<Vec<DiscountRule>, EmulatorError> {
        let shop = self.shop(slug)?;
        Ok(shop.discounts.all(&shop.catalogue).as_ref().clone())
    }

    /// Replaces all discounts of a store.
    pub fn set_discounts(
        &self,
        slug: &str,
        rules: impl IntoIterator<Item = DiscountRule>,
    ) -> Result<(), EmulatorError> {
        let shop = self.shop(slug)?;
        shop.discounts.set(&shop.catalogue, Vec::new());
        for rule in rules {
            self.add_discount(slug, rule)?;
        }
        Ok(())
    }

    /// Sets the rules for delivery within the store's country; `None` resets them to the store's own.
    pub fn set_zone_rules(&self, slug: &str, rules: Option<ZoneRules>) -> Result<(), EmulatorError> {
        self.shop(slug)?.set_zone_rules(rules);
        Ok(())
    }

    /// Returns a store's true shipping habits. Returns `None` without
    /// [`EmulatorConfig::varied_shipping`](crate::EmulatorConfig::varied_shipping), or if the store is not in India.
    pub fn shipping_habits(&self, slug: &str) -> Result<Option<ShippingHabits>, EmulatorError> {
        self.shop(slug).map(|shop| shop.habits.clone())
    }

    /// Adds a discount to a store, or replaces the one with the same code or title.
    pub fn add_discount(&self, slug: &str, rule: DiscountRule) -> Result<(), EmulatorError> {
        self.change(slug, Change::AddDiscount { rule }).map(drop)
    }

    /// Removes the discount with this code or title.
    pub fn remove_discount(&self, slug: &str, name: &str) -> Result<(), EmulatorError> {
        let name = name.to_owned();
        self.change(slug, Change::RemoveDiscount { name }).map(drop)
    }

    /// Returns the true price of a basket, and the effect of these codes entered together. The buyer is not logged in
    /// and has chosen no delivery. As in a cart, out-of-stock units and unknown variants are left out.
    pub fn truth<'c>(
        &self,
        slug: &str,
        basket: &[BasketLine],
        codes: impl IntoIterator<Item = &'c str>,
    ) -> Result<BasketTruth, EmulatorError> {
        let lie = Lie::default();
        let service = CartService::new(self.shop(slug)?, &lie);
        let codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
        Ok(service.truth(basket, codes))
    }

    /// Returns every code of a store with its effect alone on a basket, the best first. A search for codes cannot find
    /// a better result.
    pub fn verdicts(&self, slug: &str, basket: &[BasketLine]) -> Result<Vec<DiscountVerdict>, EmulatorError> {
        let codes = self.discounts(slug)?.into_iter().filter_map(|rule| rule.code);
        let mut verdicts = Vec::new();
        for code in codes {
            verdicts.extend(self.truth(slug, basket, [code.as_str()])?.codes);
        }
        verdicts.sort_by_key(|verdict| (!verdict.applicable, std::cmp::Reverse(verdict.discount_minor)));
        Ok(verdicts)
    }

    /// Returns how often a store carried out each field of the GraphQL query and mutation types, by field name.
    pub fn calls(&self, slug: &str) -> Result<BTreeMap<String, u64>, EmulatorError> {
        Ok(self.shop(slug)?.log().calls())
    }

    /// Returns the number of carts of a store.
    pub fn carts(&self, slug: &str) -> Result<usize, EmulatorError> {
        Ok(lock(&self.shop(slug)?.carts).len())
    }

    /// Adds a customer to a store, or replaces the one with the same e-mail address. `password` is `None` for a
    /// customer who has not chosen one.
    pub fn add_customer(
        &self,
        slug: &str,
        email: &str,
        password: Option<&str>,
        state: CustomerState,
    ) -> Result<(), EmulatorError> {
        let shop = self.shop(slug)?;
        let new = NewCustomer {
            email,
            password,
            first_name: None,
            last_name: None,
            phone: None,
            accepts_marketing: false,
            state,
        };
        lock(&shop.customers).put(&new, shop.clock.now());
        Ok(())
    }

    /// True if a store's customers log in by password, which only classic accounts support.
    pub fn has_passwords(&self, slug: &str) -> Result<bool, EmulatorError> {
        self.shop(slug).map(Shop::has_passwords)
    }

    /// Switches a store to classic accounts, or to newer accounts, which have no passwords.
    pub fn set_passwords(&self, slug: &str, has_passwords: bool) -> Result<(), EmulatorError> {
        self.shop(slug)?.set_passwords(has_passwords);
        Ok(())
    }

    /// Moves the clock forward by which carts, tokens and discounts expire.
    pub fn advance_clock(&self, by: Duration) {
        self.market.clock.advance(by);
    }

    /// Returns the log of requests to a store since the start.
    pub fn requests(&self, slug: &str) -> Result<Requests, EmulatorError> {
        Ok(self.shop(slug)?.log().all())
    }

    /// Stops listening, lets running requests finish, and closes all connections.
    pub async fn shutdown(self) {
        drop(self.stop);
        self.tasks.close();
        if tokio::time::timeout(GRACE, self.tasks.wait()).await.is_err() {
            tracing::debug!("connections were still open when the emulator ended");
        }
    }
}
