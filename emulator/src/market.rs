use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use data_model::ReviewWidget;

use crate::address::ip_of;
use crate::catalogue::{Catalogue, Goods};
use crate::clock::Clock;
use crate::config::{Addressing, EmulatorConfig, Source};
use crate::generated::dice::{Dice, fold};
use crate::generated::{GeneratedCatalogue, Maker, Persona, ResoldGoods, Step, split};
use crate::habits::ShippingHabits;
use crate::recorded::{RecordedCatalogue, RecordedStore, load};
use crate::shop::{Limits, Shop, StoreAddress};
use crate::{Drift, EmulatorError};

/// Maximum number of products in all generated stores, which the ids limit.
const PRODUCTS_MAX: u64 = 10_000_000;

/// All stores, and the state that they share.
#[derive(Debug)]
pub(crate) struct Market {
    pub(crate) shops: Vec<Arc<Shop>>,
    pub(crate) by_slug: HashMap<String, usize>,
    pub(crate) config: EmulatorConfig,
    pub(crate) started: Instant,
    pub(crate) clock: Arc<Clock>,
    seed: u64,
}

/// Store that has no address yet.
pub(crate) enum Stall {
    Recorded(Box<RecordedStore>),
    Generated {
        persona: Box<Persona>,
        size: u64,
        offset: u64,
        slots: u64,
        resold: ResoldGoods,
    },
}

impl Stall {
    pub(crate) fn slug(&self) -> &str {
        match self {
            Self::Recorded(store) => &store.slug,
            Self::Generated { persona, .. } => &persona.slug,
        }
    }
}

/// Loads or generates the stores.
pub(crate) fn stalls(source: &Source) -> Result<Vec<Stall>, EmulatorError> {
    match source {
        Source::Recorded(folder) => Ok(load(folder)?
            .into_iter()
            .map(|store| Stall::Recorded(Box::new(store)))
            .collect()),
        Source::Generated { products, stores, seed } => {
            if *stores == 0 {
                return Err(EmulatorError::NoStores {
                    place: "none asked for".to_owned(),
                });
            }
            if *products > PRODUCTS_MAX {
                return Err(EmulatorError::TooMany {
                    what: "products",
                    asked: *products,
                    most: PRODUCTS_MAX,
                });
            }
            let mut taken = HashSet::new();
            let mut offset = 0;
            let sizes = shuffled(split(*products, *stores), *seed).into_iter().zip(0..);
            Ok(sizes
                .map(|(size, index)| {
                    let persona = Box::new(Persona::draw(*seed, index, &mut taken));
                    offset += size;
                    Stall::Generated {
                        persona,
                        size,
                        offset: offset - size,
                        slots: *products,
                        resold: ResoldGoods::default(),
                    }
                })
                .collect())
        }
    }
}

/// Maximum number of makers whose products one store resells.
const MAKERS_MAX: usize = 8;

/// Makes the last `count` stores resell products of earlier stores with the same currency.
pub(crate) fn resell(stalls: &mut [Stall], count: u32) {
    let first = stalls.len().saturating_sub(count as usize);
    let (makers, resellers) = stalls.split_at_mut(first);
    for reseller in resellers {
        let Stall::Generated { persona, resold, .. } = reseller else {
            continue;
        };
        let mut dice = Dice::of(&[persona.seed, 0x5253_4c4c, u64::from(persona.index)]);
        let mut found: Vec<(u64, Maker)> = makers
            .iter()
            .filter_map(|maker| match maker {
                Stall::Generated {
                    persona: maker, size, ..
                } if maker.coin.code == persona.coin.code => {
                    let (persona, size) = (Persona::clone(maker), *size);
                    Some((dice.next(), Maker { persona, size }))
                }
                _ => None,
            })
            .collect();
        found.sort_unstable_by_key(|(drawn, _)| *drawn);
        found.truncate(MAKERS_MAX);
        *resold = ResoldGoods::of(found.into_iter().map(|(_, maker)| maker).collect());
    }
}

/// Shuffles the store sizes by the seed, so that large stores are not all at the start.
fn shuffled(mut sizes: Vec<u64>, seed: u64) -> Vec<u64> {
    let mut dice = Dice::of(&[seed, 0x5348_5546]);
    for end in (1..sizes.len()).rev() {
        sizes.swap(end, dice.below(end as u64 + 1) as usize);
    }
    sizes
}

