use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use crate::config::StorefrontConfig;
use crate::host::Host;

/// State of all known hosts, up to a limit. The hosts that were idle longest are forgotten first, and hosts that
/// requested a wait last.
#[derive(Debug)]
pub(crate) struct Hosts {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

impl Hosts {
    pub(crate) fn new() -> Self {
        Self {
            hosts: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn of(&self, url: &Url, config: &StorefrontConfig) -> Arc<Host> {
        let now = Instant::now();
        let name = authority(url);
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(&name) {
            host.state().last_used = now;
            return Arc::clone(host);
        }
        if hosts.len() >= config.hosts_max.max(1) {
            forget_idle(&mut hosts, now);
        }
        let host = Arc::new(Host::new(name.clone(), config, now));
        hosts.insert(name, Arc::clone(&host));
        host
    }

    pub(crate) fn len(&self) -> usize {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Forgets a quarter of the hosts in one sweep, so that the cost of the sweep is spread over many insertions.
fn forget_idle(hosts: &mut HashMap<String, Arc<Host>>, now: Instant) {
    let mut idle: Vec<(Duration, Duration, String)> = hosts
        .iter()
        .filter(|(_, host)| Arc::strong_count(host) == 1)
        .map(|(name, host)| {
            let state = host.state();
            let held = state.pace.held(now).unwrap_or_default();
            (held, now.duration_since(state.last_used), name.clone())
        })
        .collect();
    idle.sort_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
    for (.., name) in idle.into_iter().take(hosts.len().div_ceil(4)) {
        hosts.remove(&name);
    }
}

/// Returns a host's name and port, including the scheme's default port. A `robots.txt` applies to exactly this scope.
pub(crate) fn authority(url: &Url) -> String {
    format!(
        "{}:{}",
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or(0)
    )
}
