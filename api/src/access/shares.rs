use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Caller, CallerId, ClientNetwork};

/// Limited number of slots. Each caller and each client network may use only a share, so that no single caller takes
/// all slots.
#[derive(Debug)]
pub(crate) struct Shares {
    all_max: usize,
    per_client_max: usize,
    held: Mutex<TakenPlaces>,
}

#[derive(Debug, Default)]
struct TakenPlaces {
    all: usize,
    by: HashMap<Holder, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    Caller(CallerId),
    Network(ClientNetwork),
}

/// Reason why no slot is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    Share,
    All,
}

/// One slot, which is released on drop.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Arc<Shares>,
    holders: Vec<Holder>,
}

impl Shares {
    pub(crate) fn new(all_max: usize, per_client_max: usize) -> Arc<Self> {
        Arc::new(Self {
            all_max,
            per_client_max,
            held: Mutex::default(),
        })
    }

    /// Takes a slot for `caller` from `network`. The slot counts for the caller, the network and the networks around
    /// it.
    pub(crate) fn take(self: &Arc<Self>, caller: &Caller, network: Option<ClientNetwork>) -> Result<Share, Full> {
        let known = caller.known().map(|known| (Holder::Caller(known.id.clone()), 1));
        let levels = network.into_iter().flat_map(ClientNetwork::levels);
        let networks = levels.map(|(network, times)| (Holder::Network(network), times.get() as usize));
        let holders: Vec<_> = known.into_iter().chain(networks).collect();
        let mut held = self.held();
        if held.all >= self.all_max {
            return Err(Full::All);
        }
        let has_share = |(holder, times): &(Holder, usize)| {
            let taken = held.by.get(holder).copied().unwrap_or(0);
            taken < self.per_client_max.saturating_mul(*times)
        };
        if !holders.iter().all(has_share) {
            return Err(Full::Share);
        }
        held.all += 1;
        let holders: Vec<_> = holders.into_iter().map(|(holder, _)| holder).collect();
        for holder in &holders {
            *held.by.entry(holder.clone()).or_default() += 1;
        }
        drop(held);
        let shares = Arc::clone(self);
        Ok(Share { shares, holders })
    }

    fn held(&self) -> MutexGuard<'_, TakenPlaces> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.shares.held();
        held.all -= 1;
        for holder in &self.holders {
            if let Some(taken) = held.by.get_mut(holder) {
                *taken -= 1;
                if *taken == 0 {
                    held.by.remove(holder);
                }
            }
        }
    }
}
