//! Mails with links to sign in with: sent by SMTP (feature `mail`), or kept in memory for the page of a demo.

mod outbox;
#[cfg(feature = "mail")]
mod smtp;

use data_model::Timestamp;
use state::EmailAddress;

use self::outbox::Outbox;
use crate::config::{DashboardConfigError, MailConfig};

/// A mail to one mailbox.
#[derive(Debug, Clone)]
pub(crate) struct Mail {
    pub(crate) to: EmailAddress,
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) made_at: Timestamp,
}

/// The way that mails go.
#[derive(Debug)]
pub(crate) enum Post {
    Kept(Outbox),
    #[cfg(feature = "mail")]
    Sent(std::sync::Arc<smtp::Smtp>),
}

impl Post {
    /// `None` where the configuration names no way. Nothing is connected yet.
    pub(crate) fn new(config: &MailConfig) -> Result<Option<Self>, DashboardConfigError> {
        if config.smtp_url.is_empty() {
            return Ok(config.outbox.then(|| Self::Kept(Outbox::default())));
        }
        #[cfg(feature = "mail")]
        {
            smtp::Smtp::new(config).map(|smtp| Some(Self::Sent(std::sync::Arc::new(smtp))))
        }
        #[cfg(not(feature = "mail"))]
        {
            Err(DashboardConfigError::MailNotBuilt)
        }
    }

    /// Takes a mail to be sent; nobody waits for that. `false` where too many are waiting.
    pub(crate) fn take(&self, mail: Mail) -> bool {
        match self {
            Self::Kept(outbox) => {
                outbox.keep(mail);
                true
            }
            #[cfg(feature = "mail")]
            Self::Sent(smtp) => smtp.take(mail),
        }
    }

    /// The mails that are kept, where they are shown instead of sent.
    pub(crate) const fn outbox(&self) -> Option<&Outbox> {
        match self {
            Self::Kept(outbox) => Some(outbox),
            #[cfg(feature = "mail")]
            Self::Sent(_) => None,
        }
    }
}
