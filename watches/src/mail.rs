use std::time::Duration;

use api::Tries;
use mailer::Mailer;
use state::EmailAddress;
use url::Url;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The way that mails of watches go.
#[derive(Debug)]
pub struct MailSender {
    pub(crate) mailer: Mailer,
    /// The address under which people reach the market.
    pub(crate) public_url: Url,
    /// Mails by address.
    pub(crate) sent: Tries<EmailAddress>,
}

impl MailSender {
    /// Mails of a market at `public_url`, so many a day to one address.
    #[must_use]
    pub fn new(mailer: Mailer, public_url: Url, per_address_per_day_max: u32) -> Self {
        Self {
            mailer,
            public_url,
            sent: Tries::new(per_address_per_day_max, DAY),
        }
    }
}
