use std::fmt;
use std::sync::Arc;

use data_model::Clock;
use state::{MasterKeys, State};
use storefront::Transport;

use crate::config::WatchesConfig;
use crate::mail::MailSender;
use crate::market::Market;

/// The parts that watches are made of.
pub struct WatchesParts {
    /// The state, which has watches and events.
    pub state: State,
    /// The keys that seal receivers.
    pub keys: MasterKeys,
    /// The market.
    pub market: Arc<dyn Market>,
    /// The way to receivers, which judges addresses while connecting.
    pub transport: Arc<dyn Transport>,
    /// The way of mails, where the server sends any.
    pub mail: Option<MailSender>,
    /// True where receivers may be on this machine.
    pub allow_loopback: bool,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The settings.
    pub config: WatchesConfig,
}

impl fmt::Debug for WatchesParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchesParts").finish_non_exhaustive()
    }
}

/// Watches of callers; clones are the same.
#[derive(Debug, Clone)]
pub struct Watches(pub(crate) Arc<WatchesParts>);

impl Watches {
    /// Watches over these parts. Nothing is judged or delivered until somebody asks for it.
    #[must_use]
    pub fn new(parts: WatchesParts) -> Self {
        Self(Arc::new(parts))
    }
}