impl Market {
    /// Opens the stores at their addresses. `listeners` contains one address for each store, or one for all.
    pub(crate) fn open(stalls: Vec<Stall>, listeners: &[SocketAddr], config: EmulatorConfig) -> Self {
        let seed = match config.source {
            Source::Generated { seed, .. } => seed,
            Source::Recorded(_) => 0,
        };
        let mut market = Self {
            shops: Vec::with_capacity(stalls.len()),
            by_slug: HashMap::new(),
            config,
            started: Instant::now(),
            clock: Arc::default(),
            seed,
        };
        for (stall, index) in stalls.into_iter().zip(0_u32..) {
            let listener = listeners
                .get(index as usize)
                .or(listeners.first())
                .copied()
                .unwrap_or(market.config.bind);
            let epoch = market.store_epoch(index, market.config.epoch);
            let shop = open(stall, index, listener, &market, epoch);
            market.by_slug.insert(shop.address.slug.clone(), index as usize);
            market.shops.push(Arc::new(shop));
        }
        market
    }

    /// Returns the epoch of a store when the market is at `epoch`. For example, a store that changes in one epoch of
    /// ten is at a tenth of it.
    pub(crate) fn store_epoch(&self, index: u32, epoch: u64) -> u64 {
        let phase = fold(&[self.seed, 0x4550, u64::from(index)]);
        Step::at(epoch, self.config.drift.stores, phase).count
    }
}

/// Possible shares of a store's products with a category, in thousandths.
const CATEGORISED: &[u64] = &[0, 0, 600, 1000, 1000];

/// Returns the review app of the store with this index. Four apps alternate, and every fifth store has none.
fn widget_of(index: u32) -> Option<ReviewWidget> {
    ReviewWidget::ALL.get(index as usize % 5).copied()
}

fn open(stall: Stall, index: u32, listener: SocketAddr, market: &Market, epoch: u64) -> Shop {
    let config = &market.config;
    let slug = stall.slug().to_owned();
    let (host, connect) = match config.addressing {
        Addressing::IpPerStore => (
            ip_of(index).to_string(),
            SocketAddr::from((ip_of(index), listener.port())),
        ),
        Addressing::PortPerStore if listener.is_ipv6() => (format!("[{}]", listener.ip()), listener),
        Addressing::PortPerStore => (listener.ip().to_string(), listener),
        Addressing::HostPerStore => (format!("{slug}.localhost"), listener),
    };
    let domain = format!("{host}:{}", connect.port());
    let base_url = format!("http://{domain}");
    let (catalogue, name, myshopify_domain, currency) = stock(stall, index, &base_url, config);
    let products = catalogue.places(0).len();
    let address = StoreAddress {
        name,
        slug,
        base_url,
        domain,
        myshopify_domain,
        connect,
        currency,
        products,
    };
    let limits = Limits {
        cart_ttl: config.cart_ttl,
        carts_max: config.carts_max,
    };
    let mut shop = Shop::new(address, catalogue, epoch, Arc::clone(&market.clock), limits);
    shop.widget = config.widgets.then(|| widget_of(index)).flatten();
    let is_varied =
        config.varied_shipping && shop.catalogue.is_generated() && shop.catalogue.persona().coin.country == "IN";
    shop.habits = is_varied.then(|| ShippingHabits::draw(market.seed, index));
    if config.categories && shop.catalogue.is_generated() {
        shop.categorised = Dice::of(&[market.seed, 0x4341_5445, u64::from(index)]).pick(CATEGORISED);
    }
    shop
}

fn stock(stall: Stall, index: u32, base_url: &str, config: &EmulatorConfig) -> (Catalogue, String, String, String) {
    let drift: Drift = config.drift;
    match stall {
        Stall::Generated {
            persona,
            size,
            offset,
            slots,
            resold,
        } => {
            let (name, slug) = (persona.name.clone(), persona.slug.clone());
            let currency = persona.coin.code.to_owned();
            let generated = GeneratedCatalogue::new(*persona, size, offset, slots, drift, base_url).reselling(resold);
            (
                Catalogue::new(Goods::Generated(generated)),
                name,
                format!("{slug}.myshopify.com"),
                currency,
            )
        }
        Stall::Recorded(store) => {
            let currency = store
                .currency
                .clone()
                .unwrap_or_else(|| config.recorded_currency.clone());
            let host = store
                .myshopify_domain
                .clone()
                .unwrap_or_else(|| format!("{}.myshopify.com", store.slug));
            let persona = Persona::stand_in(&store.name, &store.slug, &currency, index);
            let stand_in = GeneratedCatalogue::new(persona, 0, 0, 1, drift, base_url);
            let name = store.name.clone();
            let recorded = Box::new(RecordedCatalogue::new(*store, drift));
            (
                Catalogue::new(Goods::Recorded { recorded, stand_in }),
                name,
                host,
                currency,
            )
        }
    }
}
