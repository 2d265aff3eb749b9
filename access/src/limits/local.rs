use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::{Caller, ClientNetwork, KnownCaller, Limit, Outcome, Prompt, Verdict};
#[cfg(feature = "valkey")]
use data_model::Timestamp;
use data_model::{Clock, TimeZone};
use rustc_hash::FxBuildHasher;
use state::{Day, State, StateError};

use super::bucket::{Rules, Tally};
use super::counted_as;
use super::moment::{Days, Moment};
use super::table::Table;
use crate::plans::Plans;

/// Number of counters that new networks share while the table is full.
const NEWCOMERS: usize = 1_024;

const NETWORKS: &str = "limits_networks";
const SHARING: &str = "limits_networks_sharing_total";

/// Limits that are counted in this process only.
///
/// Each key, each signed-in account and each client network has a counter. The larger networks around a client (IPv6
/// /56 and /48, IPv4 /24) are counted too, with higher limits. At most `addresses_max` client networks and as many
/// larger networks are counted. When space is needed, networks without debt are dropped. If the table is still full,
/// new networks share 1,024 counters, which the largest network around each selects. A flood of addresses thus gets
/// only the limits of these counters. The flood does not affect networks that are already counted, nor keys and
/// accounts, which have their own counters.
///
/// Metrics: `limits_networks` (networks counted now), `limits_networks_sharing_total` (requests that shared a counter).
#[derive(Debug)]
pub struct LocalLimits {
    plans: Plans,
    /// Rules in the order of [`Plans::named`].
    rules: [Option<Rules>; 3],
    networks: Table<ClientNetwork, RandomState>,
    around: Table<ClientNetwork, RandomState>,
    /// Rules in the order of [`ClientNetwork::TIMES_AROUND`].
    rules_around: [Option<Rules>; 2],
    /// Counters of keys and accounts. Clients do not choose these ids, so a fast hash without a seed is safe.
    known: Table<Arc<str>, FxBuildHasher>,
    newcomers: Box<[Mutex<Tally>]>,
    /// Hasher with a random seed. Clients must not choose with whom they share a counter.
    newcomers_hasher: RandomState,
    /// Counter of callers within the process.
    nowhere: Mutex<Tally>,
    clock: Arc<dyn Clock>,
    days: Days,
}

impl LocalLimits {
    /// Creates the limits of the plans, for at most `addresses_max` client networks. Days begin at midnight in `zone`.
    #[must_use]
    pub fn new(plans: Plans, addresses_max: usize, zone: TimeZone, clock: Arc<dyn Clock>) -> Self {
        metrics::describe_gauge!(NETWORKS, "Number of client networks that are counted separately");
        metrics::describe_counter!(
            SHARING,
            "Number of requests of client networks beyond limits.addresses_max, which are counted together"
        );
        metrics::counter!(SHARING).increment(0);
        let rules = plans.named().map(|(_, allowance)| Rules::of(allowance));
        let longest = rules.iter().flatten().map(Rules::longest);
        let longest = longest.max().unwrap_or(Duration::ZERO);
        Self {
            networks: Table::bounded(addresses_max, longest),
            around: Table::bounded(addresses_max, longest),
            rules_around: ClientNetwork::TIMES_AROUND.map(|times| Rules::of(&plans.anonymous().times(times))),
            known: Table::unbounded(longest),
            newcomers: (0..NEWCOMERS).map(|_| Mutex::default()).collect(),
            newcomers_hasher: RandomState::new(),
            nowhere: Mutex::default(),
            plans,
            rules,
            clock,
            days: Days::of(zone),
        }
    }

    /// Loads the keys' usage of today, so that a restart of the process does not reset the daily limit.
    ///
    /// # Errors
    /// Returns a [`StateError`]; the counts then begin at zero.
    pub async fn resume(&self, state: &State) -> Result<(), StateError> {
        let today = Day::from_number(self.moment().day);
        let moment = self.moment();
        for (key, requests) in state.usage_on(today).await? {
            self.known.with(
                key.as_str(),
                || key.as_str().into(),
                moment,
                |tally| {
                    if tally.day != today.number() {
                        tally.day = today.number();
                        tally.taken = 0;
                    }
                    tally.taken = tally.taken.saturating_add(requests);
                },
            );
        }
        Ok(())
    }

    /// Returns the number of client networks that are counted separately now.
    #[must_use]
    pub fn networks(&self) -> usize {
        self.networks.len()
    }

    /// Returns the plans whose limits apply.
    #[cfg(feature = "valkey")]
    pub(super) const fn plans(&self) -> &Plans {
        &self.plans
    }

    #[cfg(feature = "valkey")]
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the time zone of the market's days.
    #[cfg(feature = "valkey")]
    pub(super) const fn zone(&self) -> TimeZone {
        self.days.zone()
    }

    pub(crate) fn admit_now(&self, caller: &Caller) -> Verdict {
        let verdict = self.by_rules(caller, |rules| {
            let moment = self.moment();
            match caller {
                Caller::Known(known) => self.known_take(rules, known, moment),
                Caller::Anonymous(Some(network)) => self.network_take(rules, *network, moment),
                Caller::Anonymous(None) => rules.take(&mut held(&self.nowhere), moment),
            }
        });
        verdict.unwrap_or(Verdict::UNLIMITED)
    }

