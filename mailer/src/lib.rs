//! The market's mails: sent by SMTP (feature `smtp`), or kept in memory for the page of a demo.
//!
//! In: a configuration, and mails to one mailbox each. Out: mails, one at a time. The crate decides neither who is mailed nor
//! how often: whoever writes a mail does. Addresses stand masked in logs, and a server's own words in none.

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

/// Longest time of [`Mailer::send`], the wait for a turn included.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(28);

/// A mail to one mailbox.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Names it among all mails, in letters, digits, `-`, `.` and `_`: a mail that is sent again has the same one.
    pub id: String,
    /// The mailbox.
    pub to: EmailAddress,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// The address that ends mails of this kind when it gets a POST (RFC 8058).
    pub unsubscribe_url: Option<Url>,
    /// When it was written.
    pub made_at: Timestamp,
}

/// The reason why a mail is not on its way, in words for whoever asked for it: they name no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// It cannot be written as a message.
    #[error("the mail cannot be written")]
    Unwritable,
    /// The mail server answered with this status.
    #[error("the mail server refuses it ({0})")]
    Refused(String),
    /// Too many mails are being sent.
    #[error("the mail server is busy")]
    Busy,
    /// The mail server cannot be reached, or breaks off.
    #[error("the mail server does not answer")]
    Unavailable,
}

/// The way that mails go; clones are the same one.
#[derive(Debug, Clone)]
pub struct Mailer(Way);

#[derive(Debug, Clone)]
enum Way {
    Kept(Arc<Outbox>),
    #[cfg(feature = "smtp")]
    Sent(Arc<smtp::Smtp>),
}

impl Mailer {
    /// `None` where the configuration names no way. Nothing is connected yet.
    ///
    /// # Errors
    /// [`MailConfigError`].
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

    /// Takes a mail to be sent once; nobody waits for that. `false` where too many are waiting.
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

    /// Sends a mail, and waits until the mail server has it.
    ///
    /// # Errors
    /// [`MailError`]: it may be on its way all the same where the server broke off.
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

    /// The mails that are kept, newest first, where they are shown instead of sent.
    #[must_use]
    pub fn kept(&self) -> Option<Vec<Mail>> {
        match &self.0 {
            Way::Kept(outbox) => Some(outbox.mails()),
            #[cfg(feature = "smtp")]
            Way::Sent(_) => None,
        }
    }
}
