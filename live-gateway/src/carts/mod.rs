//! Carts over several stores: one id for a set of carts, with one cart at each brand's store.
//!
//! In: a caller and the requested changes. Out: the cart as the stores report it. The cart's record is stored sealed in
//! the state. The wanted state of a store's cart is stored before the cart is changed, so that after a crash or a lost
//! response, any server can bring the cart to that state without adding an item twice.

mod candidates;
mod change;
mod first_look;
mod hold;
mod looks;
mod operations;
mod reads;
mod settle;
mod settled;
mod taken_in;

use std::sync::Arc;

use data_model::{Clock, StoredBrand};
use state::{MasterKeys, State};
use storefront::Storefront;
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub use self::candidates::{CouponCandidates, NoCandidates, TriedCode};
pub(crate) use self::change::Intent;
use self::looks::Looks;
pub(crate) use self::operations::Item;
use self::reads::Reads;
use crate::accounts::Accounts;
use crate::cart_client::{CartClient, CartError};
use crate::cart_context::CartContext;
use crate::catalogue::Catalogue;
use crate::config::CartConfig;

/// Dependencies of carts, checkouts and accounts in addition to those of a gateway: the shared state, and the master
/// keys that seal its records.
#[derive(Debug, Clone)]
pub struct CartDependencies {
    state: State,
    keys: Arc<MasterKeys>,
    config: CartConfig,
    candidates: Arc<dyn CouponCandidates>,
}

impl CartDependencies {
    /// Creates the dependencies of carts that are stored in `state` and sealed with `keys`. No request is sent and
    /// nothing is written.
    #[must_use]
    pub fn new(state: State, keys: MasterKeys, config: CartConfig) -> Self {
        Self {
            state,
            keys: Arc::new(keys),
            config,
            candidates: Arc::new(NoCandidates),
        }
    }

    /// Sets the source of codes to try. Without it, only codes that are already in a cart are tried.
    #[must_use]
    pub fn with_candidates(self, candidates: Arc<dyn CouponCandidates>) -> Self {
        Self { candidates, ..self }
    }
}

/// Operations on carts; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Carts {
    pub(crate) context: Arc<CartContext>,
    pub(crate) accounts: Accounts,
    candidates: Arc<dyn CouponCandidates>,
    reads: Arc<Reads>,
    looks: Arc<Looks>,
}

impl Carts {
    pub(crate) fn new(
        dependencies: CartDependencies,
        catalogue: Arc<dyn Catalogue>,
        storefront: Storefront,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let places = dependencies.config.stores_at_once_max.clamp(1, Semaphore::MAX_PERMITS);
        let context = Arc::new(CartContext {
            state: dependencies.state,
            keys: dependencies.keys,
            config: dependencies.config,
            catalogue,
            storefront,
            clock,
            places: Semaphore::new(places),
        });
        Self {
            accounts: Accounts::new(Arc::clone(&context)),
            context,
            candidates: dependencies.candidates,
            reads: Arc::default(),
            looks: Arc::default(),
        }
    }

    /// Returns a client of the carts at a brand's store for `caller`.
    fn client(&self, brand: &StoredBrand, caller: &str, deadline: Instant) -> Result<CartClient, CartError> {
        Ok(CartClient::new(self.context.store(brand, caller, deadline)?))
    }
}
