//! E-mails of the market, which are sent by SMTP (feature `smtp`), or kept in memory for a page of the demo.
//!
//! In: a configuration, and e-mails to one mailbox each. Out: e-mails, sent one at a time. The author of an e-mail
//! decides who receives it and how often. Logs contain only masked addresses, and never the messages of the SMTP
//! server.

mod config;
mod outbox;
#[cfg(feature = "smtp")]
mod smtp;

use std::sync::Arc;
use std::time::Duration;

use data_model::Timestamp;
use state::EmailAddress;
use url::Url;

pub use crate::config::{MailConfig, MailConfigError};
use crate::outbox::Outbox;

/// Maximum duration of [`Mailer::send`], including the wait for earlier e-mails.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(28);

/// E-mail to one mailbox.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Unique id of the e-mail, made of letters, digits, `-`, `.` and `_`. An e-mail that is sent again keeps its id.
    pub id: String,
    /// Recipient of the e-mail.
    pub to: EmailAddress,
    /// Subject, on one line.
    pub subject: String,
    /// Body as plain text.
    pub text: String,
    /// Address that unsubscribes the recipient when it receives a POST (RFC 8058).
    pub unsubscribe_url: Option<Url>,
    /// Time at which the e-mail was written.
    pub made_at: Timestamp,
}

/// Reasons why an e-mail was not sent. The messages contain no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The e-mail cannot be encoded as a message.
    #[error("the e-mail cannot be encoded")]
    Unwritable,
    /// The mail server refused the e-mail with this status.
    #[error("the mail server refuses the e-mail ({0})")]
    Refused(String),
    /// Too many e-mails are waiting to be sent.
    #[error("the mail server is busy")]
    Busy,
    /// The mail server cannot be reached, or closed the connection.
    #[error("the mail server does not answer")]
    Unavailable,
}

/// Transport for e-mails. Clones share the same transport.
#[derive(Debug, Clone)]
pub struct Mailer(Way);

#[derive(Debug, Clone)]
enum Way {
    Kept(Arc<Outbox>),
    #[cfg(feature = "smtp")]
    Sent(Arc<smtp::Smtp>),
}

impl Mailer {
    /// Creates the transport. Returns `None` if the configuration names none. No connection is made yet.
    ///
    /// # Errors
    /// Returns a [`MailConfigError`].
    pub fn new(config: &MailConfig) -> Result<Option<Self>, MailConfigError> {
        if config.smtp_url.is_empty() {
            return Ok(config.outbox.then(|| Self(Way::Kept(Arc::default()))));
        }
        #[cfg(feature = "smtp")]
        {
            smtp::Smtp::new(config).map(|smtp| Some(Self(Way::Sent(Arc::new(smtp)))))
        }
        #[cfg(not(feature = "smtp"))]
        {
            Err(MailConfigError::NotBuilt)
        }
    }

    /// Queues an e-mail for a single attempt in the background. Returns `false` if too many e-mails wait.
    #[must_use]
    pub fn take(&self, mail: Mail) -> bool {
        match &self.0 {
            Way::Kept(outbox) => {
                outbox.keep(mail);
                true
            }
            #[cfg(feature = "smtp")]
            Way::Sent(smtp) => smtp.take(mail),
        }
    }

    /// Sends an e-mail and waits until the mail server has accepted it.
    ///
    /// # Errors
    /// Returns a [`MailError`]. If the connection broke, the e-mail may still have been sent.
    #[cfg_attr(not(feature = "smtp"), expect(clippy::unused_async, reason = "SMTP waits"))]
    pub async fn send(&self, mail: Mail) -> Result<(), MailError> {
        match &self.0 {
            Way::Kept(outbox) => {
                outbox.keep(mail);
                Ok(())
            }
            #[cfg(feature = "smtp")]
            Way::Sent(smtp) => smtp.send(&mail).await,
        }
    }

    /// Returns the stored e-mails, the newest first. Returns `None` if e-mails are sent instead.
    #[must_use]
    pub fn kept(&self) -> Option<Vec<Mail>> {
        match &self.0 {
            Way::Kept(outbox) => Some(outbox.mails()),
            #[cfg(feature = "smtp")]
            Way::Sent(_) => None,
        }
    }
}
