use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::AddressRanges;
use crate::ClientNetwork;

/// Table of open connections by address. Each address has a maximum number. An idle connection is closed when another
/// client waits for a slot.
#[derive(Debug)]
pub(super) struct Holders {
    per_address_max: usize,
    trusted: AddressRanges,
    closing: CancellationToken,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    held: HashMap<ClientNetwork, AddressConnections>,
    /// Number of connections by surrounding network, without those of trusted proxies.
    around: HashMap<ClientNetwork, usize>,
    warned: Option<Instant>,
}

/// Connections of one address, the oldest first.
#[derive(Debug)]
struct AddressConnections {
    trusted: bool,
    connections: BTreeMap<u64, Arc<State>>,
}

#[derive(Debug)]
pub(super) struct State {
    /// Token for closing the connection after its current response, to free its slot or because the server stops.
    pub(super) leave: CancellationToken,
    asked: AtomicBool,
    answering: AtomicUsize,
}

impl AddressConnections {
    /// Counts the connections that were not asked to close.
    fn staying(&self) -> usize {
        let states = self.connections.values();
        states.filter(|state| !state.asked.load(Ordering::Relaxed)).count()
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.answering.load(Ordering::Relaxed) == 0 && !self.asked.load(Ordering::Relaxed)
    }
}

/// Entry of a connection in the table, which is removed on drop.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) state: Arc<State>,
    holders: Arc<Holders>,
    holder: ClientNetwork,
    id: u64,
}

/// Mark of a running request. The connection is not idle until the mark is dropped.
#[derive(Debug)]
pub(super) struct BusyGuard(Arc<State>);

/// Interval between log lines about refused connections.
const WARNING_EVERY: Duration = Duration::from_secs(60);

