use std::time::Duration;

use api::Tries;
use mailer::Mailer;
use state::EmailAddress;
use url::Url;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Sender of e-mails for watches.
#[derive(Debug)]
pub struct MailSender {
    pub(crate) mailer: Mailer,
    /// Public address of the market.
    pub(crate) public_url: Url,
    /// Number of recent e-mails by address.
    pub(crate) sent: Tries<EmailAddress>,
}

impl MailSender {
    /// Creates a sender for the market at `public_url`, with a daily maximum of e-mails per address.
    #[must_use]
    pub fn new(mailer: Mailer, public_url: Url, per_address_per_day_max: u32) -> Self {
        Self {
            mailer,
            public_url,
            sent: Tries::new(per_address_per_day_max, DAY),
        }
    }
}
