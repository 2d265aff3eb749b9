use std::sync::Arc;

use ::search::DeliveryTo;

use crate::delivery::Destination;
use crate::server::QueryServer;

impl QueryServer {
    /// Adds the current time, the market's time zone and holidays to a requested destination.
    pub(super) fn destination(&self, to: Option<DeliveryTo>) -> Option<Destination> {
        let config = &self.0.config;
        let (now, market) = (self.0.clock.now(), config.market_time_zone);
        Some(Destination::new(to?, now, market, Arc::clone(&config.holidays)))
    }
}
