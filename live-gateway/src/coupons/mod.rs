//! Discount codes that work: candidates are tested at a cart of one item at the brand's own store.
//!
//! In: a product or a brand; a catalogue and [`Shops`] that say what the store is, what it sells and which codes it states
//! itself. Out: codes that the store itself called applicable, with what it said they take off, and which candidates were
//! not tested, and why.
//!
//! Decisions without a store are pure and lie in files of their own: the codes that are worth testing (`candidates`), those
//! that are entered together and the proof that follows (`plan`), the sort of a discount (`effect`).
//!
//! It never calls a code applicable that the store did not call so, never asks a store of which the release has no brand,
//! never asks one store twice at the same time, and never answers later than its budget.

mod candidates;
mod config;
mod effect;
mod exam;
mod find;
mod ledger;
mod memory;
mod plan;
mod reason;
pub mod schema;
mod shops;
mod suggest;
mod testing;

use std::sync::Arc;

use data_model::Clock;
use state::State;
use storefront::Storefront;
use tokio::sync::Semaphore;

use self::memory::{MemoryContext, Slots};
use crate::catalogue::Catalogue;

pub use self::config::{CouponAddress, CouponsConfig};
pub use self::find::{CouponsError, CouponsFound, CouponsOf, CouponsRequest, FoundCoupon};
pub use self::ledger::TestLedger;
pub use self::reason::UntestedReason;
pub use self::shops::{HttpShops, ShopKey, Shops};
pub use self::testing::TestItem;

/// The things that codes are found with.
#[derive(Debug, Clone)]
pub struct FinderDeps {
    /// The catalogue, which knows the store that sells a product.
    pub catalogue: Arc<dyn Catalogue>,
    /// The brands that there are.
    pub shops: Arc<dyn Shops>,
    /// The client of the stores.
    pub storefront: Storefront,
    /// The memory of outcomes.
    pub state: State,
    /// The ledger of what stores said, for shoppers who have no cart yet; `None`: they are not told.
    pub ledger: Option<Arc<dyn TestLedger>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Finds codes that work; cheap to clone.
#[derive(Debug, Clone)]
pub struct Finder(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    catalogue: Arc<dyn Catalogue>,
    shops: Arc<dyn Shops>,
    storefront: Storefront,
    state: State,
    ledger: Option<Arc<dyn TestLedger>>,
    clock: Arc<dyn Clock>,
    config: CouponsConfig,
    slots: Slots,
    /// Stores at which codes may be tested at the same time.
    places: Semaphore,
}

impl Finder {
    /// A finder that has asked nothing yet.
    #[must_use]
    pub fn new(deps: FinderDeps, config: CouponsConfig) -> Self {
        let places = Semaphore::new(config.stores_at_once_max.clamp(1, Semaphore::MAX_PERMITS));
        let FinderDeps {
            catalogue,
            shops,
            storefront,
            state,
            ledger,
            clock,
        } = deps;
        Self(Arc::new(Inner {
            catalogue,
            shops,
            storefront,
            state,
            ledger,
            clock,
            config,
            slots: Slots::default(),
            places,
        }))
    }

    fn memory(&self) -> MemoryContext<'_> {
        MemoryContext {
            state: &self.0.state,
            clock: self.0.clock.as_ref(),
            config: &self.0.config,
        }
    }
}