impl Holders {
    /// Creates an empty table. `closing` is cancelled when all connections must close.
    pub(super) fn new(per_address_max: usize, trusted: AddressRanges, closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            per_address_max,
            trusted,
            closing,
            table: Mutex::default(),
        })
    }

    /// True if an address has reached its maximum number of connections. Each refusal is counted, and logged at
    /// intervals.
    pub(super) fn refuses(&self, address: IpAddr) -> bool {
        let holder = ClientNetwork::of(address);
        let mut table = self.table();
        let held = table.held.get(&holder).map_or(0, |held| held.connections.len());
        let has_share = held < self.per_address_max
            && holder.around().all(|(network, times)| {
                let held = table.around.get(&network).copied().unwrap_or(0);
                held < self.per_address_max.saturating_mul(times.get() as usize)
            });
        if has_share || self.trusted.contains(address) {
            return false;
        }
        metrics::counter!("http_connections_refused_total").increment(1);
        let now = Instant::now();
        if table.warned.is_none_or(|before| now - before >= WARNING_EVERY) {
            table.warned = Some(now);
            tracing::warn!(
                address = %holder,
                connections = held,
                "an address has reached its limit of connections, and further ones are closed; if the address is a \
                 proxy, add it to the trusted proxies"
            );
        }
        true
    }

    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Seat {
        let holder = ClientNetwork::of(address);
        let state = Arc::new(State {
            leave: self.closing.child_token(),
            asked: AtomicBool::new(false),
            answering: AtomicUsize::new(0),
        });
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        let held = table.held.entry(holder).or_insert_with(|| AddressConnections {
            trusted: self.trusted.contains(address),
            connections: BTreeMap::new(),
        });
        held.connections.insert(id, Arc::clone(&state));
        if !held.trusted {
            for (network, _) in holder.around() {
                *table.around.entry(network).or_default() += 1;
            }
        }
        metrics::gauge!("http_connections").increment(1.0);
        Seat {
            state,
            holders: Arc::clone(self),
            holder,
            id,
        }
    }

    /// Asks one idle connection to close. Returns true if there was one. The connection is the oldest idle one of the
    /// address with the highest use relative to its limit, counted for the address and the networks around it.
    /// Connections of trusted proxies come last. Running requests are never aborted.
    pub(super) fn make_room(&self) -> bool {
        let table = self.table();
        let mut staying = HashMap::<ClientNetwork, usize>::new();
        for (holder, held) in &table.held {
            let levels = holder.levels().take(if held.trusted { 1 } else { usize::MAX });
            levels.for_each(|(network, _)| *staying.entry(network).or_default() += held.staying());
        }
        let longest = table.held.iter().filter_map(|(holder, held)| {
            let (id, oldest) = held.connections.iter().find(|(_, state)| state.is_idle())?;
            // The weight is a fraction in fixed point, so that a small use of a large network differs from no use.
            let weight = |(network, times): (ClientNetwork, NonZeroU32)| {
                staying
                    .get(&network)
                    .map_or(0, |count| (count << 8) / times.get() as usize)
            };
            Some(((!held.trusted, holder.levels().map(weight).max(), Reverse(*id)), oldest))
        });
        let Some((_, state)) = longest.max_by_key(|(rank, _)| *rank) else {
            return false;
        };
        state.asked.store(true, Ordering::Relaxed);
        state.leave.cancel();
        metrics::counter!("http_connections_reclaimed_total").increment(1);
        true
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Marks the connection as busy until the returned guard is dropped.
    pub(super) fn answering(state: &Arc<State>) -> BusyGuard {
        state.answering.fetch_add(1, Ordering::Relaxed);
        BusyGuard(Arc::clone(state))
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.holders.table();
        if let Some(held) = table.held.get_mut(&self.holder) {
            held.connections.remove(&self.id);
            let trusted = held.trusted;
            if held.connections.is_empty() {
                table.held.remove(&self.holder);
            }
            let around = self.holder.around().take(if trusted { 0 } else { usize::MAX });
            for (network, _) in around {
                if let Some(count) = table.around.get_mut(&network) {
                    *count -= 1;
                    if *count == 0 {
                        table.around.remove(&network);
                    }
                }
            }
        }
        metrics::gauge!("http_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn holders(per_address_max: usize) -> Arc<Holders> {
        Holders::new(
            per_address_max,
            "127.0.0.0/8".parse().unwrap(),
            CancellationToken::new(),
        )
    }

    #[test]
    fn an_address_has_its_share_and_gets_it_back() {
        let holders = holders(2);
        let (one, other) = (ip("2001:db8::1"), ip("2001:db8::2"));
        let first = holders.enter(one);
        let _second = holders.enter(other);
        assert!(holders.refuses(one) && holders.refuses(ip("2001:db8::3")));
        assert!(!holders.refuses(ip("2001:db8:0:1::1")) && !holders.refuses(ip("192.0.2.1")));
        drop(first);
        assert!(!holders.refuses(one));
    }

    #[test]
    fn the_networks_around_an_address_have_larger_shares() {
        for (networks, times) in [("2001:db8:0:{}::1", 4), ("2001:db8:0:{}00::1", 16), ("192.0.2.{}", 16)] {
            let holders = holders(1);
            let network = |number: usize| ip(&networks.replace("{}", &number.to_string()));
            let mut seats: Vec<_> = (0..times).map(|number| holders.enter(network(number))).collect();
            assert!(holders.refuses(network(times)), "{networks}");
            assert!(!holders.refuses(ip("198.51.100.1")) && !holders.refuses(ip("2001:db8:1::1")));
            seats.pop();
            assert!(!holders.refuses(network(times)), "{networks}");
        }
    }

    #[test]
    fn a_crowd_of_one_network_gives_way_before_an_address_with_a_few() {
        let holders = holders(9);
        let few = [holders.enter(ip("192.0.2.1")), holders.enter(ip("192.0.2.1"))];
        let network = |number: usize| ip(&format!("2001:db8:0:{number}::1"));
        let crowd: Vec<_> = (0..9).map(|number| holders.enter(network(number))).collect();
        assert!(holders.make_room());
        assert!(crowd[0].state.leave.is_cancelled());
        // Eight connections of a /56 count as much as two of one address, so the oldest connection is closed.
        assert!(holders.make_room());
        assert!(few[0].state.leave.is_cancelled());
    }

    #[test]
    fn a_trusted_proxy_has_no_share() {
        let holders = holders(1);
        let proxy = ip("127.0.0.1");
        let _seats = [holders.enter(proxy), holders.enter(proxy)];
        assert!(!holders.refuses(proxy));
    }

    #[test]
    fn the_oldest_idle_connection_of_whoever_has_most_gives_way() {
        let holders = holders(9);
        let enter = |address: &str| holders.enter(ip(address));
        let proxied = [
            enter("127.0.0.1"),
            enter("127.0.0.1"),
            enter("127.0.0.1"),
            enter("127.0.0.1"),
        ];
        let few = enter("192.0.2.1");
        let many = [enter("192.0.2.2"), enter("192.0.2.2"), enter("192.0.2.2")];
        let has_left = |seats: &[Seat]| {
            seats
                .iter()
                .map(|seat| seat.state.leave.is_cancelled())
                .collect::<Vec<_>>()
        };
        let answering = Seat::answering(&many[0].state);
        assert!(holders.make_room());
        assert_eq!(has_left(&many), [false, true, false]);
        drop(answering);
        assert!(holders.make_room());
        assert_eq!(has_left(&many), [true, true, false]);
        // Each address has one connection, so the oldest connection is closed.
        assert!(holders.make_room());
        assert!(few.state.leave.is_cancelled());
        assert!(holders.make_room());
        assert_eq!(has_left(&many), [true; 3]);
        assert_eq!(has_left(&proxied), [false; 4]);
        assert!((0..4).all(|_| holders.make_room()));
        assert!(!holders.make_room(), "nobody is left to ask");
    }
}
