use std::fmt;
use std::sync::Arc;

use data_model::Clock;
use state::{MasterKeys, State};
use storefront::Transport;

use crate::config::WatchesConfig;
use crate::mail::MailSender;
use crate::market::Market;

/// Dependencies of watches.
pub struct WatchesParts {
    /// State that stores watches and events.
    pub state: State,
    /// Keys that seal receivers.
    pub keys: MasterKeys,
    /// Market that watches query.
    pub market: Arc<dyn Market>,
    /// HTTP transport to receivers, which checks addresses while it connects.
    pub transport: Arc<dyn Transport>,
    /// Sender of e-mails, if the server sends any.
    pub mail: Option<MailSender>,
    /// True if receivers may be on this machine.
    pub allow_loopback: bool,
    /// Clock for timestamps and due times.
    pub clock: Arc<dyn Clock>,
    /// Settings of watches.
    pub config: WatchesConfig,
}

impl fmt::Debug for WatchesParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchesParts").finish_non_exhaustive()
    }
}

/// Watches of callers. Clones share the same dependencies.
#[derive(Debug, Clone)]
pub struct Watches(pub(crate) Arc<WatchesParts>);

impl Watches {
    /// Creates watches. Nothing is evaluated or delivered until a method is called.
    #[must_use]
    pub fn new(parts: WatchesParts) -> Self {
        Self(Arc::new(parts))
    }
}