    pub(crate) fn owe_now(&self, caller: &Caller, requests: u32) {
        self.by_rules(caller, |rules| {
            let moment = self.moment();
            match caller {
                Caller::Known(known) => {
                    let id = counted_as(known);
                    let owe = |tally: &mut Tally| rules.owe(tally, requests, moment);
                    self.known.with(id, || id.into(), moment, owe);
                }
                Caller::Anonymous(Some(network)) => {
                    let own = std::iter::once((&self.networks, *network, rules));
                    let around = self
                        .around(*network)
                        .map(|(network, rules)| (&self.around, network, rules));
                    for (table, network, rules) in own.chain(around) {
                        // A network that shares a counter has no debt of its own.
                        table.with(&network, || network, moment, |tally| rules.owe(tally, requests, moment));
                    }
                }
                Caller::Anonymous(None) => rules.owe(&mut held(&self.nowhere), requests, moment),
            }
        });
    }

    pub(crate) fn look_now(&self, caller: &Caller) -> Verdict {
        let verdict = self.by_rules(caller, |rules| {
            let moment = self.moment();
            if let Caller::Anonymous(Some(network)) = caller
                && let Some(refused) = self.refused_around(rules, *network, moment)
            {
                return refused;
            }
            let tally = match caller {
                Caller::Known(known) => self.known.get(counted_as(known)).unwrap_or_default(),
                Caller::Anonymous(Some(network)) => self.networks.get(network).unwrap_or_default(),
                Caller::Anonymous(None) => *held(&self.nowhere),
            };
            rules.look(&tally, moment)
        });
        verdict.unwrap_or(Verdict::UNLIMITED)
    }

    fn moment(&self) -> Moment {
        self.days.at(self.clock.now())
    }

    /// Applies `judge` to the caller's rules. Returns `None` if the caller has no limit.
    fn by_rules<T>(&self, caller: &Caller, judge: impl FnOnce(&Rules) -> T) -> Option<T> {
        let allowance = self.plans.of_caller(caller);
        allowance.rate()?;
        let mut named = self.plans.named().into_iter().zip(&self.rules);
        match named.find(|((_, known), _)| Arc::ptr_eq(known, allowance)) {
            Some((_, rules)) => rules.as_ref().map(judge),
            // An allowance outside the plans gets temporary rules for this request.
            None => Rules::of(allowance).map(|rules| judge(&rules)),
        }
    }

    fn known_take(&self, rules: &Rules, known: &KnownCaller, moment: Moment) -> Verdict {
        let take = |tally: &mut Tally| rules.take(tally, moment);
        let id = counted_as(known);
        let verdict = self.known.with(id, || id.into(), moment, take);
        // The table of keys and accounts is unbounded, so there is always a counter.
        verdict.unwrap_or(Verdict::UNLIMITED)
    }

    fn network_take(&self, rules: &Rules, network: ClientNetwork, moment: Moment) -> Verdict {
        if let Some(refused) = self.refused_around(rules, network, moment) {
            return refused;
        }
        let before = self.networks.len();
        let take = |tally: &mut Tally| rules.take(tally, moment);
        let verdict = self.networks.with(&network, || network, moment, take);
        let now = self.networks.len();
        if now != before {
            metrics::gauge!(NETWORKS).set(now as f64);
        }
        let verdict = verdict.unwrap_or_else(|| {
            metrics::counter!(SHARING).increment(1);
            let largest = network.around().last().map(|(largest, _)| largest);
            let place = self.newcomers_hasher.hash_one(largest) as usize % self.newcomers.len();
            rules.take(&mut held(&self.newcomers[place]), moment)
        });
        if verdict.outcome == Outcome::Allowed {
            for (network, rules) in self.around(network) {
                // If the table is full, only the client's own limit applies.
                self.around
                    .with(&network, || network, moment, |tally| rules.take(tally, moment));
            }
        }
        verdict
    }

    /// Returns the larger networks around a client's network with their rules.
    fn around(&self, network: ClientNetwork) -> impl Iterator<Item = (ClientNetwork, &Rules)> {
        network.around().filter_map(|(network, times)| {
            let mut known = ClientNetwork::TIMES_AROUND.iter().zip(&self.rules_around);
            let (_, rules) = known.find(|(known, _)| **known == times)?;
            Some((network, rules.as_ref()?))
        })
    }

    /// Returns the refusal if a network around a client has reached its limit.
    fn refused_around(&self, own: &Rules, network: ClientNetwork, moment: Moment) -> Option<Verdict> {
        let mut looked = self.around(network).map(|(network, rules)| {
            let tally = self.around.get(&network).unwrap_or_default();
            rules.look(&tally, moment)
        });
        let refused = looked.find(|verdict| verdict.outcome != Outcome::Allowed)?;
        let today = match refused.outcome {
            Outcome::TooManyToday(_) => refused.today,
            _ => own.look(&self.networks.get(&network).unwrap_or_default(), moment).today,
        };
        let remaining = Some(0);
        Some(Verdict {
            remaining,
            today,
            ..refused
        })
    }
}

fn held(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Limit for LocalLimits {
    fn admit(&self, caller: &Caller) -> Prompt<Verdict> {
        Prompt::Now(self.admit_now(caller))
    }

    fn owe(&self, caller: &Caller, requests: u32) -> Prompt<()> {
        self.owe_now(caller, requests);
        Prompt::Now(())
    }

    fn look(&self, caller: &Caller) -> Prompt<Verdict> {
        Prompt::Now(self.look_now(caller))
    }
}
