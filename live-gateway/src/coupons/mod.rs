//! Working discount codes: candidates are tested on a cart of one item at the brand's own store.
//!
//! In: a product or a brand; a catalogue and [`Shops`] that return the store, its products and the codes that the store
//! itself states. Out: codes that the store accepted, with the discounts that it reported, and the untested candidates
//! with reasons.
//!
//! Pure decisions are in separate files. `candidates` selects codes that are worth testing. `plan` groups codes that
//! are entered together and interprets the responses. `effect` finds the kind of a discount.
//!
//! Only stores of brands in the release are queried. Each server runs at most one test per store at a time, and
//! responds within its budget.

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

/// Dependencies of the code finder.
#[derive(Debug, Clone)]
pub struct FinderDeps {
    /// Catalogue that maps a product to its store.
    pub catalogue: Arc<dyn Catalogue>,
    /// Source of the known brands.
    pub shops: Arc<dyn Shops>,
    /// Client of the stores.
    pub storefront: Storefront,
    /// State that stores outcomes.
    pub state: State,
    /// Ledger of test results for shoppers without a cart; `None` if no results are recorded.
    pub ledger: Option<Arc<dyn TestLedger>>,
    /// Clock for test times and expiry.
    pub clock: Arc<dyn Clock>,
}

/// Finder of working codes; cheap to clone.
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
    /// Permits for stores at which codes are tested concurrently.
    places: Semaphore,
}

impl Finder {
    /// Creates a finder. No request is sent yet.
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
